import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { z } from "zod";

import { excerpt } from "../api/answer";
import { domain } from "../definitions/domain";
import { connect } from "../lifecycle/connection";
import type { Connection } from "../lifecycle/connection";
import { UptimeError } from "../api/errors";
import type { Definition } from "../definitions/field";
import { monitor } from "../definitions/monitor";
import { typeToken } from "../engine/identity";
import { Lifecycle } from "../lifecycle/lifecycle";
import { manifests, projectIn } from "./project";
import { exportedState, nameIn } from "./pulumi";
import type { StateResource } from "./pulumi";
import { settingsOf } from "./settings";
import type { Given, SettingFlags } from "./settings";
import type { Surroundings } from "./terminal";

/** A resource that a preview would refuse. */
export interface Refused {
  readonly type: string;
  readonly name: string;
  /** The id in its option `import`, if it has one. */
  readonly importId: string | undefined;
  readonly reasons: readonly string[];
}

/** What a look at a program has found. */
export interface Looked {
  /** How many resources have the option `import`, and are not in state yet. */
  readonly imports: number;
  readonly refused: readonly Refused[];
  readonly notes: readonly string[];
}

const resources = z.array(
  z.object({ type: z.string(), name: z.string(), inputs: z.record(z.string(), z.unknown()) }),
);

/** Runs a program without an engine, and asks the provider about all that it declares. Creates nothing. */
export async function refusedImports(
  folder: string,
  options: SettingFlags & { readonly stack?: string | true },
  surroundings: Surroundings,
): Promise<Looked> {
  const directory = resolve(surroundings.cwd, folder);
  const project = projectIn(directory);
  if (!project.exists) throw new UptimeError(`${directory} has no Pulumi project: it holds no Pulumi.yaml.`);
  const notes: string[] = [];
  const stack = options.stack === true ? undefined : options.stack;
  const place = { cwd: directory, env: surroundings.env, stack };
  let present: readonly StateResource[] = [];
  let isReadable = true;
  try {
    present = (await exportedState(place, false)).deployment.resources ?? [];
  } catch (error) {
    if (options.stack !== undefined || !(error instanceof UptimeError)) throw error;
    isReadable = false;
    notes.push(`The stack's state cannot be read, so every import is taken for a new one. ${error.message}`);
  }
  const given = await settingsOf(options, surroundings, isReadable ? place : undefined);
  const declared = await declaredBy(mainOf(directory), project.name, given, surroundings);
  const found = [domain, monitor].map(async (definition) => check(definition, given, declared, present));
  const looked = await Promise.all(found);
  return {
    imports: looked.reduce((sum, { imports }) => sum + imports, 0),
    refused: looked.flatMap(({ refused }) => refused),
    notes: [...notes, ...looked.flatMap((one) => one.notes)],
  };
}

/** The folder that the option `main` of a project names. */
function mainOf(directory: string): string {
  for (const file of manifests) {
    try {
      const [, main] = /^main:\s*["']?([^"'\s#]+)/m.exec(readFileSync(join(directory, file), "utf8")) ?? [];
      return main === undefined ? directory : join(directory, main);
    } catch {
      // It has the other name.
    }
  }
  return directory;
}

async function declaredBy(
  directory: string,
  project: string,
  { entries }: Given,
  { env }: Surroundings,
): Promise<z.infer<typeof resources>> {
  const child = fork(join(__dirname, "declare.js"), [directory, project, "doctor"], {
    cwd: directory,
    env: {
      ...env,
      PULUMI_CONFIG: JSON.stringify(Object.fromEntries(entries)),
      PULUMI_CONFIG_SECRET_KEYS: JSON.stringify([...entries.keys()]),
    },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  let sent: unknown;
  child.stderr?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  child.on("message", (message) => (sent = message));
  const code = await new Promise<number | null>((done, fail) => {
    child.on("error", fail);
    child.on("close", done);
  });
  const parsed = resources.safeParse(sent);
  if (parsed.data) return parsed.data;
  throw new UptimeError(
    `The program in ${directory} cannot be run without an engine: ${excerpt(said) || `it ended with ${String(code)}`}`,
  );
}

async function check(
  definition: Definition,
  { settings }: Given,
  declared: z.infer<typeof resources>,
  present: readonly StateResource[],
): Promise<Looked> {
  const type = typeToken(definition);
  const connections = new Map<string | undefined, Connection>();
  const lifecycle = new Lifecycle(definition, (account) => {
    const connection = connections.get(account) ?? connect(definition, settings(account));
    connections.set(account, connection);
    return connection;
  });
  let imports = 0;
  const notes: string[] = [];
  const refused = await Promise.all(
    declared
      .filter((resource) => resource.type === type)
      .map(async ({ name, inputs }): Promise<Refused | undefined> => {
        const old = present.find(
          (resource) => resource.type === type && nameIn(resource.urn) === name && resource.delete !== true,
        );
        const importId = typeof inputs.importId === "string" ? inputs.importId : undefined;
        if (importId !== undefined && !old) imports++;
        const olds = old?.inputs ?? {};
        const checked = lifecycle.check(olds, inputs);
        notes.push(...(await lifecycle.checkImport(olds, inputs, checked)));
        const reasons = checked.problems.map(({ property, reason }) => `${property} ${reason}`);
        return reasons.length === 0 ? undefined : { type, name, importId, reasons };
      }),
  );
  return { imports, refused: refused.filter((one) => one !== undefined), notes };
}
