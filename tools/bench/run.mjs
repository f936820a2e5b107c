// `npm run bench`: how long the commands of Pulumi take with this provider, beside the floor and a conventional one.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { ensureLanguage } from "../engine/languages.mjs";
import { between, root } from "../main.mjs";
import { setup } from "../setup.mjs";
import { programOf } from "./programs.mjs";
import { killAll, Project } from "./project.mjs";
import { chartOf } from "./chart.mjs";
import { measureScale, scaleFile } from "./scale.mjs";
import { format } from "./figures.mjs";
import { scaleLimits, scaleMarkdown, summaryOf } from "./scale-report.mjs";
import {
  attributesBytes,
  commands,
  kinds,
  limitsOf,
  markdownOf,
  measuredOnce,
  ownBytes,
  textOf,
} from "./report.mjs";

const usage = `Usage: npm run bench -- [options]

  --quick   100 monitors at 20 ms, in about two minutes; writes nothing
  --scale   100 to 10,000 monitors, three rounds: takes hours, and goes on where it was ended. To begin anew, delete
            ${relative(root, scaleFile)}
  --help    this text

On a machine that has nothing else to do. Without an option: 100, 500 and 1000 monitors at 0 and 20 ms, three times. The
conventional provider and YAML are measured once for each size; above 500 monitors only at 20 ms, since it takes minutes. The
figures in docs/ are written. A limit that does not hold is exit code 1.
`;
const sizes = [100, 500, 1000];
const latencies = [0, 20];
const repetitions = 3;
const yes = ["--yes", "--skip-preview"];
const argsOf = {
  up: ["up", ...yes],
  preview: ["preview"],
  again: ["up", ...yes],
  refresh: ["refresh", ...yes],
  edit: ["up", ...yes],
  destroy: ["destroy", ...yes],
};

const date = new Date().toISOString().slice(0, 10);
const apis = new Set();
const projects = new Set();

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
} finally {
  killAll();
  for (const { child } of apis) child.disconnect();
  for (const project of projects) await project.dispose();
}

async function main() {
  const option = { type: "boolean" };
  const { quick, scale, help } = parseArgs({
    options: { quick: option, scale: option, help: option },
  }).values;
  if (help) {
    console.log(usage);
    return;
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, killAll);
  const { engine } = await setup({ log: console.log });
  const [{ model = "unknown" } = {}] = cpus();
  const { version } = createRequire(import.meta.url)("@pulumi/pulumi/package.json");
  const machine =
    `${cpus().length} cores (${model}), Node ${process.version}, Pulumi ${engine.version} with @pulumi/pulumi ${version}, ` +
    "state in local files";
  console.log(machine);
  await warmUp(engine);
  if (scale) {
    const runs = await measureScale({ newProject: (kind) => newProject(engine, kind), end, argsOf, date });
    const results = { machine, runs };
    console.log(`\n${scaleMarkdown(results)}`);
    keep("scale.json", [results]);
    print("measurements.md", "scale", scaleMarkdown(results));
    print("performance.md", "bench", summaryOf(results));
    writeFileSync(join(root, "docs", "performance.svg"), chartOf(results));
    judge(scaleLimits(runs));
    return;
  }

  const results = { machine, runs: [], sizes: [] };
  for (const n of quick ? [100] : sizes)
    for (const latency of quick ? [20] : latencies) await measure(engine, results, n, latency);
  console.log(`\n${markdownOf([results])}`);
  if (!quick) {
    keep("results.json", [results]);
    print("measurements.md", "bench", markdownOf([results]));
  }
  judge(limitsOf(results));
}

function keep(name, results) {
  writeFileSync(join(root, "tools", "bench", name), textOf(results));
  console.log(`\ntools/bench/${name} is written.`);
}

function print(name, marker, figures) {
  const page = `docs/${name}`;
  const path = join(root, page);
  writeFileSync(path, between(page, readFileSync(path, "utf8"), marker, figures));
  console.log(`${page} is written.`);
}

function judge(limits) {
  const failed = limits.filter(({ holds }) => holds === false);
  for (const { what, measured } of failed)
    console.error(`Does not hold: ${what} (measured: ${format(measured)}).`);
  if (failed.length > 0) process.exitCode = 1;
}

async function startApi() {
  const child = fork(join(root, "tools", "bench", "api.mjs"));
  const [{ url, apiKey }] = await once(child, "message");
  /** Sets the latency and a limit, and answers with the requests since the last time. */
  const take = async (latency, requestsPerMinute) => {
    child.send({ latency, requestsPerMinute });
    const [{ counts }] = await once(child, "message");
    return counts;
  };
  const api = { child, url, apiKey, take };
  apis.add(api);
  return api;
}

/** A project with an account of its own: what else is in an account is listed too. */
async function newProject(engine, kind) {
  const host = kind === "yaml" ? await ensureLanguage("yaml", { log: console.log }) : engine;
  const project = await Project.create({ engine: host, api: await startApi(), kind });
  projects.add(project);
  return project;
}

async function end(project) {
  project.api.child.disconnect();
  apis.delete(project.api);
  projects.delete(project);
  await project.dispose();
}

/** The first run reads half of node_modules from disk. */
async function warmUp(engine) {
  const project = await newProject(engine, "ours");
  await project.write(programOf("ours", 1));
  await project.pulumi(["stack", "init", "warm"]);
  await project.pulumi(argsOf.preview);
  await end(project);
}

/**
 * All commands at one size. Ours and the floor take turns at each command, and change places with each repetition, so that
 * a machine that becomes slower or faster meanwhile does so for all.
 */
async function measure(engine, results, n, latency) {
  const paired = Object.keys(kinds).filter((kind) => !measuredOnce.includes(kind));
  const once = n > 500 && latency < Math.max(...latencies) ? [] : measuredOnce;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const order = [...(repetition % 2 ? paired.toReversed() : paired), ...(repetition === 0 ? once : [])];
    const stacks = [];
    for (const kind of order) {
      const project = await newProject(engine, kind);
      await project.pulumi(["stack", "init", "bench"]);
      stacks.push({ kind, project });
    }
    for (const command of Object.keys(commands)) {
      for (const { kind, project } of stacks) {
        await project.write(programOf(kind, n, command === "edit"));
        await project.api.take(latency);
        const { seconds } = await project.pulumi(argsOf[command]);
        const requests = await project.api.take(latency);
        results.runs.push({ n, latency, repetition, kind, command, seconds, requests, date });
        console.log(
          `N ${n}, ${latency} ms, ${kind}: ${command} ${seconds.toFixed(1)} s ${JSON.stringify(requests)}`,
        );
        if (command === "up") results.sizes.push({ n, latency, kind, project, ...sizeOf(kind, project) });
      }
    }
    for (const size of results.sizes.filter(({ project }) => project)) {
      size.peak = size.project.peak;
      delete size.project;
    }
    for (const { project } of stacks) await end(project);
  }
}

function sizeOf(kind, project) {
  const state = project.state("bench");
  if (kind === "native") return { state: state.length, attributes: attributesBytes(state.toString()) };
  if (kind !== "ours") return { state: state.length };
  const { monitor } = createRequire(import.meta.url)("../../dist/provider/definitions/monitor.js");
  return { state: state.length, own: ownBytes(state.toString(), Object.keys(monitor.fields)) };
}
