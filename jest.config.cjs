/** @type {import("jest").Config} */
module.exports = {
  testEnvironment: "node",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  // The engine's scripts are ES modules, which run before anything is installed; jest gets them as CommonJS.
  transform: {
    "\\.(ts|mjs)$": [
      "@swc/jest",
      {
        jsc: { parser: { syntax: "typescript" }, target: "es2022" },
        module: { type: "commonjs" },
        sourceMaps: "inline",
      },
    ],
  },
  // node_modules/pulumi-uptime is this folder, and dist/ holds the same names once more.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/node_modules/pulumi-uptime/"],
  // A test on the real engine runs it several times, some seconds each.
  testTimeout: 120_000,
  maxWorkers: 2,
};
