// `npm run bench`: how long the commands of Pulumi take with this provider, beside floors and a conventional one.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { between, root } from "../shared.mjs";
import { setup } from "../setup.mjs";
import { measure, measureGroup, scaleGroups, usualGroups } from "./measure.mjs";
import { pictureOf, tableOf } from "./page.mjs";
import { disposeAll, killAll } from "./project.mjs";
import { scaleLimits, summaryOf, tableOfLimits, tableOfRuns, usualLimits } from "./report.mjs";

/** With thousands of monitors: one measurement in a line. */
const scaleFile = join(root, "node_modules", ".cache", "pulumi-uptime", "scale.jsonl");
const usage = `Usage: npm run bench -- [options]

  --quick   100 monitors once, in about a minute
  --scale   100 to 10,000 monitors, three rounds: takes hours, and goes on where it was ended. Writes the figures and
            the picture of docs/performance.md. To begin anew, delete
            ${relative(root, scaleFile)}
  --help    this text

On a machine that has nothing else to do. Without an option: 1000 monitors, three times, in about an hour. Prints what
must hold and what was measured. A limit that does not hold is exit code 1.
`;

try {
  const option = { type: "boolean" };
  const { values } = parseArgs({ options: { quick: option, scale: option, help: option } });
  if (values.help) process.stdout.write(usage);
  else await main(values);
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
} finally {
  await disposeAll();
}

async function main({ quick, scale }) {
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, killAll);
  const { engine } = await setup({ log: console.log });
  const [{ model = "unknown" } = {}] = cpus();
  const { version } = createRequire(import.meta.url)("@pulumi/pulumi/package.json");
  const machine =
    `${cpus().length} cores (${model}), Node ${process.version}, Pulumi ${engine.version} with @pulumi/pulumi ${version}, ` +
    "state in local files";
  // The first run reads half of node_modules from disk.
  await measureGroup(engine, { n: 1, round: 0, kinds: ["ours"], commands: ["preview"] });
  const runs = await (scale
    ? measure(engine, scaleGroups(), scaleFile)
    : measure(engine, usualGroups({ quick })));
  const limits = scale ? scaleLimits(runs) : usualLimits(runs);
  console.log(`\n${machine}\n\n${tableOfRuns(runs)}\n\n${tableOfLimits(limits)}`);
  if (scale) writePage({ machine, ...summaryOf(runs) });
  if (limits.some(({ holds }) => holds === false)) process.exitCode = 1;
}

function writePage(measured) {
  const options = { cwd: root, encoding: "utf8" };
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], options).trim();
  const run = { date: new Date().toISOString().slice(0, 10), commit, ...measured };
  const page = readFileSync(join(root, "docs", "performance.md"), "utf8");
  write("tools/bench/scale.json", `${JSON.stringify(run)}\n`);
  write("docs/performance.svg", pictureOf(run));
  write("docs/performance.md", between("docs/performance.md", page, "bench", tableOf(run)));
}

function write(file, text) {
  writeFileSync(join(root, file), text);
  console.log(`${file} is written.`);
}
