import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { collectedResource, collectVariable, type CollectedResource } from "../../engine/collecting-front";
import { parseUrn, urnSuffixOf } from "../../common/urn";
import { explainFailure } from "./files";
import { changeOf } from "./planned-changes";
import { errorsIn } from "./preview";
import { exportState, runPreview, type StackLocation } from "./pulumi-cli";
import { byName } from "./quoting";
import { findDefinition, titleOf } from "./resource-types";
import { decryptedProperties } from "./state";
import { assertOwnCode } from "./state-code";

/**
 * Runs a preview in which the provider sends what it checks to this process, and refuses nothing. Changes nothing, and writes no
 * file. Throws if Pulumi would run code in state that is not this package's.
 */
export async function collectingPreview(location: StackLocation) {
  const state = await exportState(location, "--show-secrets");
  assertOwnCode(state);
  const collected = new Map<string, CollectedResource>();
  const onResource = (resource: CollectedResource): void => {
    const { urnSuffix, problems: found } = resource;
    const { values: inputs } = decryptedProperties(resource.inputs);
    // A diff may refuse what a check has not, and what is replaced is checked twice.
    const problems = [...new Set([...(collected.get(urnSuffix)?.problems ?? []), ...found])];
    collected.set(urnSuffix, { urnSuffix, inputs, problems });
  };
  const preview = await whileListening(onResource, (env) =>
    runPreview({ ...location, env: { ...location.env, ...env } }),
  );
  return {
    /** What was before, with its secrets in the clear. */
    state,
    /** The steps of this package's records, each with what its provider has checked, in the clear. The engine's order changes. */
    steps: preview.steps
      .filter(({ urn }) => findDefinition(parseUrn(urn).type))
      .sort((a, b) => byName(a.urn, b.urn))
      .map((step) => ({ ...step, change: changeOf(step), checked: collected.get(urnSuffixOf(step.urn)) })),
    /** What the provider refuses, with titles for people such as `Monitor shop`. */
    refused: [...collected.values()]
      .filter(({ problems }) => problems.length > 0)
      .map((resource) => ({ ...resource, title: titleOf(`urn:pulumi:::::${resource.urnSuffix}`) }))
      .sort((a, b) => byName(a.title, b.title)),
    /** Errors of the preview other than refused resources. */
    errors: errorsIn(preview),
  };
}

/** On macOS. Node.js 20 cuts a longer path, and the socket is then outside of its folder. */
const maxSocketPathBytes = 103;

/** A folder for a socket. Only this user can open it, and so connect. */
function newSocketFolder(): string {
  const prefix = join(tmpdir(), "pulumi-uptime-");
  const length = Buffer.byteLength(join(`${prefix}XXXXXX`, "socket"));
  // The path of a pipe on Windows is another one.
  const isTooLong = process.platform !== "win32" && length > maxSocketPathBytes;
  return explainFailure(`No folder can be made in ${tmpdir()}`, () =>
    mkdtempSync(isTooLong ? "/tmp/pulumi-uptime-" : prefix),
  );
}

/** Runs some work with an environment in which providers send what they check through a socket, because a file would hold secrets. */
export async function whileListening<T>(
  onResource: (resource: CollectedResource) => void,
  work: (env: NodeJS.ProcessEnv) => Promise<T>,
): Promise<T> {
  const folder = newSocketFolder();
  const socket =
    process.platform === "win32" ? `\\\\.\\pipe\\pulumi-uptime-${randomUUID()}` : join(folder, "socket");
  const server = createServer({ allowHalfOpen: true }, (connection) => {
    connection.on("error", () => undefined);
    // Without the option, the end of the text destroys the connection before the answer.
    text(connection.iterator({ destroyOnReturn: false }))
      .then((sent) => {
        onResource(collectedResource.parse(JSON.parse(sent)));
        connection.end("heard");
      })
      // A provider that was killed has sent only a part, and one of another version has another form.
      .catch(() => connection.destroy());
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
