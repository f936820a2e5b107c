// `npm run bench`: how long the commands of Pulumi take with this provider, beside the floor and a conventional one.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { between, root } from "../main.mjs";
import { setup } from "../setup.mjs";
import { chartOf } from "./chart.mjs";
import { format } from "./figures.mjs";
import { measure, measureGroup, scaleFile, scaleGroups, usualGroups } from "./measure.mjs";
import { disposeAll, killAll } from "./project.mjs";
import { limitsOf, markdownOf, textOf } from "./report.mjs";
import { scaleLimits, scaleMarkdown, summaryOf } from "./scale-report.mjs";

const usage = `Usage: npm run bench -- [options]

  --quick   100 monitors at 20 ms, in about two minutes; writes nothing
  --scale   100 to 10,000 monitors, three rounds: takes hours, and goes on where it was ended. To begin anew, delete
            ${relative(root, scaleFile)}
  --help    this text

On a machine that has nothing else to do. Without an option: 100, 500 and 1000 monitors at 0 and 20 ms, three times. The
conventional provider and YAML are measured once for each size; above 500 monitors only at 20 ms, since it takes minutes. The
figures in docs/ are written. A limit that does not hold is exit code 1.
`;

try {
  const option = { type: "boolean" };
  const { values } = parseArgs({ options: { quick: option, scale: option, help: option } });
  if (values.help) console.log(usage);
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
  console.log(machine);
  // The first run reads half of node_modules from disk.
  await measureGroup(engine, { n: 1, latency: 0, round: 0, kinds: ["ours"], commands: ["preview"] });
  if (scale) {
    const results = { machine, runs: await measure(engine, scaleGroups(), scaleFile) };
    console.log(`\n${scaleMarkdown(results)}`);
    write("tools/bench/scale.json", textOf([results]));
    write("docs/performance.svg", chartOf(results));
    renew("docs/measurements.md", "scale", scaleMarkdown(results));
    renew("docs/performance.md", "bench", summaryOf(results));
    judge(scaleLimits(results.runs));
  } else {
    const results = { machine, runs: await measure(engine, usualGroups({ quick })) };
    console.log(`\n${markdownOf([results])}`);
    if (!quick) {
      write("tools/bench/results.json", textOf([results]));
      renew("docs/measurements.md", "bench", markdownOf([results]));
    }
    judge(limitsOf(results));
  }
}

function write(file, text) {
  writeFileSync(join(root, file), text);
  console.log(`${file} is written.`);
}

function renew(page, marker, figures) {
  write(page, between(page, readFileSync(join(root, page), "utf8"), marker, figures));
}

function judge(limits) {
  const failed = limits.filter(({ holds }) => holds === false);
  for (const { what, measured } of failed)
    console.error(`Does not hold: ${what} (measured: ${format(measured)}).`);
  if (failed.length > 0) process.exitCode = 1;
}
