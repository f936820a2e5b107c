// With a mutation, one test that fails is enough: those after it are skipped. Jest's own `bail` would end a file at most.
const { TestEnvironment } = require("jest-environment-node");

/** The mutation that a test has noticed last. */
let noticed;

module.exports = class extends TestEnvironment {
  handleTestEvent(event) {
    const mutation = process.env.__STRYKER_ACTIVE_MUTANT__;
    if (mutation === undefined) return;
    if (event.name === "test_start" && mutation === noticed) event.test.mode = "skip";
    if (event.name === "test_done" && event.test.errors.length > 0) noticed = mutation;
  }
};
