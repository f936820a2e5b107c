// Breaks what gives fields and operations their meaning, in many small ways, and sees that a test fails for each. Part of
// `npm run test:full`; alone: `PULUMI_UPTIME_QUICK=1 npx stryker run tools/mutations/config.mjs`, with
// `--mutate provider/definitions/codecs.ts:60-90` for some lines.
import { mkdtempSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import jest from "../../jest.config.cjs";
import sequencer from "./sequencer.cjs";

const [unit] = jest.projects;

/** @type {import("@stryker-mutator/api/core").PartialStrykerOptions} */
export default {
  mutate: [
    "provider/definitions/codecs.ts",
    "provider/lifecycle/adopt.ts",
    "provider/lifecycle/check.ts",
    "provider/lifecycle/claims.ts",
    "provider/lifecycle/create.ts",
    "provider/lifecycle/delete.ts",
    "provider/lifecycle/diff.ts",
    "provider/lifecycle/difference.ts",
    "provider/lifecycle/gone.ts",
    "provider/lifecycle/import.ts",
    "provider/lifecycle/ledger.ts",
    "provider/lifecycle/lost-create-look.ts",
    "provider/lifecycle/lost-create.ts",
    "provider/lifecycle/read.ts",
    "provider/lifecycle/run-note.ts",
    "provider/lifecycle/same-record.ts",
    "provider/lifecycle/state-account.ts",
    "provider/lifecycle/update.ts",
    "provider/lifecycle/write.ts",
  ],
  // What an error says is looked at by the test of docs/errors.md; here only what the code does counts.
  mutator: { excludedMutations: ["StringLiteral"] },
  // Fewer than this many percent noticed is a failure. Some can never be noticed: code that means the same in other words.
  thresholds: { high: 90, low: 80, break: 70 },
  plugins: ["@stryker-mutator/jest-runner"],
  testRunner: "jest",
  jest: {
    projectType: "custom",
    config: {
      ...unit,
      rootDir: undefined,
      // Stryker adds this to jest.config.cjs, whose projects would run each test once more for each of them.
      projects: [],
      testTimeout: jest.testTimeout,
      testSequencer: "<rootDir>/tools/mutations/sequencer.cjs",
      testRunner: "./tools/mutations/jest-circus.cjs",
      setupFiles: ["<rootDir>/tools/mutations/setup.cjs"],
      testMatch: sequencer.tests.map((name) => `**/test/unit/${name}.test.ts`),
    },
  },
  testRunnerNodeArgs: ["--always-sparkplug"],
  coverageAnalysis: "perTest",
  ignoreStatic: true,
  disableTypeChecks: false,
  concurrency: availableParallelism(),
  dryRunTimeoutMinutes: 20,
  ignorePatterns: ["/dist", "/plugin", "test/engine", "test/package", "test/corpus"],
  cleanTempDir: "always",
  tempDirName: mkdtempSync(join(tmpdir(), "pulumi-uptime-mutations-")),
  reporters: ["clear-text"],
  clearTextReporter: { allowColor: false, reportTests: false },
};
