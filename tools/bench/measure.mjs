// Measures commands of Pulumi with the programs that the benchmark compares.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { ensureLanguage } from "../engine/languages.mjs";
import { Project } from "./project.mjs";
import { monitorsOf } from "./programs.mjs";

/** The latency of the API, in milliseconds. */
const latency = 20;
/** What the server of the command `limited` allows in any minute. */
export const requestsPerMinute = 60;

const all = ["up", "preview", "again", "refresh", "edit", "destroy"];
/** What is measured of a kind that differs from another one in these commands alone. */
const some = { readingFloor: ["up", "refresh", "destroy"] };
const yes = ["--yes", "--skip-preview"];
const argsOf = {
  preview: ["preview"],
  refresh: ["refresh", ...yes],
  destroy: ["destroy", ...yes],
};

/**
 * What is measured together: each command with all of these kinds, before any of them runs the next one, so that a machine that
 * becomes slower or faster meanwhile does so for all.
 * @typedef {object} Group
 * @property {number} n how many monitors
 * @property {number} round The kinds change places with each.
 * @property {string[]} kinds of programs
 * @property {string[]} commands
 * @property {Record<string, string>} [env]
 * @property {number} [secretEvery] how many monitors there are for each one with request headers
 */

/** The groups of `npm run bench`. */
export function usualGroups({ quick }) {
  const n = quick ? 100 : 1000;
  const groups = (quick ? [0] : [0, 1, 2]).map((round) => {
    return { n, round, kinds: ["ours", "native", "readingFloor", "floor"], commands: all };
  });
  // It takes minutes, and is far from its limit.
  return [...groups, { n, round: 0, kinds: ["conventional"], commands: ["up"] }];
}

/** The groups of `npm run bench -- --scale`. */
export function scaleGroups() {
  // Without it, a local backend writes the whole state twice for each resource.
  const env = { PULUMI_SKIP_CHECKPOINTS: "true" };
  const own = ["sendingFloor", "ours", "native"];
  return [0, 1, 2].flatMap((round) =>
    [100, 1000, 5000, 10_000].flatMap((n) => {
      const groups = [{ kinds: [...own, "readingFloor", "yaml"], commands: all, env }];
      if (round === 0) {
        groups.push({ kinds: ["conventional"], commands: ["up", "refresh"], env });
        if (n <= 1000) groups.push({ kinds: [...own, "conventional"], commands: ["checkpointed"] });
        if (n === 1000) groups.push({ kinds: ["ours"], commands: ["limited"], env });
      }
      // As often as a team has monitors behind a login: encrypted headers cost the engine too.
      return groups.map((group) => ({ n, round, secretEvery: 10, ...group }));
    }),
  );
}

/**
 * Measures groups. What a file has is not measured again, and the rest is added to it, so that a run that was ended goes on where
 * it was. Only whole groups count: what takes turns must be compared.
 * @param {Group[]} groups
 * @param {string} [file]
 */
export async function measure(engine, groups, file) {
  const lines = file !== undefined && existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const runs = lines.map((line) => JSON.parse(line));
  const isMeasured = ({ n, round, kinds, commands }) =>
    runs.some(
      (run) =>
        run.n === n && run.round === round && kinds.includes(run.kind) && run.command === commands.at(-1),
    );
  for (const group of groups.filter((one) => !isMeasured(one))) {
    const measured = await measureGroup(engine, group);
    runs.push(...measured);
    if (file === undefined) continue;
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, measured.map((run) => `${JSON.stringify(run)}\n`).join(""));
  }
  return runs;
}

/** @param {Group} group */
export async function measureGroup(engine, { n, round, kinds, commands, env, secretEvery }) {
  const runs = [];
  const projects = [];
  for (const kind of round % 2 ? kinds.toReversed() : kinds) {
    const host = kind === "yaml" ? await ensureLanguage("yaml", { log: console.log }) : engine;
    const project = await Project.create(host, kind);
    await project.pulumi(["stack", "init", "bench"]);
    projects.push([kind, project]);
  }
  for (const command of commands)
    for (const [kind, project] of projects) {
      if (some[kind] && !some[kind].includes(command)) continue;
      await project.write(monitorsOf(n, command === "edit", secretEvery));
      await project.takeCounts(latency, command === "limited" ? requestsPerMinute : undefined);
      const { seconds, used } = await project.pulumi(argsOf[command] ?? ["up", ...yes], env);
      const counts = await project.takeCounts(latency);
      const sizes = sizesOf(kind, command, project.state());
      runs.push({ n, round, kind, command, seconds, used, ...counts, ...sizes });
      console.log(`N ${n}, round ${round}, ${kind}: ${command} ${seconds.toFixed(1)} s`, counts);
    }
  for (const [, project] of projects) await project.dispose();
  return runs;
}

/** The bytes of the state file, and what part of them for each monitor is ours or the API's. */
function sizesOf(kind, command, state) {
  const sizes = { state: state.length };
  if (command !== "up") return sizes;
  const { monitor } = createRequire(import.meta.url)("../../dist/provider/definitions/monitor.js");
  if (kind === "ours") return { ...sizes, own: ownBytes(state, Object.keys(monitor.fields)) };
  return kind === "native" ? { ...sizes, attributes: attributesBytes(state) } : sizes;
}

/**
 * The bytes of a state file for each monitor that are neither the engine's, nor the managed fields, nor `attributes`.
 * Exact: the file without them is subtracted from the file.
 */
function ownBytes(text, fields) {
  const state = JSON.parse(text);
  if (JSON.stringify(state).length !== text.trimEnd().length)
    throw new Error("The state file is not the compact JSON that its bytes could be counted in.");
  const monitors = state.checkpoint.latest.resources.filter(({ type }) => type.endsWith("uptime:Monitor"));
  const whole = JSON.stringify(monitors).length;
  for (const monitor of monitors) {
    delete monitor.additionalSecretOutputs;
    for (const part of ["inputs", "outputs", "propertyDependencies"])
      for (const key of Object.keys(monitor[part] ?? {}))
        if (!fields.includes(key) && key !== "attributes") delete monitor[part][key];
  }
  return (whole - JSON.stringify(monitors).length) / monitors.length;
}

/** The bytes of `attributes` for each monitor: what they hold is up to the API. */
function attributesBytes(text) {
  const all = JSON.parse(text).checkpoint.latest.resources.flatMap(
    ({ outputs }) => outputs?.attributes ?? [],
  );
  return JSON.stringify(all).length / all.length;
}
