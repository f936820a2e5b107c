import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import type { Properties } from "../../common/marks";
import { tellVariable, toldInputs } from "../../engine/told";
import { parseAs } from "../shared/json";

interface Heard<T> {
  readonly result: T;
  /** The checked inputs of resources, with their secrets, by their names in the stack. */
  readonly told: ReadonlyMap<string, Properties>;
}

/** Runs some work with an environment in which providers tell what a program declares, through a socket and not a file. */
export async function listen<T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<Heard<T>> {
  // Only this user can open the folder, and so connect.
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-try-"));
  const socket =
    process.platform === "win32" ? `\\\\.\\pipe\\pulumi-uptime-${randomUUID()}` : join(folder, "socket");
  const told = new Map<string, Properties>();
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => undefined);
    const hear = async (): Promise<void> => {
      const heard = parseAs(toldInputs, await text(connection));
      if (heard) told.set(heard.name, heard.inputs);
      connection.end();
    };
    // A provider that was killed has told nothing.
    hear().catch(() => undefined);
  });
  try {
    server.listen(socket);
    await once(server, "listening");
    return { result: await work({ [tellVariable]: socket }), told };
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
