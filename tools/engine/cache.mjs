// The folder where an engine is installed once, for all clones of this repository on this machine.
import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";

const HEARTBEAT_MS = 5_000;
const STALE_MS = 30_000;

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
 * One process at a time does `action`. The lock of a dead process is taken over. It only saves work: should two ever hold
 * it, each installs a whole folder, and one of them stays.
 */
export async function withLock(file, { log, pollMs = 250 }, action) {
  const token = randomUUID();
  let waiting = false;
  while (!(await acquire(file, token))) {
    const owner = await readOwner(file);
    if (owner.stale) {
      // Renamed first, since of several that find it stale only one can rename it.
      await rename(file, `${file}.${token}`).catch(() => undefined);
      await rm(`${file}.${token}`, { force: true });
      continue;
    }
    if (!waiting) log(`Waiting for process ${owner.pid ?? "(unknown)"}, which is installing the engine.`);
    waiting = true;
    await sleep(pollMs);
  }
  // A process id says nothing on another host or in another container; a lock that is touched is alive.
  const touch = () => utimes(file, new Date(), new Date()).catch(() => undefined);
  const heartbeat = setInterval(touch, HEARTBEAT_MS).unref();
  try {
    return await action();
  } finally {
    clearInterval(heartbeat);
    if ((await readOwner(file)).token === token) await rm(file, { force: true });
  }
}

async function acquire(file, token) {
  try {
    await writeFile(file, JSON.stringify({ pid: process.pid, host: hostname(), token }), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

async function readOwner(file) {
  try {
    const touched = (await stat(file)).mtimeMs;
    const owner = parseOwner(await readFile(file, "utf8"));
    const dead = owner.host === hostname() && !isAlive(owner.pid);
    return { ...owner, stale: dead || Date.now() - touched > STALE_MS };
  } catch {
    // It was released in this moment.
    return { stale: false };
  }
}

// A lock that is seen before its content was written has no known owner yet.
function parseOwner(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
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
