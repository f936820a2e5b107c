// `npm run bench -- --scale`: what each command uses with thousands of monitors, beside resources that do nothing but send.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../main.mjs";
import { programOf } from "./programs.mjs";
import { requestsPerMinute } from "./scale-report.mjs";

const sizes = [100, 1000, 5000, 10_000];
const rounds = 3;
const latency = 20;
/** As often as a team has monitors behind a login: encrypted headers cost the engine too. */
const secretEvery = 10;
/** Without it, a local backend writes the whole state twice for each resource. */
const withoutCheckpoints = { PULUMI_SKIP_CHECKPOINTS: "true" };
/** One measurement in a line, so that a run that was ended goes on where it was. */
export const scaleFile = join(root, "node_modules", ".cache", "pulumi-uptime", "scale.jsonl");

/** What is measured together: of these kinds, each runs a command before any runs the next one. */
function groupsOf(n, round) {
  const groups = [
    {
      kinds: ["sendingFloor", "ours", "native", "yaml"],
      commands: ["up", "preview", "again", "refresh", "edit", "destroy"],
      env: withoutCheckpoints,
    },
  ];
  if (round > 0) return groups;
  groups.push({ kinds: ["conventional"], commands: ["up", "refresh"], env: withoutCheckpoints });
  if (n <= 1000)
    groups.push({
      kinds: ["sendingFloor", "ours", "native", "conventional"],
      commands: ["checkpointed"],
      env: {},
    });
  if (n === 1000) groups.push({ kinds: ["ours"], commands: ["limited"], env: withoutCheckpoints });
  return groups;
}

/**
 * Measures what is missing.
 * @param projects begins and ends projects, and knows the arguments of each command
 * @returns everything that was measured, also before
 */
export async function measureScale({ newProject, end, argsOf, date }) {
  mkdirSync(dirname(scaleFile), { recursive: true });
  for (let round = 0; round < rounds; round++)
    for (const size of sizes) {
      for (const group of groupsOf(size, round)) {
        const isDone = ({ kind, command }) => group.kinds.includes(kind) && command === group.commands.at(-1);
        if (!read().some((run) => run.n === size && run.round === round && isDone(run)))
          await measureGroup(group, size, round);
      }
    }
  return read();

  async function measureGroup({ kinds, commands, env }, size, round) {
    const runs = [];
    const projects = [];
    for (const kind of round % 2 ? [...kinds].reverse() : kinds) {
      const project = await newProject(kind);
      await project.pulumi(["stack", "init", "bench"]);
      projects.push([kind, project]);
    }
    for (const command of commands)
      for (const [kind, project] of projects) {
        await project.write(programOf(kind, size, command === "edit", secretEvery));
        await project.api.take(latency, command === "limited" ? requestsPerMinute : undefined);
        const { seconds, used } = await project.pulumi(argsOf[command] ?? argsOf.up, env);
        const counts = await project.api.take(latency);
        const requests = Object.values(counts).reduce((sum, count) => sum + count, 0);
        const state = project.state("bench").length;
        runs.push({ n: size, round, kind, command, seconds, used, requests, state, date });
        console.log(`N ${size}, ${kind}: ${command} ${seconds.toFixed(1)} s`);
      }
    for (const [, project] of projects) await end(project);
    // Only whole groups count: what takes turns must be compared.
    appendFileSync(scaleFile, runs.map((run) => `${JSON.stringify(run)}\n`).join(""));
  }
}

function read() {
  if (!existsSync(scaleFile)) return [];
  return readFileSync(scaleFile, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
