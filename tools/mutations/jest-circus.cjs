// Jest's own test runner, which does not even load a test file once another has noticed the mutation: jest's `bail` would do
// that, but Stryker switches it off. Stryker wants this name.
const { createEmptyTestResult } = require("@jest/test-result");
const { default: run } = require("jest-circus/runner");

/** Jest refuses a file without a test. */
const skipped = { title: "", fullName: "", status: "skipped", ancestorTitles: [], failureMessages: [] };

/** The mutation that a test has noticed last. */
let noticed;

module.exports = async (...args) => {
  const mutation = process.env.__STRYKER_ACTIVE_MUTANT__;
  if (mutation !== undefined && mutation === noticed)
    return { ...createEmptyTestResult(), testResults: [skipped] };
  const result = await run(...args);
  if (result.numFailingTests > 0) noticed = mutation;
  return result;
};
