const { basename } = require("node:path");
const { default: Sequencer } = require("@jest/test-sequencer");

/** Runs the quick tests first, because most mutations are noticed there. */
module.exports = class extends Sequencer {
  /** The tests that say what fields mean, and what an operation does. */
  static tests = [
    "equality",
    "check",
    "errors",
    "dialects",
    "import",
    "adoption",
    "gone",
    "one-record",
    "run-note",
    "lost-answers",
    "semantics",
  ];

  sort(tests) {
    const place = ({ path }) => module.exports.tests.indexOf(basename(path, ".test.ts"));
    return [...tests].sort((one, other) => place(one) - place(other));
  }
};
