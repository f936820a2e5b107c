#!/usr/bin/env node
import "../engine/exit-on-old-node";

import { runCommand } from "./commands";

// The reader may close the pipe early, as `head` does. The exit code is the same.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

void runCommand(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
}).then((code) => {
  process.exitCode = code;
});
