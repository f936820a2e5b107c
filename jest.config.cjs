/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: { "\\.(ts|mjs)$": "<rootDir>/test/tools/transform.cjs" },
  // node_modules/pulumi-uptime is this folder, and dist/ holds the same names once more.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/node_modules/pulumi-uptime/"],
  // A test on the real engine runs it several times, some seconds each, and many more on a machine that is busy.
  testTimeout: 900_000,
  maxWorkers: 2,
};
