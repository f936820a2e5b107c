import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { dynamic } from "@pulumi/pulumi";
import { domain } from "../../provider/definitions/domain";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { monitor } from "../../provider/definitions/monitor";
import { revealed } from "../support/calls";
import type { Inputs } from "../support/model";
import { startEmulator, startStack, stopStacks } from "../support/stack";
import type { Deployment, StateResource } from "../support/workspace";

// The emulator writes into its file, and the corpus stays as it is.
let installs: string;
beforeEach(() => {
  installs = mkdtempSync(join(tmpdir(), "pulumi-uptime-corpus-"));
});
afterEach(async () => {
  await stopStacks();
  rmSync(installs, { recursive: true });
});

const repository = join(__dirname, "..", "..");
const corpus = join(repository, "test", "corpus");
const read = (...path: string[]) => readFileSync(join(...path), "utf8");
const { version } = JSON.parse(read(repository, "package.json")) as { version: string };

const recording = process.env.UPDATE_CORPUS === "1";
if (recording) mkdirSync(join(corpus, version), { recursive: true });

/** Every kind of thing that state holds: all fields, none, emptied ones, secrets, passed options, a record only read. */
const programs = ["requestAuthUsername: 'probe', sslAlertDays: 14, alertChannelIds: [3],", ""].map(
  (removedLater) => `
const { Domain, Monitor } = require("pulumi-uptime");
const shop = new Domain("shop", { name: "Shop.Example", homepageUrl: "https://shop.example/", notFoundUrl: "https://shop.example/404" });
const plain = new Domain("plain", { name: "plain.example" });
new Monitor("least", { name: "Least", url: "https://shop.example", interval: 60 });
new Monitor("most", {
  name: "Most & more", url: "https://SHOP.example/a?b=c", interval: 300, alertCondition: "url_text", alertTextLookup: "Öl",
  alertChannelIds: [2, "1"], requestMethod: "POST", requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
  requestAuthUsername: "user", requestAuthPassword: "password of the corpus", cacheBuster: true, sslAlertDays: 7,
  domainAlertDays: 0, maintenanceStartAt: "2030-01-31T22:00:00", maintenanceEndAt: "2030-01-31T23:00:00", pause: true,
}, { dependsOn: shop });
new Monitor("emptied", { name: "Emptied", url: "https://shop.example/e", interval: 600, ${removedLater} });
new Monitor("options", { name: "Options", url: "https://shop.example/o", interval: 900, domainAlertDays: 30 },
  { ignoreChanges: ["interval"], replaceOnChanges: ["url"], customTimeouts: { create: "1m" }, protect: true });
Domain.get("read", plain.id);
`,
);
const [first = "", last = ""] = programs;

/** With UPDATE_CORPUS=1: what this version leaves behind, for all later ones. */
async function record(): Promise<void> {
  const folder = join(corpus, version);
  const emulator = await startEmulator({ now: () => new Date("2030-01-01T00:00:00Z") });
  const env = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
  const { workspace } = await startStack({ program: first, env });
  await workspace.up();
  await workspace.write(last);
  await workspace.up();
  const tables = { domains: emulator.domains.save(), monitors: emulator.monitors.save() };
  const write = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), `${JSON.stringify(content, undefined, 2)}\n`);
  };
  write("state.json", await workspace.exportState());
  write("records.json", tables);
  write("address.json", emulator.url);
  writeFileSync(join(folder, "program.js"), last.trimStart());
}

/** A server that holds what a version has left there, at an address that its state names. */
async function installOf(folder: string) {
  const file = join(installs, `${basename(folder)}.json`);
  copyFileSync(join(folder, "records.json"), file);
  const emulator = await startEmulator({ file });
  return { emulator, movedFrom: JSON.parse(read(folder, "address.json")) as string };
}

test("the corpus holds this version", async () => {
  if (recording) await record();
  // If this fails: UPDATE_CORPUS=1 npm test -- test/engine/upgrade.test.ts
  expect(readdirSync(corpus)).toContain(version);
});

// Of one version there may be several: 0.1.0-imports holds imported and adopted records as it kept them.
describe.each(readdirSync(corpus))("state that version %s has left", (earlier) => {
  const folder = join(corpus, earlier);

  test("is imported, nothing is to be changed, and it can be refreshed", async () => {
    const { emulator, movedFrom } = await installOf(folder);
    const before = emulator.monitors.all();
    const { workspace } = await startStack({
      program: read(folder, "program.js"),
      env: { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey },
      config: { "uptime:movedFrom": movedFrom },
    });
    await workspace.importState(JSON.parse(read(folder, "state.json")) as Deployment);
    await workspace.preview("--expect-no-changes");
    // `--run-program`: otherwise the settings are those of the state, which names another address.
    await workspace.refresh("--expect-no-changes", "--run-program");
    expect(emulator.writes()).toEqual([]);
    expect(emulator.monitors.all()).toEqual(before);
    const state = await workspace.stateText();
    for (const secret of ["token of the corpus", "password of the corpus"])
      expect(state).not.toContain(secret);
  });

  test("can be updated and deleted", async () => {
    const { emulator, movedFrom } = await installOf(folder);
    const config: Record<string, string> = {
      "uptime:baseUrl": emulator.url,
      "uptime:apiKey": emulator.apiKey,
      "uptime:movedFrom": movedFrom,
    };
    const { deployment } = JSON.parse(read(folder, "state.json")) as Deployment;
    const managed = (deployment.resources ?? []).filter(
      ({ type, id, ...resource }) => type.startsWith("pulumi-nodejs:") && id && !("external" in resource),
    );
    expect(managed).toHaveLength(6);
    for (const { type, id = "", outputs = {}, inputs = {} } of managed.map(withoutSecrets)) {
      const definition = type.endsWith("Domain") ? domain : monitor;
      const provider = dynamicProvider(definition) as Required<dynamic.ResourceProvider>;
      await provider.configure({
        config: { get: (key: string) => config[key], require: (key: string) => config[key] ?? "" },
      });
      const key = definition === domain ? "homepageUrl" : "alertTextLookup";
      const value = definition === domain ? "https://new.example/" : "new";
      const check = await provider.check(inputs, { ...inputs, [key]: value });
      const checked = revealed(check.inputs as Inputs);
      expect((await provider.diff(id, outputs, checked)).changes).toBe(true);
      const outs = revealed((await provider.update(id, outputs, checked)).outs as Inputs);
      expect(outs[key]).toBe(value);
      await provider.delete(id, outs);
    }
    expect([...emulator.domains.all(), ...emulator.monitors.all()]).toEqual([]);
  });
});

/** The resource with what is encrypted replaced: the encryption is the engine's, and is tested above. */
function withoutSecrets(resource: StateResource): StateResource {
  const clear = JSON.stringify(resource, (key, value: unknown) =>
    typeof value === "object" && value !== null && "ciphertext" in value
      ? key === "requestHeaders"
        ? [{ key: "X-Token", value: "token of the corpus" }]
        : "password of the corpus"
      : value,
  );
  return JSON.parse(clear) as StateResource;
}
