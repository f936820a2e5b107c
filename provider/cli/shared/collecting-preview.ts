import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { collectedResource, collectVariable, type CollectedResource } from "../../engine/collected";
import type { Preview } from "./preview";
import { runPreview, type StackLocation } from "./pulumi-cli";
import { titleOf } from "./resource-types";

/** A resource as the provider tells of it in a preview. */
interface PreviewedResource extends CollectedResource {
  /** As people read it: `Monitor shop`. */
  readonly title: string;
}

/** Runs a preview in which the provider tells what it checks and refuses nothing. Changes nothing, and writes no file. */
export async function collectingPreview(
  location: StackLocation,
): Promise<{ preview: Preview; collected: PreviewedResource[] }> {
  const collected: PreviewedResource[] = [];
  const hear = (resource: CollectedResource): void => {
    collected.push({ ...resource, title: titleOf({ urn: `urn:pulumi:::::${resource.name}` }) });
  };
  const preview = await listen(hear, (env) => runPreview({ ...location, env: { ...location.env, ...env } }));
  return { preview, collected };
}

/** Runs some work with an environment in which providers tell what they check, through a socket and not a file. */
export async function listen<T>(
  hear: (resource: CollectedResource) => void,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  // Only this user can open the folder, and so connect.
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-"));
  const socket =
    process.platform === "win32" ? `\\\\.\\pipe\\pulumi-uptime-${randomUUID()}` : join(folder, "socket");
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    // A provider that was killed has told nothing.
    connection.on("error", () => undefined);
    text(connection)
      .then((told) => {
        hear(collectedResource.parse(JSON.parse(told)));
        connection.end();
      })
      .catch(() => connection.resetAndDestroy());
  });
  try {
    server.listen(socket);
    await once(server, "listening");
    return await work({ [collectVariable]: socket });
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
