// `npm test`: everything that has to hold. `npm test -- ARGS` runs only jest, with these arguments. `--full`: at full size,
// and the mutations too. `--quick`: types and unit tests in small samples, with neither an engine nor a build.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureLanguage } from "./engine/languages.mjs";
import { readJson, root } from "./shared.mjs";
import { installPackages, runStep, setup } from "./setup.mjs";

const full = process.argv.includes("--full");
const quick = process.argv.includes("--quick");
const jestArgs = process.argv.slice(2).filter((arg) => arg !== "--full" && arg !== "--quick");
const whole = jestArgs.length === 0;
const count = { passed: 0, failed: 0 };
/** V8 compiles each function when it is first called, which takes a sixth off tests and types: few functions run long. */
const sparkplugFlag = "--always-sparkplug";
const problems = [];

try {
  if (quick) await runQuick();
  else await runAll();
} catch (error) {
  note(error);
}

console.log();
for (const problem of problems) console.log(problem);
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;

async function runQuick() {
  await installPackages({ log: console.log });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const env = { ...process.env, PULUMI_UPTIME_QUICK: "1" };
  await step("Types and unit tests", () =>
    Promise.all([
      // A failing check must not hide what the tests say.
      runStep(process.execPath, [sparkplugFlag, tsc]).catch(note),
      // The third process is the compiler.
      runJest(env, ["--selectProjects", "unit", "--maxWorkers", "2"]),
    ]),
  );
}

async function runAll() {
  await installPackages({ log: console.log });
  // Beside the rest, because it keeps one core busy for a minute, and a failing check must not hide what the tests say.
  const check = whole ? runStep("npm", ["run", "--silent", "check"]).catch(note) : undefined;
  const { env } = await step("Setup", async () => {
    const ready = await setup({ log: console.log });
    // Several files of tests need it at the same time, and each would build it.
    if (whole) await ensureLanguage("yaml", { log: console.log });
    return ready;
  });
  const tests = { ...env, ...(full && { PULUMI_UPTIME_FULL: "1" }) };
  await step(full ? "Tests at full size" : "Tests", () => Promise.all([runJest(tests), check]));
  if (whole && full) {
    const stryker = join(root, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
    const args = [stryker, "run", join(root, "tools", "mutations", "config.mjs")];
    const small = { ...env, PULUMI_UPTIME_QUICK: "1" };
    await step("Mutations", () => runStep(process.execPath, args, { env: small })).catch(note);
  }
}

async function step(title, action) {
  console.log(`\n== ${title}`);
  const started = Date.now();
  const result = await action();
  console.log(`   (${Math.round((Date.now() - started) / 1000)} s)`);
  return result;
}

function note(error) {
  problems.push(error.message);
  count.failed += 1;
}

async function runJest(env, more = []) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-jest-"));
  try {
    const jest = join(root, "node_modules", "jest", "bin", "jest.js");
    const results = join(folder, "results.json");
    const options = ["--rootDir", root, "--json", "--outputFile", results];
    const args = [sparkplugFlag, jest, ...options, ...more, ...jestArgs];
    // Read also when jest fails: then it says what failed.
    const failure = await runStep(process.execPath, args, { env }).catch((error) => error);
    if (!existsSync(results)) throw failure ?? new Error("Jest ran no test.");
    const failedBefore = count.failed;
    addResults(readJson(results));
    // Such as a secret in the output, or a crash after the last test.
    if (failure && (count.failed === failedBefore || /printed secrets/.test(failure.message))) note(failure);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addResults(results) {
  count.passed += results.numPassedTests;
  count.failed += results.numFailedTests;
  for (let suite = 0; suite < results.numRuntimeErrorTestSuites; suite++)
    note(new Error("A test file could not be run; see above."));
  const skipped = results.numPendingTests + results.numTodoTests;
  // With arguments of one's own, skipping may be what was asked for (`-t`).
  if (whole && skipped > 0)
    note(new Error(`Tests were skipped (${skipped}); none may be, \`.only\` included.`));
}
