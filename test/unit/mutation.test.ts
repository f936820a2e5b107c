import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { mutants } from "../tools/mutants";
import type { Mutant } from "../tools/mutants";

const repository = join(__dirname, "..", "..");
const full = process.env.PULUMI_UPTIME_FULL === "1";
/** In a small run every twentieth: each one costs seconds. */
const sample = full ? mutants : mutants.filter((_, index) => index % 20 === 5);
/** The tests of field semantics, the quick ones first. */
const suites = ["check", "equality", "dialects", "semantics"];
/** The tests of reads from the list, which have files of their own. */
const readSuites = ["reader"];
const suitesOf = ({ file }: Mutant): string[] =>
  ["reader.ts", "listing.ts"].includes(file) ? readSuites : suites;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-mutants-"));
  mkdirSync(join(folder, "test"));
  for (const name of [
    "jest.config.cjs",
    "tsconfig.json",
    "package.json",
    "provider",
    "test/transform.cjs",
    "test/emulator",
  ])
    cpSync(join(repository, name), join(folder, name), { recursive: true });
  for (const name of [
    "model.ts",
    "arbitraries.ts",
    "oracle.ts",
    ...[...suites, ...readSuites].map((suite) => `${suite}.test.ts`),
  ])
    cpSync(join(repository, "test", name), join(folder, "test", name));
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The number of tests that fail, in the first suite in which any does. */
async function failures(of: readonly string[]): Promise<number> {
  for (const suite of of) {
    const results = join(folder, "results.json");
    const jest = join(repository, "node_modules", "jest", "bin", "jest.js");
    const args = [jest, "--json", "--outputFile", results, "--runInBand", "--silent", "--rootDir", folder];
    await new Promise((resolve) =>
      spawn(process.execPath, [...args, `/test/${suite}.test.ts`], {
        cwd: folder,
        stdio: "ignore",
        env: { ...process.env, PULUMI_UPTIME_FULL: "0" },
      }).once("close", resolve),
    );
    const { numFailedTests, numRuntimeErrorTestSuites, numPassedTests } = JSON.parse(
      readFileSync(results, "utf8"),
    ) as Record<string, number>;
    // A mutant that does not even load proves nothing.
    expect(numRuntimeErrorTestSuites).toBe(0);
    expect((numFailedTests ?? 0) + (numPassedTests ?? 0)).toBeGreaterThan(0);
    if (numFailedTests) return numFailedTests;
  }
  return 0;
}

const sourceOf = ({ file }: Mutant): string => readFileSync(join(repository, "provider", file), "utf8");

test.each(mutants.map((one) => [one.rule, one] as const))(
  "the place where '%s' is broken exists once",
  (_, one) => {
    expect(sourceOf(one).split(one.from)).toHaveLength(2);
  },
);

test("the unbroken code passes", async () => {
  expect(await failures(full ? [...suites, ...readSuites] : suites)).toBe(0);
});

test.each(sample.map((one) => [one.rule, one] as const))(
  "a test fails when '%s' is broken",
  async (_, one) => {
    const path = join(folder, "provider", one.file);
    const source = sourceOf(one);
    writeFileSync(
      path,
      source.replace(one.from, () => one.to),
    );
    try {
      expect(await failures(suitesOf(one))).toBeGreaterThan(0);
    } finally {
      writeFileSync(path, source);
    }
  },
);
