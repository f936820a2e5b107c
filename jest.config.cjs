/** The tests of one folder, which is what tells their kind: see CONTRIBUTING.md. */
const project = (displayName) => ({
  displayName,
  rootDir: __dirname,
  testEnvironment: "node",
  testMatch: [`<rootDir>/test/${displayName}/**/*.test.ts`],
  transform: { "\\.(ts|mjs)$": "<rootDir>/tools/transform.cjs" },
  // node_modules/pulumi-uptime is this folder, and dist/ holds the same names once more.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/node_modules/pulumi-uptime/"],
});

/** @type {import("jest").Config} */
module.exports = {
  projects: [
    // In this process, against the emulator, with neither an engine nor a build: `npm run test:quick`.
    {
      ...project("unit"),
      // Jest has `testTimeout` for all projects only.
      setupFilesAfterEnv: ["<rootDir>/test/support/unit-timeout.ts"],
      // What Pulumi's SDK loads for programs that run Pulumi or serialize functions, and the languages that zod loads, take more
      // than half a second in each test file.
      moduleNameMapper: {
        "^(\\./automation|.*/typescript-shim|@npmcli/arborist|\\.\\./locales/index\\.cjs)$":
          "<rootDir>/test/support/nothing.cjs",
      },
    },
    // What is built, documented, typed and published, and the commands: runs compilers, TypeDoc and other processes.
    project("package"),
    project("engine"),
  ],
  // A test on the real engine runs it several times, some seconds each, and many more on a machine that is busy.
  testTimeout: 900_000,
  testSequencer: "<rootDir>/tools/sequencer.cjs",
  // One more than the cores of CI's machines, because tests on the engine wait a tenth of their time.
  maxWorkers: 3,
};
