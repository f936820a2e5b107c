// `npm run bench`: how long the commands of Pulumi take with this provider, beside the floor and a conventional one.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureLanguage } from "../engine/languages.mjs";
import { between, root } from "../main.mjs";
import { setup } from "../setup.mjs";
import { programOf } from "./programs.mjs";
import { killAll, Project } from "./project.mjs";
import { chartOf } from "./chart.mjs";
import { measureScale } from "./scale.mjs";
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

  --n LIST          numbers of monitors (default 100,500,1000)
  --latency LIST    milliseconds until the API answers (default 0,20)
  --only LIST       of ${Object.keys(kinds).join(", ")} (default all)
  --commands LIST   of ${Object.keys(commands).join(", ")}, with up (default all)
  --repeat NUMBER   how often pulumi-uptime and the floor are measured, in turns (default 3)
  --quick           100 monitors at 20 ms: about two minutes
  --scale           100 to 10,000 monitors, three rounds: takes hours, and goes on where it was ended
  --fresh           with --scale: measure everything anew
  --no-limits       only print whether the limits hold; without it, one that does not is exit code 1
  --help            this text

On a machine that has nothing else to do. The conventional provider and YAML are measured once for each size; above 500
monitors only at the highest latency, since it takes minutes. The figures in docs/ are written if everything was measured.
`;
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
  const options = readOptions();
  if (!options) return;
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, killAll);
  const { engine } = await setup({ log: console.log });
  const [{ model = "unknown" } = {}] = cpus();
  const { version } = createRequire(import.meta.url)("@pulumi/pulumi/package.json");
  const machine =
    `${cpus().length} cores (${model}), Node ${process.version}, Pulumi ${engine.version} with @pulumi/pulumi ${version}, ` +
    "state in local files";
  console.log(machine);
  await warmUp(engine);
  if (options.scale) {
    const runs = await measureScale(
      { newProject: (kind) => newProject(engine, kind), end, argsOf, date },
      options.scale,
    );
    const results = { machine, runs };
    console.log(`\n${scaleMarkdown(results)}`);
    if (options.scale.n === undefined) {
      keep("scale.json", [results]);
      print("measurements.md", "scale", scaleMarkdown(results));
      print("performance.md", "bench", summaryOf(results));
      writeFileSync(join(root, "docs", "performance.svg"), chartOf(results));
    }
    judge(scaleLimits(runs), options);
    return;
  }

  const results = { machine, runs: [], sizes: [] };
  for (const n of options.n)
    for (const latency of options.latency) await measure(engine, results, options, n, latency);
  console.log(`\n${markdownOf([results])}`);
  if (!options.isPart) {
    keep("results.json", [results]);
    print("measurements.md", "bench", markdownOf([results]));
  }
  judge(limitsOf(results), options);
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

function judge(limits, options) {
  const failed = limits.filter(({ holds }) => holds === false);
  for (const { what, measured } of failed)
    console.error(`Does not hold: ${what} (measured: ${format(measured)}).`);
  if (failed.length > 0 && options.limits) process.exitCode = 1;
}

function readOptions() {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      n: { type: "string" },
      latency: { type: "string" },
      only: { type: "string", default: Object.keys(kinds).join() },
      commands: { type: "string", default: Object.keys(commands).join() },
      repeat: { type: "string", default: "3" },
      quick: { type: "boolean", default: false },
      scale: { type: "boolean", default: false },
      fresh: { type: "boolean", default: false },
      limits: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return undefined;
  }
  const numbers = (name, text, least) => {
    const list = text.split(",").map(Number);
    if (list.every((value) => Number.isInteger(value) && value >= least)) return list;
    throw new Error(`--${name} takes whole numbers from ${least}, separated by commas, not "${text}".`);
  };
  const [n, latency] = values.quick ? ["100", "20"] : ["100,500,1000", "0,20"];
  const names = (option, known) => {
    const list = values[option].split(",");
    const unknown = list.find((name) => !(name in known));
    if (unknown === undefined) return list;
    throw new Error(
      `--${option} takes ${Object.keys(known).join(", ")}, separated by commas, not "${unknown}".`,
    );
  };
  const only = names("only", kinds);
  const measured = names("commands", commands);
  if (!measured.includes("up"))
    throw new Error("--commands needs up: without it there is nothing to measure.");
  const isPart =
    values.quick ||
    [values.n, values.latency].some((value) => value !== undefined) ||
    only.length < Object.keys(kinds).length ||
    measured.length < Object.keys(commands).length;
  return {
    ...values,
    commands: Object.keys(commands).filter((command) => measured.includes(command)),
    n: numbers("n", values.n ?? n, 1),
    latency: numbers("latency", values.latency ?? latency, 0),
    repeat: numbers("repeat", values.repeat, 1)[0],
    scale: values.scale && {
      n: values.n === undefined ? undefined : numbers("n", values.n, 1),
      repeat: numbers("repeat", values.repeat, 1)[0],
      fresh: values.fresh,
    },
    only,
    isPart,
  };
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
async function measure(engine, results, options, n, latency) {
  const { repeat, only, latency: latencies } = options;
  const paired = only.filter((kind) => !measuredOnce.includes(kind));
  const slow = n > 500 && latency < Math.max(...latencies);
  const once = only.filter((kind) => measuredOnce.includes(kind) && !slow);
  for (let repetition = 0; repetition < repeat; repetition++) {
    const order = [...(repetition % 2 ? paired.reverse() : paired), ...(repetition === 0 ? once : [])];
    const stacks = [];
    for (const kind of order) {
      const project = await newProject(engine, kind);
      await project.pulumi(["stack", "init", "bench"]);
      stacks.push({ kind, project });
    }
    for (const command of options.commands) {
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
