// Jest's own test runner. With a mutation, one test that fails is enough: those after it in its file are skipped, and further files
// are not even loaded. Jest's `bail` would do the latter, but Stryker switches it off. Stryker wants this name.
const { createEmptyTestResult } = require("@jest/test-result");
const { default: run } = require("jest-circus/runner");

/** Jest refuses a file without a test. */
const skipped = { title: "", fullName: "", status: "skipped", ancestorTitles: [], failureMessages: [] };

/** The mutation that a test has noticed last. */
let noticed;

module.exports = (globalConfig, config, environment, ...rest) => {
  const mutation = process.env.__STRYKER_ACTIVE_MUTANT__;
  if (mutation !== undefined) {
    if (mutation === noticed) return { ...createEmptyTestResult(), testResults: [skipped] };
    const handle = environment.handleTestEvent?.bind(environment);
    environment.handleTestEvent = (event, state) => {
      if (event.name === "test_start" && mutation === noticed) event.test.mode = "skip";
      if (event.name === "test_done" && event.test.errors.length > 0) noticed = mutation;
      return handle?.(event, state);
    };
  }
  return run(globalConfig, config, environment, ...rest);
};
