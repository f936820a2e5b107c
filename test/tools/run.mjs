// `npm test`: everything that has to hold. `npm test -- ARGS` runs only jest, with these arguments; `--full` at full size.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, runStep, setup } from "./setup.mjs";

const full = process.argv.includes("--full");
const jestArgs = process.argv.slice(2).filter((arg) => arg !== "--full");
const whole = jestArgs.length === 0;
const count = { passed: 0, failed: 0 };
const problems = [];

try {
  const { env } = await step("Setup", () => setup({ log: console.log }));
  if (whole) {
    // A failing check must not hide what the tests say.
    await step("Check (npm run check)", () => runStep("npm", ["run", "--silent", "check"])).catch(note);
  }
  await step(full ? "Tests at full size" : "Tests", () =>
    runJest({ ...env, ...(full && { PULUMI_UPTIME_FULL: "1" }) }),
  );
} catch (error) {
  note(error);
}

console.log();
for (const problem of problems) console.log(problem);
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 || count.passed === 0 ? 1 : 0;

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

async function runJest(env) {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-jest-"));
  try {
    const jest = join(root, "node_modules", "jest", "bin", "jest.js");
    const results = join(folder, "results.json");
    const args = [jest, "--rootDir", root, "--json", "--outputFile", results, ...jestArgs];
    // Read also when jest fails: then it says what failed.
    const failure = await runStep(process.execPath, args, { env }).catch((error) => error);
    if (!existsSync(results)) throw failure ?? new Error("Jest ran no test.");
    const failedBefore = count.failed;
    addResults(JSON.parse(readFileSync(results, "utf8")));
    // Such as a secret in the output, a coverage threshold, or a crash after the last test.
    if (failure && (count.failed === failedBefore || /printed secrets/.test(failure.message))) note(failure);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function addResults({
  numPassedTests,
  numFailedTests,
  numRuntimeErrorTestSuites,
  numPendingTests,
  numTodoTests,
}) {
  count.passed += numPassedTests;
  count.failed += numFailedTests;
  for (let suite = 0; suite < numRuntimeErrorTestSuites; suite++) {
    note(new Error("A test file could not be run; see above."));
  }
  const skipped = numPendingTests + numTodoTests;
  // With arguments of one's own, skipping may be what was asked for (`-t`).
  if (whole && skipped > 0)
    note(new Error(`Tests were skipped (${skipped}); none may be, \`.only\` included.`));
}
