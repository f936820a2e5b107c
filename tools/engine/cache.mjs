// The folder where an engine is installed once, for all clones of this repository on this machine.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export function cacheRoot(env) {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache"), "pulumi-uptime", "engine");
}

/** What an installed folder says of itself, or undefined when it is missing or not what was installed. */
export async function readInstalled(folder) {
  try {
    const { version, source, sizes } = JSON.parse(await readFile(join(folder, "engine.json"), "utf8"));
    for (const [name, size] of Object.entries(sizes)) {
      if ((await stat(join(folder, "bin", name))).size !== size) return undefined;
    }
    return { bin: [join(folder, "bin")], version, source };
  } catch {
    return undefined;
  }
}

/**
 * Lets `fill` put programs into `<temporary folder>/bin` and moves the folder into place as a whole, so that a run that is
 * killed in the middle leaves nothing that looks finished. If two clones install at once, the first folder stays.
 */
export async function install(folder, { version, source }, fill) {
  const draft = `${folder}.draft-${process.pid}-${randomUUID()}`;
  try {
    await removeDrafts(dirname(folder));
    await mkdir(join(draft, "bin"), { recursive: true });
    await fill(draft);
    const names = await readdir(join(draft, "bin"));
    const sized = names.map(async (name) => [name, (await stat(join(draft, "bin", name))).size]);
    const sizes = Object.fromEntries(await Promise.all(sized));
    await writeFile(join(draft, "engine.json"), JSON.stringify({ version, source, sizes }, null, 2));
    await rename(draft, folder).catch(async () => {
      if (await readInstalled(folder)) return;
      await rm(folder, { recursive: true, force: true });
      await rename(draft, folder);
    });
    return await readInstalled(folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes what runs that were killed in the middle have left. */
async function removeDrafts(root) {
  await mkdir(root, { recursive: true });
  for (const name of await readdir(root)) {
    const pid = /\.draft-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
