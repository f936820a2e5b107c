import { delimiter, dirname } from "node:path";
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
 * The environment for a CLI that shares nothing with the person's own Pulumi: neither login, plugins, stacks nor settings,
 * and no `UPTIME_…` variable either.
 * @param {{ bin: string[] }} engine
 * @param {{ home: string, backend: string, temporary: string }} folders
 * @returns {Record<string, string>}
 */
export function engineEnv(engine, { home, backend, temporary }, env = process.env) {
  const foreign = /^(PULUMI_|UPTIME_|JEST_|NODE_ENV$|NODE_OPTIONS$|npm_)/;
  const own = Object.entries(env).filter(([name]) => !foreign.test(name));
  return {
    ...Object.fromEntries(own),
    PATH: enginePath(engine, env.PATH),
    // An engine that is killed leaves its pipes there.
    TMPDIR: temporary,
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: pathToFileURL(backend).href,
    PULUMI_CONFIG_PASSPHRASE: "",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  };
}
