import { mkdir, mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { which } from "./command.mjs";

/** PATH with the engine's folders in front, and with the node that runs this. */
export function enginePath({ bin }, path = "") {
  const present = path.split(delimiter).filter(Boolean);
  const missing = bin.filter((folder) => !present.includes(folder));
  // Last, so that the folder of node, which often holds other programs too, hides nothing.
  const node = which("node", path) ? [] : [dirname(process.execPath)];
  return [...missing, ...present, ...node].join(delimiter);
}

/**
 * A temporary folder with an empty project, and the environment for a CLI that shares nothing with the person's own Pulumi:
 * neither login, plugins, stacks nor settings, and no `UPTIME_…` variable either.
 * @param {{ bin: string[] }} engine
 * @param {string} purpose is part of the folder's name
 * @returns {Promise<{ folder: string, project: string, backend: string, env: Record<string, string> }>}
 */
export async function newProject(engine, purpose) {
  // Resolved, since the engine prints real paths and a temporary folder may be a link.
  const folder = await realpath(await mkdtemp(join(tmpdir(), `pulumi-uptime-${purpose}-`)));
  const names = ["project", "home", "backend", "temporary"];
  const [project, home, backend, temporary] = names.map((name) => join(folder, name));
  for (const path of [project, home, backend, temporary]) await mkdir(path);
  const foreign = /^(PULUMI_|UPTIME_|JEST_|NODE_ENV$|NODE_OPTIONS$|npm_)/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const env = {
    ...Object.fromEntries(own),
    PATH: enginePath(engine, process.env.PATH),
    // An engine that is killed leaves its pipes there.
    TMPDIR: temporary,
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: pathToFileURL(backend).href,
    PULUMI_CONFIG_PASSPHRASE: "",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
  return { folder, project, backend, env };
}
