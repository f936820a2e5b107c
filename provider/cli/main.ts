#!/usr/bin/env node
import "../engine/exit-on-old-node";

import { runCommand } from "./commands";

// The reader may close a pipe early, as `head` does. The exit code is the same.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return;
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(1);
  });

void runCommand(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
}).then((code) => {
  process.exitCode = code;
});
