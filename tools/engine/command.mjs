import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { clearTimeout } from "node:timers";

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

/** Runs a command to its end and returns what it printed; rejects with the end of its output when it fails. */
export function run(command, args, { cwd, env, timeoutSeconds }) {
  // A process group of its own: npm starts node, which starts a shell, which starts curl, and all must end together.
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const endGroup = () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  const interrupted = (signal) => {
    endGroup();
    process.kill(process.pid, signal);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, interrupted);

  return new Promise((resolve, reject) => {
    let output = "";
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, timeoutSeconds * 1000);
    const settle = (error) => {
      clearTimeout(timer);
      for (const signal of ["SIGINT", "SIGTERM"]) process.removeListener(signal, interrupted);
      if (error) reject(error);
      else resolve(output);
    };
    const what = `\`${[command, ...args].join(" ")}\``;
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => settle(new Error(`${what} could not be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return settle();
      const end = timedOut
        ? `did not end within ${timeoutSeconds} s`
        : `ended with ${signal ?? `code ${code}`}`;
      settle(new Error(`${what} ${end}:\n${output.trimEnd().split("\n").slice(-8).join("\n")}`));
    });
  });
}
