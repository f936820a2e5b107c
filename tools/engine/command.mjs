import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { promisify } from "node:util";

/** The first file of that name on PATH that can be executed, or undefined. */
export function which(name, path = "") {
  return path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Says every ten seconds how long something has taken so far, so that nobody takes it for stuck. */
export async function withProgress(log, action) {
  const started = Date.now();
  const timer = setInterval(() => log(`  … ${Math.round((Date.now() - started) / 1000)} s`), 10_000);
  try {
    return await action();
  } finally {
    clearInterval(timer);
  }
}

/** Runs a command to its end and returns what it printed; rejects with the end of its output when it fails. */
export async function run(command, args, { cwd, env, timeoutSeconds }) {
  const timeout = timeoutSeconds * 1000;
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      cwd,
      env,
      timeout,
      killSignal: "SIGKILL",
      maxBuffer: 2 ** 26,
    });
    return stdout + stderr;
  } catch (error) {
    const { killed, signal, code, stdout = "", stderr = "", message } = error;
    const what = `\`${[command, ...args].join(" ")}\``;
    if (typeof code === "string")
      throw new Error(`${what} could not be started: ${message}`, { cause: error });
    const end = killed ? `did not end within ${timeoutSeconds} s` : `ended with ${signal ?? `code ${code}`}`;
    const last = (stdout + stderr).trimEnd().split("\n").slice(-8).join("\n");
    throw new Error(`${what} ${end}:\n${last}`, { cause: error });
  }
}
