import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type * as Kinds from "../../provider/definitions";
import { boolean, text } from "../../provider/definitions/field";
import { dynamicType } from "../../provider/common/pulumi";
import { FrontSession } from "../../provider/engine/front-session";
import { hosted } from "../support/calls";
import type * as Cli from "../support/cli";
import type * as Third from "../support/third-resource";
import { answer, emulator, settingsOf, withServer } from "../support/server";
import { newFolder } from "../support/folder";

// A third kind of record, in the one list and nowhere else: the command line must follow.
jest.mock("../../provider/definitions", () => {
  const { definitions } = jest.requireActual<typeof Kinds>("../../provider/definitions");
  const { policy } = jest.requireActual<typeof Third>("../support/third-resource");
  return { definitions: [...definitions, policy] };
});

// The commands are loaded after that.
const { cli } = jest.requireActual<typeof Cli>("../support/cli");

const policy = { id: 3, display_name: "On call", applies: "nights", token: "s3cret" };
let folder: string;
let policies: object[];
withServer();
beforeEach(() => {
  folder = newFolder();
  policies = [policy];
  // The emulator has two kinds.
  emulator.fault = ({ path }) =>
    path.includes("/policies")
      ? answer(200, { data: path.endsWith("/policies") ? policies : policy })
      : undefined;
});

const run = (...args: string[]): Promise<Cli.Outcome> => cli(emulator, folder, args);

test("export writes a program for a third resource, and --only accepts it", async () => {
  expect((await run("export", "--help")).stdout).toContain('"policies"');
  mkdirSync(join(folder, "out"));
  writeFileSync(join(folder, "out", "Pulumi.yaml"), "name: out\nruntime: nodejs\n");
  expect(await run("export", "--out", "out", "--only", "policies")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Wrote 1 resource to out:[^]*\n {2}policies\.ts\n/) as string,
  });
  const source = readFileSync(join(folder, "out", "policies.ts"), "utf8");
  expect(source).toContain('import { Policy } from "pulumi-uptime";');
  expect(source).toContain(
    'new Policy(\n    "on-call",\n    {\n      displayName: "On call",\n      applies: "nights",\n',
  );
  expect(source).toContain('      token: secret("on-call-token"),\n');
});

test("drift compares a third resource, and doctor checks it", async () => {
  const type = dynamicType({ label: "Policy", singular: "policy", plural: "policies" });
  const inputs = { displayName: "On call", applies: "always" };
  const outputs = { ...inputs, attributes: {} };
  const resource = { urn: `urn:pulumi:a::b::${type}::c`, type, id: "3", inputs, outputs };
  const state = { version: 3, deployment: { resources: [resource] } };
  writeFileSync(join(folder, "state.json"), JSON.stringify(state));
  const { code, stdout } = await run("drift", "--state", "state.json", "--unmanaged");
  expect(code).toBe(2);
  expect(stdout).toMatch(/^Policy c +3 +applies +"?always"? +"?nights"?$/m);
  expect((await run("doctor")).stdout).toContain("ok       policies: 1 record\n");
});

test("a field that only a create sends is not in the update that follows it", async () => {
  emulator.fault = ({ method }) => {
    if (method === "GET") return answer(200, { data: [] });
    return answer(200, { data: { id: 1, name: "Nightly", is_muted: method === "PATCH" } });
  };
  const job = {
    label: "Job",
    singular: "job",
    plural: "jobs",
    addressSetting: "baseUrl",
    fields: {
      name: text("name", { required: true, identifies: true, fixed: true }),
      muted: boolean("is_muted", { updateOnly: true }),
    },
    rules: [],
  } as const;
  const declared = { name: "Nightly", muted: true };
  const provider = hosted(job, settingsOf(), new FrontSession());
  expect(await provider.create(declared)).toMatchObject({ id: "1", outs: declared });
  expect(emulator.writes().map(({ method, body }) => [method, ...body])).toEqual([
    ["POST", ["name", "Nightly"]],
    ["PATCH", ["is_muted", "1"]],
  ]);
});
