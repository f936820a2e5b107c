// For mutations: that a property fails is all that counts, and looking for its simplest counterexample takes minutes.
require("fast-check").configureGlobal({ endOnFailure: true });
