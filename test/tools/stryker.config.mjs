// Breaks the meaning of fields and the lifecycle in many small ways, and sees that a unit test fails for each.
import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import jest from "../../jest.config.cjs";

const [unit] = jest.projects;
// The tests that say what fields mean, what an operation does, and what is written and read for it.
const tests = ["check", "dialects", "equality", "reader", "semantics"];

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate: ["provider/definitions/**/*.ts", "provider/lifecycle/**/*.ts"],
  plugins: ["@stryker-mutator/jest-runner"],
  testRunner: "jest",
  jest: {
    projectType: "custom",
    config: {
      ...unit,
      rootDir: undefined,
      testTimeout: jest.testTimeout,
      testMatch: tests.map((name) => `**/test/unit/${name}.test.ts`),
    },
  },
  coverageAnalysis: "perTest",
  // What an error says is looked at where it is documented; here only what the code does counts.
  mutator: { excludedMutations: ["StringLiteral"] },
  ignoreStatic: true,
  concurrency: availableParallelism(),
  ignorePatterns: ["dist", "docs", "examples", "test/engine", "test/package"],
  tempDirName: mkdtempSync(join(tmpdir(), "pulumi-uptime-mutations-")),
  reporters: ["clear-text", "progress-append-only"],
  clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: true },
  allowEmpty: false,
  disableTypeChecks: false,
};
