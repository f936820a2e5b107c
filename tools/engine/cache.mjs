// The folder where an engine is installed once, for all clones of this repository on this machine.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** After this, the id of a process that was killed may be another's. */
const LONGEST_BUILD_MS = 3_600_000;

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
 * killed in the middle leaves nothing that looks finished.
 */
export async function install(folder, { version, source }, fill) {
  const draft = `${folder}.draft-${process.pid}-${randomUUID()}`;
  try {
    await mkdir(join(draft, "bin"), { recursive: true });
    await fill(draft);
    const names = await readdir(join(draft, "bin"));
    const sized = names.map(async (name) => [name, (await stat(join(draft, "bin", name))).size]);
    const sizes = Object.fromEntries(await Promise.all(sized));
    await writeFile(join(draft, "engine.json"), JSON.stringify({ version, source, sizes }, null, 2));
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Removes what runs that were killed in the middle have left. */
export async function removeDrafts(root) {
  for (const name of await readdir(root)) {
    const pid = /\.draft-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(root, name), { recursive: true, force: true });
  }
}

/**
 * One process at a time does `action`. It only saves work: should two ever hold the lock, each installs a whole folder, and
 * one of them stays.
 */
export async function withLock(file, { log }, action) {
  for (let waiting = false; !(await acquire(file));) {
    if (!(await isHeld(file))) {
      await rm(file, { force: true });
      continue;
    }
    if (!waiting) log("Waiting for another process, which is installing the engine.");
    waiting = true;
    await sleep(250);
  }
  try {
    return await action();
  } finally {
    await rm(file, { force: true });
  }
}

async function acquire(file) {
  try {
    await writeFile(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** Whether the process that wrote a lock still installs; a lock whose content was not written yet is held. */
async function isHeld(file) {
  try {
    const [{ mtimeMs }, pid] = [await stat(file), await readFile(file, "utf8")];
    return Date.now() - mtimeMs < LONGEST_BUILD_MS && (pid === "" || isAlive(Number(pid)));
  } catch {
    return false; // It was released in this moment.
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
