import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type * as Kinds from "../../provider/definitions";
import type * as Fields from "../../provider/definitions/field";
import type { Definition } from "../../provider/definitions/field";
import { typeToken } from "../../provider/definitions/pulumi";
import type * as Cli from "../support/cli";
import { emulator, withEmulator } from "../support/emulator";

// A third kind of record, in the one list and nowhere else: the command line must follow.
jest.mock("../../provider/definitions", () => {
  const { text, boolean } = jest.requireActual<typeof Fields>("../../provider/definitions/field");
  const channel: Definition = {
    label: "Channel",
    singular: "channel",
    plural: "channels",
    baseUrl: "baseUrl",
    fields: {
      name: text("name", { required: true }),
      muted: boolean("is_muted"),
      token: text("token", { secret: true }),
    },
    rules: [],
  };
  const { definitions } = jest.requireActual<typeof Kinds>("../../provider/definitions");
  return { definitions: [...definitions, channel] };
});

// The commands are loaded after that.
const { cli } = jest.requireActual<typeof Cli>("../support/cli");

const channel = { id: 3, name: "On call", is_muted: true, token: "s3cret" };
let folder: string;
withEmulator();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-third-"));
  // The emulator has two kinds.
  emulator.fault = ({ path }) =>
    path.includes("/channels")
      ? {
          kind: "answer",
          effect: false,
          status: 200,
          body: path.endsWith("/channels") ? { data: [channel] } : { data: channel },
        }
      : undefined;
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]): Promise<Cli.Outcome> => cli(emulator, folder, args);

test("export writes a program for a new kind of record, and --only knows it", async () => {
  expect((await run("export", "--help")).stdout).toContain('"channels"');
  expect(await run("export", "--out", "out", "--only", "channels")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Wrote 1 channel to out:/) as string,
  });
  const source = readFileSync(join(folder, "out", "channels.ts"), "utf8");
  expect(source).toContain('import { Channel } from "pulumi-uptime";');
  expect(source).toContain(
    'new Channel(\n    "on-call",\n    {\n      name: "On call",\n      muted: true,\n',
  );
  expect(source).toContain('      token: config.requireSecret("on-call-token"),\n');
  expect((await run("export", "--out", "out")).stdout).toMatch(/^Nothing is new: 1 record known already/);
});

test("drift compares it, and doctor checks it", async () => {
  const type = typeToken({ label: "Channel" });
  const properties = { name: "On call", muted: false };
  const resource = {
    urn: `urn:pulumi:a::b::${type}::c`,
    type,
    id: "3",
    inputs: properties,
    outputs: { ...properties, attributes: {} },
  };
  writeFileSync(
    join(folder, "state.json"),
    JSON.stringify({ version: 3, deployment: { resources: [resource] } }),
  );
  const { code, stdout } = await run("drift", "--state", "state.json", "--unmanaged");
  expect(code).toBe(2);
  expect(stdout).toMatch(/^Channel c +3 +muted +false +true$/m);
  expect((await run("doctor")).stdout).toContain("ok       channels: 1 record\n");
});
