import { fork } from "node:child_process";
import { join } from "node:path";

// A terminal sends Ctrl-C to all processes of its group, and a Pulumi CLI that hears it twice ends at once. So the CLIs run in
// another group, and fleet.ts tells each of them once, whether the signal was sent to this process or to its group.
const fleet = fork(join(__dirname, "fleet.js"), process.argv.slice(2), { detached: true });
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    if (fleet.connected) fleet.send("interrupt");
  });
fleet.on("exit", (code) => process.exit(code ?? 1));
