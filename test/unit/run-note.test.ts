import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";

import { UptimeError } from "../../provider/api/errors";
import { monitor } from "../../provider/definitions/monitor";
import type { Engine } from "../../provider/engine/engine";
import { FrontSession } from "../../provider/engine/front";
import type { ResourceRequest } from "../../provider/engine/plugin/resource-request";
import { PluginRun } from "../../provider/engine/plugin/run";
import { newClaim } from "../../provider/lifecycle/claims";
import type { Claim } from "../../provider/lifecycle/resource";
import type * as RunNotes from "../../provider/lifecycle/run-note";
import { openRunNote, processName } from "../../provider/lifecycle/run-note";
import { httpTransport } from "../../provider/api/transport";
import type { Emulator } from "../../provider/emulator";
import { startEmulator } from "../support/emulator";
import { hosted } from "../support/calls";
import { newFolder } from "../support/folder";
import type { ModelStack } from "../support/model";
import { fronts, Program } from "../support/program";
import { storedIds } from "../support/sent";
import { emulator, failureOf, myKey, otherKey, settingsOf, withServer } from "../support/server";
import { urnOf } from "../support/simulated/engine";
import { neighborsIn, type Notes } from "../support/simulated/process";
import { home } from "../support/monitors";

const engine = "127.0.0.1:4000";
const record = "server monitors 1";
const [ownName = "", otherName = ""] = [process.pid, process.ppid].map(processName);
const endedName = `${2 ** 22 + 1}@1`;
let temporary: string;
beforeEach(() => {
  temporary = newFolder();
  jest.spyOn(os, "tmpdir").mockImplementation(() => temporary);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const folder = (): string => join(temporary, `pulumi-uptime-${process.getuid?.() ?? "user"}`);
const file = (): string => join(folder(), fs.readdirSync(folder())[0] ?? "");
const noted = (): string => fs.readFileSync(file(), "utf8");

/** What this process has noted counts as that of another one. */
function noteAs(name: string): void {
  fs.writeFileSync(file(), noted().replaceAll(ownName, name));
}

describe("the note of a run", () => {
  const note = (address: string | undefined = engine) => openRunNote(address);

  test("tells another process of the run which records this one owns, in a file that only this user can read", () => {
    note().reserve(record);
    expect([folder(), file()].map((path) => fs.statSync(path).mode & 0o077)).toEqual([0, 0]);
    expect(note().isOthers(record)).toBe(false);
    const text = noted();
    noteAs(otherName);
    const one = note();
    expect([one.isOthers(record), one.isOthers("server monitors 2")]).toEqual([true, false]);
    // It reads what the others add, too.
    fs.appendFileSync(file(), text.replace(ownName, endedName));
    expect(one.isOthers(record)).toBe(true);
    expect(note("127.0.0.1:4001").isOthers(record)).toBe(false);
  });

  test("gives a record that two processes claim at the same time to the first, and the other gets an error", () => {
    const one = note();
    one.reserve(record);
    const own = noted();
    noteAs(otherName);
    fs.writeFileSync(file(), own + noted());
    expect(one.isOthers(record)).toBe(false);
    fs.writeFileSync(file(), own.replace(ownName, otherName));
    expect(() => {
      note().reserve(record);
    }).toThrow(UptimeError);
    // What a process that has ended was first with is free.
    fs.writeFileSync(file(), own.replace(ownName, endedName));
    note().reserve(record);
  });

  test("ignores what a process wrote whose id another process has by now", () => {
    note().reserve(record);
    noteAs(`${process.ppid}@1`);
    expect(note().isOthers(record)).toBe(false);
  });

  test("ignores that another process has the same resource of state", () => {
    const [claim, another] = [newClaim("a resource"), newClaim("another one")];
    note().add(record, claim);
    noteAs(otherName);
    const have = (own?: Claim): boolean => note().isOthers(record, own);
    expect([have(claim), have(another), have()]).toEqual([false, true, true]);
    // An adoption or an import by that process does.
    note().add(record);
    noteAs(otherName);
    expect(have(claim)).toBe(true);
  });

  /** Runs a process to its end. Returns how many listeners it has had for that. */
  const runProcess = (work: (open: typeof openRunNote) => void): number => {
    const once = jest.spyOn(process, "once").mockReturnThis();
    jest.isolateModules(() => {
      work(jest.requireActual<typeof RunNotes>("../../provider/lifecycle/run-note").openRunNote);
    });
    const ends = once.mock.calls.flatMap(([event, end]) => (event === "exit" ? [end] : []));
    once.mockRestore();
    for (const end of ends) end();
    return ends.length;
  };

  test.each([
    [otherName, 1],
    [endedName, 0],
  ])("is removed by the last of its processes to end: beside %s", (name, left) => {
    runProcess((open) => {
      open(engine).reserve(record);
      fs.writeFileSync(file(), noted() + noted().replace(ownName, name));
    });
    expect(fs.readdirSync(folder())).toHaveLength(left);
  });

  test("is removed with those of other runs by one listener of a process that serves many", () => {
    const listeners = runProcess((open) => {
      for (let port = 4000; port < 4020; port++) open(`127.0.0.1:${port}`).reserve(record);
      expect(fs.readdirSync(folder())).toHaveLength(20);
    });
    expect(listeners).toBe(1);
    expect(fs.readdirSync(folder())).toEqual([]);
  });

  test("needs no name of the user, which a container may not know", () => {
    jest.spyOn(os, "userInfo").mockImplementation(() => {
      throw new Error("uv_os_get_passwd returned ENOENT");
    });
    note().reserve(record);
    expect(fs.readdirSync(folder())).toHaveLength(1);
  });

  test("is not written without an engine", () => {
    const none = openRunNote(undefined);
    none.reserve(record);
    expect([none.isOthers(record), fs.readdirSync(temporary)]).toEqual([false, []]);
  });
});

describe("a note that cannot be read", () => {
  withServer();

  test("does not keep a new record out of state", async () => {
    openRunNote(engine).add(record);
    const path = file();
    fs.rmSync(path);
    fs.mkdirSync(path);
    const session = new FrontSession({ runNote: openRunNote(engine) });
    const { id } = await hosted(monitor, settingsOf(), session).create(home);
    expect(storedIds()).toEqual([id]);
  });
});

describe("an attached plugin", () => {
  withServer();

  test("notes what a run adopts for that run, also if the next engine has attached meanwhile", async () => {
    openRunNote(engine).reserve(record);
    const attached = { address: engine, log: () => undefined } as unknown as Engine;
    const session = new PluginRun(attached, {});
    session.configure({ baseUrl: emulator.url, apiKey: myKey, adoptExisting: true });
    emulator.monitors.add(home);
    attached.address = "127.0.0.1:4001";
    const request: ResourceRequest = {
      urn: "urn:pulumi:stack::project::uptime:index:Monitor::home",
      id: "",
      oldInputs: {},
      oldOutputs: {},
      inputs: home,
      ignoreChanges: [],
      timeout: undefined,
      isPreview: false,
      isImport: false,
    };
    await session.run(request, (resources) => resources.create(request));
    expect(fs.readdirSync(folder())).toHaveLength(1);
    expect(noted().trim().split("\n").length).toBeGreaterThan(1);
  });
});

describe.each(fronts)("of two processes of a run (%s)", (front) => {
  const adopting = { "uptime:adoptExisting": "true" };
  const others = { "uptime:apiKey": otherKey };
  /** What the other key's requests go to. */
  let otherAccount: Emulator;
  let notes: Notes<object>;
  beforeEach(async () => {
    otherAccount = await startEmulator({ apiKey: otherKey });
    notes = new Map();
  });
  withServer({ anyKey: true });

  const processWith = (settings: Record<string, string>, transport = httpTransport()): Program => {
    const neighbors = neighborsIn(notes, {});
    return new Program(front, settings, { runNote: neighbors, transport });
  };
  /** Of another account, which has the same ids. */
  const inOtherAccount = (settings = {}): Program => {
    const send = httpTransport();
    return processWith({ ...others, ...settings }, (request) => {
      const { pathname, search } = request.url;
      return send({ ...request, url: new URL(pathname + search, otherAccount.url) });
    });
  };

  /** A monitor that a former run has created. */
  const createdBefore = async (): Promise<ModelStack> => {
    const program = processWith({});
    const one = program.resource();
    await one.up(home);
    program.nextRun();
    return one;
  };

  test("one does not take the other's new record for its own lost create", async () => {
    const [one, two] = [processWith({}).resource(), processWith({}).resource()];
    let first: Promise<unknown> | undefined;
    emulator.fault = ({ method }) => {
      if (method !== "POST" || first) return undefined;
      first = one.up(home);
      return { kind: "cut", effect: false, answerDelayMs: 4000 };
    };
    await two.up(home);
    await first;
    expect([one.state?.id, two.state?.id]).toEqual(["1", "2"]);
  });

  test("each creates its record if their accounts have the same ids", async () => {
    const [one, two] = [processWith({}), inOtherAccount()];
    const all = [one.resource(), two.resource()];
    for (const each of all) expect(await failureOf(each.up(home))).toBe("");
    for (const each of all) expect(await each.preview(home)).toBe("same");
    expect([storedIds(), otherAccount.monitors.size]).toEqual([["1"], 1]);
  });

  test("one deletes the old record of a resource that is replaced by the other", async () => {
    const one = await createdBefore();
    notes.clear();
    const two = processWith({}).resource();
    two.state = structuredClone(one.state);
    expect(await two.preview({ ...home, url: "https://two.example/" })).toBe("update");
    await one.drop();
    expect(storedIds()).toEqual([]);
  });

  test.each(["imported", "adopted"])(
    "one deletes its record if the other %s one with the same id in another account",
    async (how) => {
      const one = await createdBefore();
      otherAccount.monitors.add({ ...home, name: "Other" });
      const isImport = how === "imported";
      const other = inOtherAccount(isImport ? {} : adopting);
      const two = other.resource();
      const declared = { ...home, name: "Other" };
      if (isImport && front === "plugin")
        await other.providers.monitor.import?.(urnOf({ kind: "monitor", name: two.name }), "1", declared);
      else await two.up({ ...declared, ...(isImport && { importId: "1" }) });
      expect(otherAccount.writes()).toEqual([]);
      await one.drop();
      expect(storedIds()).toEqual([]);
    },
  );

  test("one does not delete its record if the other adopted it with another key of the account", async () => {
    const one = await createdBefore();
    const two = processWith({ ...others, ...adopting }).resource();
    await two.up(home);
    expect(two.state?.id).toBe("1");
    await one.drop();
    expect(storedIds()).toEqual(["1"]);
  });
});

describe.each(fronts)("if the note cannot be written (%s)", (front) => {
  withServer();
  beforeEach(() => {
    emulator.monitors.add(home);
  });

  test.each<[string, (program: Program) => Promise<unknown>]>([
    ["an adoption", (program) => program.resource().up(home)],
    [
      "an import",
      async (program) => {
        const { monitor } = program.providers;
        // One of the two imports by itself, the other one by what the engine asks.
        if (monitor.import) return monitor.import("urn:pulumi:stack::project::type::home", "1", home);
        return program.resource().up({ ...home, importId: "1" });
      },
    ],
  ])("%s does nothing, and the error names the folder and TMPDIR", async (_, operation) => {
    temporary = join(temporary, "file");
    fs.writeFileSync(temporary, "");
    const settings = { "uptime:adoptExisting": "true" };
    const failure = await failureOf(
      operation(new Program(front, settings, { runNote: openRunNote(engine) })),
    );
    expect(failure).toContain(`the folder ${folder()} cannot be written (`);
    expect(failure).toContain("Set TMPDIR to a folder that can.");
    expect(emulator.writes()).toEqual([]);
  });
});
