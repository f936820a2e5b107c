// With a mutation, one test that fails is enough: those after it in its file are skipped. For other files see jest-circus.cjs.
const { TestEnvironment } = require("jest-environment-node");

module.exports = class extends TestEnvironment {
  isNoticed = false;

  handleTestEvent(event) {
    if (process.env.__STRYKER_ACTIVE_MUTANT__ === undefined) return;
    if (event.name === "test_start" && this.isNoticed) event.test.mode = "skip";
    if (event.name === "test_done" && event.test.errors.length > 0) this.isNoticed = true;
  }
};
