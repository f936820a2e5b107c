import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { cli, type Outcome } from "./cli";
import { newFolder } from "./folder";

/** The folder of the present test. */
export let folder: string;

/** Gives each test of the file an empty folder. */
export function withFolder(): void {
  beforeEach(() => {
    folder = newFolder();
  });
}

export const monitorType = "pulumi-nodejs:dynamic/uptime:Monitor";
export const urnOf = (name: string, type = monitorType): string => `urn:pulumi:prod::team::${type}::${name}`;

/** A monitor's inputs, as a preview prints them. */
export const inputs = (name: string, more: object = {}): object => ({
  __provider: "code",
  name,
  url: `https://${name}.example/`,
  interval: 60,
  requestHeaders: "[secret]",
  ...more,
});

/** A step of a monitor, with its inputs before and after. */
export const step = (op: string, name: string, before?: object, after?: object) => ({
  op,
  urn: urnOf(name),
  ...(before && { oldState: { urn: urnOf(name), type: monitorType, inputs: before, outputs: before } }),
  ...(after && { newState: { urn: urnOf(name), type: monitorType, inputs: after } }),
});

export const create = (name: string, more: object = {}) =>
  step("create", name, undefined, inputs(name, more));
export const update = (name: string, more: object) => step("update", name, inputs(name), inputs(name, more));
export const remove = (name: string) => step("delete", name, inputs(name));

/** The same step with more in the states before and after. */
export function withStates<T extends object>(one: T, before: object, after: object = {}) {
  const { oldState, newState } = one as { oldState?: object; newState?: object };
  const isCreate = !oldState && Object.keys(before).length === 0;
  return {
    ...one,
    ...(!isCreate && { oldState: { ...oldState, ...before } }),
    ...(newState && { newState: { ...newState, ...after } }),
  };
}

export const bucketUrn = urnOf("logs", "aws:s3/bucket:Bucket");
/** A step of another package's resource. */
export const bucket = (op: string, more: object = {}, urn = bucketUrn) => {
  const state = { type: "aws:s3/bucket:Bucket", inputs: { tags: "a", ...more } };
  return { op, urn, ...(op === "delete" ? { oldState: state } : { newState: state }) };
};

export const drifted = (name: string, inApi: unknown, property = "interval", inState: unknown = 60) => ({
  urn: urnOf(name),
  type: monitorType,
  name,
  id: "7",
  outcome: "changed",
  properties: [{ property, inState, inApi, secret: false }],
});
export const gone = (name: string) => ({
  ...drifted(name, undefined, "name", name.toUpperCase()),
  outcome: "gone",
});

/** As Pulumi prints it: of what stays as it is, only the stack is a step, and all are counted. */
export const stack = { op: "same", urn: "urn:pulumi:prod::team::pulumi:pulumi:Stack::team-prod" };

/** What Pulumi prints: its counts include the stack, and a replacement is one of its three steps. */
export function preview(steps: readonly object[], same = 1): object {
  const changeSummary: Record<string, number> = { same };
  for (const { op } of steps as { op: string }[])
    if (!/^(create|delete)-replace/.test(op)) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  const isListed = steps.some((one) => (one as { op: string }).op === "create-replacement");
  const parts = (steps as { op: string }[]).flatMap((one) =>
    one.op === "replace" && !isListed ? [{ ...one, op: "create-replacement" }] : [],
  );
  return { steps: [stack, ...steps, ...parts], changeSummary };
}

/** What `drift --json` prints. */
export const report = (found: readonly object[] = [], more: object = {}): object => ({
  checked: 4,
  drifted: found,
  errors: [],
  servers: [],
  code: [],
  ...more,
});

export function write(file: string, content: unknown): void {
  writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
}

/** Comments on the files in the folder. */
export const comment = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
  const files = "--preview preview.json --preview-log preview.log --drift drift.json --doctor doctor.json";
  return cli({ url: "", apiKey: "" }, folder, ["comment", ...files.split(" "), ...args], { env });
};

/** Comments on a preview with these steps, or on what it has printed, and on a drift. */
export function run(
  steps: readonly object[] | object,
  drift: readonly object[] | object = [],
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  write("preview.json", Array.isArray(steps) ? preview(steps as object[]) : steps);
  write("drift.json", Array.isArray(drift) ? report(drift as object[]) : drift);
  return comment(args, env);
}

/** The comment's first line. */
export const marker = ({ stdout }: Outcome): string => stdout.split("\n")[0] ?? "";
