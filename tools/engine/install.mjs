// Finds a Pulumi engine, or installs one.
import { join } from "node:path";
import { cacheRoot, install, readInstalled } from "./cache.mjs";
import { withProgress } from "./command.mjs";
import { cacheKey, fillFrom, findOnPath, goVersion, pinnedVersion } from "./sources.mjs";

/** From where one is installed, in this order. */
const installable = ["download", "go"];

/**
 * @typedef {object} Engine
 * @property {string[]} bin Folders that have to be on PATH.
 * @property {string} version
 * @property {"path" | "download" | "go"} source
 *
 * @typedef {object} Options
 * @property {(line: string) => void} [log]
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * The engine to use: the user's own, else one that was installed before, else one installed now.
 * @param {Options} [options]
 * @returns {Promise<Engine>}
 */
export async function ensureEngine({ log = () => undefined, env = process.env } = {}) {
  const folderOf = (source) => join(cacheRoot(env), `${cacheKey}-${source}`);
  const fill = (source) => (draft) => withProgress(log, () => fillFrom(source, draft, { env, log }));
  const ways = [
    ["path", () => findOnPath(env)],
    ...installable.map((source) => [source, () => readInstalled(folderOf(source))]),
    ...installable.map((source) => [
      source,
      () => install(folderOf(source), { version: pinnedVersion, source }, fill(source)),
    ]),
  ];
  const failures = [];
  for (const [source, find] of ways)
    try {
      const found = await find();
      if (found) return found;
    } catch (error) {
      failures.push({ source, reason: error.message });
      const [firstLine] = error.message.split("\n");
      if (source !== "path") log(`That did not work: ${firstLine} ${lastLineOf(error.message)}`.trimEnd());
    }
  throw new Error(explain(failures));
}

/** The end of a command's output, which says what went wrong; empty for a message of one line. */
function lastLineOf(message) {
  return message.includes("\n") ? message.slice(message.lastIndexOf("\n") + 1).trim() : "";
}

function explain(failures) {
  const reasons = failures.map(({ source, reason }) => `  - ${source}: ${reason.replaceAll("\n", "\n    ")}`);
  return [
    "There is no Pulumi engine here, and none could be installed. What was tried:",
    ...reasons,
    "Install the Pulumi CLI (https://www.pulumi.com/docs/install/), which brings the Node.js language host with it,",
    `or Go ${goVersion} or later to build both, and run this again.`,
  ].join("\n");
}
