import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";

import { UptimeError } from "../../provider/api/errors";
import { monitor } from "../../provider/definitions/monitor";
import type { EngineLog } from "../../provider/engine/engine-log";
import { FrontSession } from "../../provider/engine/front-session";
import type { ResourceRequest } from "../../provider/engine/plugin/resource-request";
import { PluginRun } from "../../provider/engine/plugin/run";
import { Claims, newClaim } from "../../provider/lifecycle/claims";
import { Ledger } from "../../provider/lifecycle/ledger";
import { Owners } from "../../provider/lifecycle/owners";
import { openRunNote, processName } from "../../provider/engine/run-note-file";
import type { Claim, Outputs } from "../../provider/lifecycle/resource";
import { noNote, RecordNote } from "../../provider/lifecycle/run-note";
import { httpTransport } from "../../provider/api/transport";
import type { Emulator, Fault } from "../../provider/emulator";
import { startEmulator } from "../support/emulator";
import { hosted } from "../support/calls";
import { newFolder } from "../support/folder";
import type { ModelResource } from "../support/model";
import { fronts, Program } from "../support/program";
import { posts, storedIds } from "../support/sent";
import {
  answer,
  emulator,
  failureOf,
  myKey,
  on,
  onCreates,
  otherKey,
  settingsOf,
  withServer,
} from "../support/server";
import { noteOf, type Notes } from "../support/simulated/process";
import { home } from "../support/monitors";

const engine = "127.0.0.1:4000";
const [ownName = "", otherName = ""] = [process.pid, process.ppid].map(processName);
const endedName = `${2 ** 22 + 1}@1`;
const claim = newClaim();
const record = { id: "1", raw: home };
const kept = { values: home, attributes: {} };
let temporary: string;
beforeEach(() => {
  temporary = newFolder();
  jest.spyOn(os, "tmpdir").mockImplementation(() => temporary);
});
afterEach(() => jest.restoreAllMocks());

const folder = (): string => join(temporary, `pulumi-uptime-${process.getuid?.() ?? "user"}`);
const file = (): string => join(folder(), fs.readdirSync(folder())[0] ?? "");
const noted = (): string => fs.readFileSync(file(), "utf8");
const note = (address = engine, key = "81d0", hash = "5e44e44e", opened = openRunNote(address)) =>
  new RecordNote(opened, monitor, { hash, url: "", source: "" }, key);
/** The note of a process with another key. */
const withOtherKey = () => note(engine, "0000");

/** What this process has noted counts as that of another one. */
function noteAs(name: string): void {
  fs.writeFileSync(file(), noted().replaceAll(ownName, name));
}

describe("the note of a run", () => {
  const deleter = (own = newClaim(), one = note(), found = record, outputs: Outputs = kept) =>
    one.beginDelete("1", own, outputs, one.mayBeAnotherRecord("1", outputs) ? found : undefined);
  const taking = () => note().take(record, newClaim());

  test("has a line with a verb, the record, the claim, the writer and a hash of the name and URL, in a file that only this user can read", () => {
    note().keep("1", claim, kept);
    note().tellCreated("2", newClaim(), undefined);
    note().take({ ...record, id: "3" }, newClaim());
    expect([folder(), file()].map((path) => fs.statSync(path).mode & 0o077)).toEqual([0, 0]);
    const [first, ...others] = noted().trim().split(/\n+/);
    expect(first).toMatch(
      new RegExp(`^keeps 5e44e44e monitors 1 81d0 ${claim} ${ownName}#\\d+ [\\da-f]{16}$`),
    );
    expect(others.map((line) => line.split(" ").length)).toEqual([7, 8]);
  });

  test.each<[string, (one: RecordNote) => void]>([
    ["keeps", (one) => one.keep("1", claim, kept)],
    ["keeps, with state from before claims", (one) => one.keep("1", "" as Claim, kept)],
    ["has created", (one) => one.tellCreated("1", claim, undefined)],
    ["has adopted or imported", (one) => one.take(record, claim)],
  ])("keeps a record that another process %s", (_, tell) => {
    tell(note());
    noteAs(otherName);
    expect(note().hasOtherClaim("1")).toBe(true);
    expect(deleter()).toBe("nobody");
    expect(taking).toThrow("a resource of another provider already manages monitor 1");
  });

  test("lets a resource that another process has with the same claim be deleted: it moves there", () => {
    note().keep("1", claim, kept);
    noteAs(otherName);
    expect(deleter(claim)).toBe("this process");
  });

  test.each<[string, () => unknown]>([
    ["it has ended", () => noteAs(endedName)],
    ["another process has its id by now", () => noteAs(`${process.ppid}@1`)],
    ["it was an earlier run of this process", () => undefined],
    [
      "it was an earlier run of this process, and another process has written a line before",
      () => fs.writeFileSync(file(), `keeps 5e44e44e monitors 9 81d0 ${claim} ${otherName}#1\n${noted()}`),
    ],
  ])("ignores what a process has told if %s", (_, change) => {
    note().keep("1", claim, kept);
    change();
    expect(note().hasOtherClaim("1")).toBe(false);
    expect(deleter()).toBe("this process");
  });

  test("counts a line after half a line, which a process on a full disk has written", () => {
    note().keep("2", claim, kept);
    fs.writeFileSync(file(), `keeps 5e44e44e mon${noted()}keeps 5e44e44e mon`);
    note().keep("1", claim, kept);
    noteAs(otherName);
    expect(["1", "2"].map((id) => note().hasOtherClaim(id))).toEqual([true, true]);
  });

  test("is read anew if a shorter file has got the place of the old one on the disk", () => {
    const one = note();
    for (const id of ["1", "2"]) note().keep(id, claim, kept);
    noteAs(otherName);
    expect(["1", "2", "3"].map((id) => one.hasOtherClaim(id))).toEqual([true, true, false]);
    const [first = ""] = noted().trim().split("\n");
    fs.writeFileSync(file(), `${first.replace("monitors 1", "monitors 3")}\n`);
    expect(["1", "2", "3"].map((id) => one.hasOtherClaim(id))).toEqual([false, false, true]);
  });

  test("does not count what was told after an earlier run of this process by one that has ended", () => {
    note().keep("1", claim, kept);
    fs.appendFileSync(file(), noted().replaceAll(ownName, endedName).replace("monitors 1", "monitors 2"));
    expect(["1", "2"].map((id) => note().hasOtherClaim(id))).toEqual([false, false]);
  });

  test("counts what a process has told that has crashed since this one began", () => {
    const one = note();
    note().take(record, claim);
    noteAs(endedName);
    expect(deleter(newClaim(), one)).toBe("nobody");
    expect(deleter(newClaim(), note())).toBe("this process");
  });

  test("of two processes that delete a record, the first sends the request, and nobody takes it any more", () => {
    expect(deleter()).toBe("this process");
    noteAs(otherName);
    expect(deleter()).toBe("another process");
    expect(note().isDeleted("1")).toBe(true);
    // An adoption has no option import to remove.
    expect(taking).toThrow(
      /this run deletes monitor 1\. Run `pulumi up` again, without the option import if the resource has it\.$/,
    );
  });

  test("tells processes apart by their ids if the system has no start times", () => {
    const read = fs.readFileSync;
    jest.spyOn(fs, "readFileSync").mockImplementation(((path: string, options: "utf8") => {
      if (path.startsWith("/proc/")) throw new Error("ENOENT");
      return read(path, options);
    }) as typeof fs.readFileSync);
    expect([process.pid, 2 ** 22 + 1].map(processName)).toEqual([`${process.pid}@`, undefined]);
  });

  /** Right before or after the next line of this process, another one adds such a line with this verb. */
  function interleave(place: "before" | "after", verb: string, key = "81d0"): void {
    const append = fs.appendFileSync;
    jest.spyOn(fs, "appendFileSync").mockImplementationOnce((path, given, options) => {
      const line = String(given);
      const named = line.replace(/takes|deletes/, verb).replace("81d0", key);
      const other = named.replace(claim, newClaim()).replace(ownName, otherName);
      for (const one of place === "before" ? [other, line] : [line, other]) append(path, one, options);
    });
  }

  test("of a process that takes a record and one that announces its delete right after that, the first gets it", () => {
    interleave("after", "deletes");
    expect(() => {
      note().take(record, claim);
    }).not.toThrow();
    noteAs(otherName);
    expect(deleter()).toBe("nobody");
  });

  test("of a process that takes a record and one with another key that deletes it, the second one goes on, because it may not know of the first", () => {
    interleave("after", "deletes", "0000");
    expect(() => {
      note().take(record, claim);
    }).toThrow("this run deletes monitor 1");
  });

  test.each(["before", "after"] as const)(
    "of a process that deletes a record and one that takes it right %s that is announced, the first gets its way",
    (place) => {
      interleave(place, "takes");
      expect(deleter(claim)).toBe(place === "before" ? "nobody" : "this process");
    },
  );

  test("of two processes with different keys that delete a record, each sends its request, because these may be two accounts", () => {
    const one = withOtherKey();
    one.take(record, claim);
    deleter(claim, one);
    noteAs(otherName);
    expect(deleter()).toBe("this process");
  });

  test("of two processes that take a record, the first gets it", () => {
    const one = note();
    one.take(record, claim);
    const own = noted();
    noteAs(otherName);
    fs.writeFileSync(file(), own + noted());
    expect(deleter(claim)).toBe("this process");
    fs.writeFileSync(file(), own.replaceAll(ownName, otherName));
    expect(taking).toThrow(UptimeError);
  });

  test("tells that a record was deleted, until the server gives its id to a new one", () => {
    deleter();
    note().keep("1", newClaim(), kept);
    note().tellCreated("1", claim, undefined);
    noteAs(otherName);
    const one = note();
    expect(one.isDeleted("1")).toBe(false);
    // What only state has is void.
    const elsewhere = [newClaim(), claim].map((own) => one.isCreatedElsewhere("1", own));
    expect(elsewhere).toEqual([true, false]);
    expect(deleter(claim, one)).toBe("this process");
  });

  test("does not count what state has of an id that the server has given to a create since", () => {
    note().keep("1", newClaim(), kept);
    noteAs(otherName);
    const one = note();
    one.tellCreated("1", claim, record);
    expect(one.hasOtherClaim("1")).toBe(false);
  });

  test("counts the create of a process that had adopted an earlier record with this id", () => {
    const one = note();
    one.take(record, newClaim());
    one.tellCreated("1", newClaim(), record);
    noteAs(otherName);
    expect(note().isCreatedElsewhere("1", claim)).toBe(true);
  });

  test.each<[boolean, string, (one: RecordNote) => void]>([
    [true, "has created", () => undefined],
    [true, "has created and declares", (one) => one.keep("1", claim, kept)],
    [true, "has created, and another resource there has it", (one) => one.take(record, newClaim())],
    [false, "has created and deleted", (one) => deleter(claim, one)],
    [false, "has found for a lost create", (one) => one.tellFound("1", claim, record)],
  ])("knows a record by its create: %s for one that another process %s", (isKnown, _, then) => {
    const one = note();
    one.tellCreated("1", claim, record);
    then(one);
    // What this process has created is in its ledger.
    expect(one.hasCreate("1")).toBe(false);
    noteAs(otherName);
    expect(note().hasCreate("1")).toBe(isKnown);
  });

  test("knows no record by its create if another process only has it in state, or has an answer with an id alone", () => {
    note().keep("1", claim, kept);
    note().tellCreated("2", claim, undefined);
    noteAs(otherName);
    expect(["1", "2"].map((id) => note().hasCreate(id))).toEqual([false, false]);
  });

  /** Another process adopts the record, or has created it, and is refused because of what this one has noted. */
  function refuseOther(reason: string | RegExp, getting: () => unknown = taking): void {
    const own = noted();
    noteAs(otherName);
    expect(getting).toThrow(reason);
    const [refused = ""] = noted().trim().split("\n").slice(-1);
    fs.writeFileSync(file(), `${own}${refused.replace(ownName, otherName)}\n`);
  }

  test("does not count what was refused: the id of a record that was deleted is free for a new one", () => {
    const one = note();
    deleter(claim, one);
    refuseOther("this run deletes monitor 1");
    expect(one.hasOtherClaim("1")).toBe(false);
    one.tellCreated("1", newClaim(), undefined);
  });

  test("tells of an adoption before the create was noted, also if that cannot be", () => {
    const imported = newClaim();
    note().take(record, imported);
    note().keep("1", imported, { ...kept, importId: "1", tookExisting: true });
    noteAs(otherName);
    jest.spyOn(fs, "appendFileSync").mockImplementation(() => {
      throw new Error("the disk is full");
    });
    expect(() => note().tellCreated("1", claim, undefined)).toThrow(
      "a resource of another provider has adopted it",
    );
  });

  test("does not tell of the process's own adoption of an earlier record, if the create cannot be noted", () => {
    const one = note();
    one.take(record, newClaim());
    jest.spyOn(fs, "appendFileSync").mockImplementation(() => {
      throw new Error("the disk is full");
    });
    expect(() => one.tellCreated("1", claim, record)).not.toThrow();
  });

  test("does not count an adoption that was refused because the record has an owner", () => {
    const one = note();
    one.keep("1", claim, kept);
    refuseOther("a resource of another provider already manages monitor 1");
    expect(deleter(claim, one)).toBe("this process");
  });

  test.each<[string, RegExp, (one: RecordNote) => void]>([
    ["adopted", /has adopted it meanwhile[^]*remove one\.$/, (one) => one.take(record, claim)],
    [
      "found for a lost create",
      /whose answer was lost, may have made another monitor/,
      (one) => one.tellFound("1", claim, record),
    ],
  ])("does not count a create that was refused because its record was %s before", (_, reason, get) => {
    const one = note();
    get(one);
    refuseOther(reason, () => note().tellCreated("1", newClaim(), record));
    expect(one.isCreatedElsewhere("1", claim)).toBe(false);
    expect(deleter(claim, one)).toBe("this process");
  });

  test("refuses a create whose record a resource of this process with another key has adopted before", () => {
    const opened = openRunNote(engine);
    const [one, other] = ["81d0", "0000"].map((key) => note(engine, key, undefined, opened));
    other?.take(record, claim);
    expect(() => one?.tellCreated("1", newClaim(), record)).toThrow("has adopted it meanwhile");
    expect(deleter(claim, other)).toBe("this process");
  });

  test("refuses a create whose record was adopted before, whatever a third account has done with that id since", () => {
    note().take(record, claim);
    note(engine, "1234", "e15e0000").tellCreated("1", newClaim(), {
      id: "1",
      raw: { ...home, name: "Elsewhere" },
    });
    noteAs(otherName);
    expect(() => note().tellCreated("1", newClaim(), record)).toThrow("has adopted it meanwhile");
  });

  test("is of one key, except for a record with the same name and URL", () => {
    note().keep("1", newClaim(), kept);
    note().take(record, claim);
    noteAs(otherName);
    expect(withOtherKey().hasOtherClaim("1")).toBe(false);
    expect(deleter(newClaim(), withOtherKey())).toBe("nobody");
    // It may have been renamed since the other process has read its state.
    const values = { ...home, name: "Another" };
    const renamed = { ...record, raw: values };
    expect(deleter(newClaim(), withOtherKey(), renamed)).toBe("nobody");
    expect(deleter(newClaim(), withOtherKey(), renamed, { ...kept, values })).toBe("this process");
    expect(note("127.0.0.1:4001").hasOtherClaim("1")).toBe(false);
    const nameless = { id: "2", raw: {} };
    withOtherKey().take(nameless, newClaim());
    noteAs(otherName);
    expect(note().hasOtherClaim("2", nameless)).toBe(false);
  });

  test("leaves a record alone that another resource of this process takes while it is read", async () => {
    note().take(record, newClaim());
    noteAs(otherName);
    const owners = new Owners();
    const claims = new Claims(new Ledger(owners), withOtherKey(), owners, monitor);
    const deleting = claims.beginDelete("1", { ...kept, claim }, () => {
      claims.takeCreated("1", undefined, true);
      return Promise.resolve({ ...record, raw: { ...home, name: "Another" } });
    });
    expect(await deleting).toBe("nobody");
  });

  test("of another address counts for a delete alone, if the record was adopted or imported there", () => {
    const elsewhere = () => note(engine, "81d0", "0e15e0");
    elsewhere().keep("1", newClaim(), kept);
    noteAs(otherName);
    expect(note().hasOtherClaim("1", record)).toBe(false);
    expect(deleter()).toBe("this process");
    fs.rmSync(file());
    elsewhere().take(record, newClaim());
    noteAs(otherName);
    expect(note().hasOtherClaim("1", record)).toBe(false);
    note().take(record, claim);
    note().keep("1", claim, { ...kept, importId: "1", tookExisting: true });
    expect(deleter()).toBe("nobody");
    expect(deleter(newClaim(), note(), { ...record, raw: { ...home, name: "Another" } })).toBe("nobody");
  });

  test("tells a process with another key that its new record was found by another, by name and URL", () => {
    note().tellFound("1", newClaim(), record);
    noteAs(otherName);
    withOtherKey().tellCreated("1", newClaim(), { ...record, raw: { ...home, name: "Another" } });
    const telling = () => withOtherKey().tellCreated("1", claim, record);
    expect(telling).toThrow("a resource of another provider has adopted it");
  });

  test("removes the files of runs that are over for a day, and no others", () => {
    for (const port of [4001, 4002, 4003])
      for (const id of ["1", "2"]) note(`127.0.0.1:${port}`).keep(id, claim, kept);
    const [running = "", over = "", ...recent] = fs.readdirSync(folder()).map((name) => join(folder(), name));
    const dayBefore = Date.now() / 1000 - 25 * 60 * 60;
    for (const [path, name] of [
      [running, otherName],
      [over, endedName],
    ] as const) {
      // Beside the process that counts, another one has ended.
      fs.writeFileSync(
        path,
        fs.readFileSync(path, "utf8").replaceAll(ownName, name).replace(name, endedName),
      );
      fs.utimesSync(path, dayBefore, dayBefore);
    }
    note().keep("1", claim, kept);
    const left = fs.readdirSync(folder()).map((name) => join(folder(), name));
    expect(left).toHaveLength(3);
    expect(left).toEqual(expect.arrayContaining([running, ...recent]));
  });

  test("needs no name of the user, which a container may not know", () => {
    jest.spyOn(os, "userInfo").mockImplementation(() => {
      throw new Error("uv_os_get_passwd returned ENOENT");
    });
    note().take(record, claim);
    expect(fs.readdirSync(folder())).toHaveLength(1);
  });

  test("is not written without an engine", () => {
    const none = new RecordNote(openRunNote(undefined), monitor, { hash: "", url: "", source: "" }, "81d0");
    none.take(record, claim);
    expect([none.hasOtherClaim("1"), fs.readdirSync(temporary)]).toEqual([false, []]);
  });
});

describe("a note that cannot be read", () => {
  withServer();

  test("does not keep a new record out of state", async () => {
    note().keep("1", claim, kept);
    const path = file();
    fs.rmSync(path);
    fs.mkdirSync(path);
    const lines: string[] = [];
    const print = (line: string): number => lines.push(line);
    const session = new FrontSession({ runNote: openRunNote(engine), print });
    const { id } = await hosted(monitor, settingsOf(), session).create(home);
    expect(storedIds()).toEqual([id]);
    expect(lines).toEqual([
      expect.stringMatching(/^uptime: .*EISDIR.* do not take into account what other providers/),
    ]);
  });

  test.each(["add", "linesAbout"])("is a warning to a create, also if only its %s fails", async (method) => {
    const fail = (): never => {
      throw new Error("EIO");
    };
    const lines: string[] = [];
    const surroundings = {
      runNote: { ...noNote, [method]: fail },
      print: (line: string) => lines.push(line),
    };
    const one = new Program("dynamic", {}, surroundings).resource();
    await one.up(home);
    expect(storedIds()).toEqual([one.state?.id]);
    expect(lines).toEqual([expect.stringMatching(/^uptime: EIO Until that is fixed, creates and deletes/)]);
  });

  test.each<[string, () => void, RegExp]>([
    ["is a link", () => fs.symlinkSync(newFolder(), folder()), /it is not a folder/],
    [
      "can be written by others",
      () => {
        fs.mkdirSync(folder());
        fs.chmodSync(folder(), 0o770);
      },
      /others may write it/,
    ],
    [
      "is of another user",
      () => {
        fs.mkdirSync(folder(), { mode: 0o700 });
        const uid = process.getuid?.() ?? 0;
        // Its name is that of the present user.
        jest.spyOn(fs, "lstatSync").mockImplementation(((path: string) => ({
          mode: fs.statSync(path).mode,
          isDirectory: () => true,
          uid: uid + 1,
        })) as unknown as typeof fs.lstatSync);
      },
      /it belongs to another user/,
    ],
  ])("because its folder %s, is not used; creates and deletes say so once", async (_, spoil, reason) => {
    spoil();
    const lines: string[] = [];
    const surroundings = { runNote: openRunNote(engine), print: (line: string) => lines.push(line) };
    const one = new Program("dynamic", {}, surroundings).resource();
    await one.up(home);
    await one.destroy();
    expect(storedIds()).toEqual([]);
    expect(fs.readdirSync(folder())).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(reason)]);
  });
});

describe("an attached plugin", () => {
  withServer();

  test("notes what a run adopts for that run, also if the next engine has attached meanwhile", async () => {
    note().keep("1", claim, kept);
    const attached = { address: engine, log: () => undefined } as unknown as EngineLog;
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
    notes = [];
  });
  withServer({ anyKey: true });

  const processWith = (settings: Record<string, string>, transport = httpTransport()): Program => {
    const neighbors = noteOf(notes, {});
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
  const createdBefore = async (program = processWith({})): Promise<ModelResource> => {
    const one = program.resource();
    await one.up(home);
    program.nextRun();
    notes.length = 0;
    return one;
  };

  /** Two creates, of which the second loses its request while the first makes its record; what the second fails with. */
  const crossed = async (one: ModelResource, two: ModelResource): Promise<string> => {
    let first: Promise<unknown> | undefined;
    emulator.fault = ({ method }) => {
      if (method !== "POST" || first) return undefined;
      first = one.up(home);
      return { kind: "cut", effect: false, answerDelayMs: 4000 };
    };
    const failure = await failureOf(two.up(home));
    await first;
    return failure;
  };

  test("one does not take the other's new record for its own lost create", async () => {
    const [one, two] = [processWith({}).resource(), processWith({}).resource()];
    expect(await crossed(one, two)).toBe("");
    expect([one.state?.id, two.state?.id]).toEqual(["1", "2"]);
  });

  test("one does not keep the record that the other has found as its own lost create", async () => {
    const [one, two] = [processWith({}).resource(), processWith({}).resource()];
    onCreates({ kind: "cut", effect: false }, { kind: "delay", answerDelayMs: 15_000 });
    const first = failureOf(one.up(home));
    while (posts() === 0) await new Promise(setImmediate);
    const second = failureOf(two.up(home));
    expect(await first).toBe("");
    expect(await second).toContain("a resource of another provider has adopted it meanwhile");
    expect([one.state?.id, two.state?.id, storedIds()]).toEqual(["1", undefined, ["1"]]);
  });

  test("one gets the record of the other's lost create, which has found the record of the one, with adoptExisting", async () => {
    const [first, second] = [processWith({}), processWith({})];
    const [one, two] = [first.resource(), second.resource()];
    onCreates(
      { kind: "cut", effect: { afterMs: 3000 }, answerDelayMs: 1000 },
      { kind: "delay", answerDelayMs: 15_000 },
    );
    const found = failureOf(one.up(home));
    while (posts() === 0) await new Promise(setImmediate);
    expect(await failureOf(two.up(home))).toMatch(/lost, may have made another[^]*with adoptExisting/);
    expect([await found, one.state?.id, storedIds()]).toEqual(["", "1", ["1", "2"]]);
    notes.length = 0;
    for (const each of [first, second]) each.nextRun({ "uptime:adoptExisting": "true" });
    await one.up(home);
    await two.up(home);
    expect([one.state?.id, two.state?.id, storedIds()]).toEqual(["1", "2", ["1", "2"]]);
  });

  test("one pauses the record that it has found, though the create of the other is answered with it meanwhile", async () => {
    const [one, two] = [processWith({}).resource(), processWith({}).resource()];
    const faults: Record<string, (Fault | undefined)[]> = {
      POST: [
        { kind: "cut", effect: false },
        { kind: "delay", answerDelayMs: 8000 },
      ],
      PATCH: [answer(503, undefined, { "retry-after": "10" })],
    };
    emulator.fault = ({ method }) => faults[method]?.shift();
    const first = failureOf(one.up({ ...home, pause: true }));
    while (posts() === 0) await new Promise(setImmediate);
    const second = failureOf(two.up(home));
    expect(await first).toBe("");
    expect(await second).toContain("a resource of another provider has adopted it meanwhile");
    expect([one.state?.outputs.pause, storedIds()]).toEqual([true, ["1"]]);
  });

  test.each([[[]], [["url"]]])(
    "one does not get the record that the other has created, which the server returns instead of a new one, without %j",
    async (hidden: string[]) => {
      emulator.dialect = { hidden };
      const [one, two] = [processWith({}), processWith({})];
      const [first, second, equal] = [one.resource(), two.resource(), two.resource()];
      await second.up({ ...home, name: "Other" });
      await first.up(home);
      const shown = Object.entries(home).filter(([key]) => !hidden.includes(key));
      on("POST", answer(200, { id: 2, ...Object.fromEntries(shown) }));
      expect(await failureOf(equal.up(home))).toContain("monitor 2, which was there before");
      expect(storedIds().sort()).toEqual(["1", "2"]);
    },
  );

  test("one that keeps the id of a job does not stop a create of the other that gets a record with that id", async () => {
    const [one, other] = [processWith({}).resource(), processWith({}).resource()];
    onCreates(answer(202, { id: 1, status: "queued" }));
    expect(await failureOf(one.up(home))).toContain("was created with the id 1, but");
    expect(await failureOf(other.up({ ...home, name: "Other" }))).toBe("");
    expect(other.state?.id).toBe("1");
  });

  test("one neither updates nor deletes its record if the server has given the id to a create of the other", async () => {
    const one = await createdBefore();
    emulator.monitors.remove(1);
    on("POST", () => answer(201, emulator.monitors.add({ ...home, id: 1 })));
    await processWith({}).resource().up(home);
    emulator.fault = undefined;
    emulator.forget();
    expect(await failureOf(one.up({ ...home, pause: true }))).toContain(
      "has given its id 1 to a monitor that this run has created",
    );
    await one.destroy();
    expect([emulator.writes(), storedIds()]).toEqual([[], ["1"]]);
  });

  test("one does not import a record twice by two keys of the same account", async () => {
    emulator.monitors.add(home);
    const accounts = JSON.stringify({ eu: { apiKey: otherKey } });
    const program = processWith({ "uptime:accounts": accounts });
    const failures = [];
    for (const [id, more] of [["1"], ["eu/1", { account: "eu" }]] as const)
      failures.push(await failureOf(program.resource().import(id, { ...home, ...more })));
    expect(failures).toEqual([
      "",
      expect.stringContaining("already manages monitor 1. Remove one of the two"),
    ]);
  });

  test("neither imports a record while one of them deletes it", async () => {
    const one = processWith({});
    const resource = one.resource();
    await resource.up(home);
    one.nextRun();
    const failures: string[] = [];
    on("DELETE", async () => {
      for (const program of [one, processWith({})])
        failures.push(await failureOf(program.resource().import("1", home)));
      return undefined;
    });
    await resource.destroy();
    for (const failure of failures) expect(failure).toContain("this run deletes");
    expect(failures).toHaveLength(2);
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
    const two = processWith({}).resource();
    two.state = structuredClone(one.state);
    expect(await two.preview({ ...home, url: "https://two.example/" })).toBe("update");
    await one.destroy();
    expect(storedIds()).toEqual([]);
  });

  test("one sends no request for a record whose delete the other has begun", async () => {
    const one = await createdBefore();
    const two = processWith({}).resource();
    two.state = structuredClone(one.state);
    on("DELETE", async () => {
      emulator.fault = undefined;
      await two.destroy();
      return undefined;
    });
    await one.destroy();
    expect(emulator.writes().filter(({ method }) => method === "DELETE")).toHaveLength(1);
    expect(storedIds()).toEqual([]);
  });

  test.each(["imported", "adopted"])(
    "one deletes its record if the other %s one with the same id in another account",
    async (how) => {
      const one = await createdBefore();
      otherAccount.monitors.add({ ...home, name: "Other" });
      const two = inOtherAccount(how === "imported" ? {} : adopting).resource();
      const declared = { ...home, name: "Other" };
      await (how === "imported" ? two.import("1", declared) : two.up(declared));
      expect(otherAccount.writes()).toEqual([]);
      await one.destroy();
      expect(storedIds()).toEqual([]);
    },
  );

  test.each<[string, () => Record<string, string>]>([
    ["with another key of the account", () => others],
    [
      "by another address of the server",
      () => ({ "uptime:baseUrl": emulator.url.replace("127.0.0.1", "localhost") }),
    ],
  ])("one does not delete its record if the other adopted it %s", async (_, settings) => {
    const one = await createdBefore();
    const adopter = processWith({ ...settings(), ...adopting }).resource();
    await adopter.up(home);
    expect(adopter.state?.id).toBe("1");
    await one.destroy();
    expect(storedIds()).toEqual(["1"]);
  });

  test("one does not delete its record if the other imported it with another key, and does not name the import any more", async () => {
    const one = await createdBefore();
    const importer = processWith(others).resource();
    const imported = (await importer.import("1", home)) as NonNullable<ModelResource["state"]>;
    if (front === "plugin") importer.state = { ...imported, unfinished: false };
    // The first update forgets the id of the import.
    for (const interval of [60, 300, 900]) {
      importer.nextRun(others);
      notes.length = 0;
      await importer.up({ ...home, interval });
    }
    await one.destroy();
    expect(storedIds()).toEqual(["1"]);
  });

  test.each(["stays as it is", "is renamed"])(
    "one does not delete its record in the next run if the other adopted it with another key, and %s",
    async (what) => {
      const one = await createdBefore();
      const adopter = processWith({ ...others, ...adopting }).resource();
      await adopter.up(home);
      // The run ends before the old resource is deleted.
      adopter.nextRun({ ...others, ...adopting });
      notes.length = 0;
      const declared = what === "is renamed" ? { ...home, name: "Renamed" } : home;
      await adopter.up(declared);
      await one.destroy();
      expect(storedIds()).toEqual(["1"]);
      await adopter.destroy();
      expect(storedIds()).toEqual([]);
    },
  );

  describe("with two keys of one account,", () => {
    test("one does not import what the other keeps", async () => {
      const one = await createdBefore();
      const other = processWith(others).resource();
      // In another spelling.
      await one.up({ ...home, url: home.url.replace("example", "EXAMPLE") });
      const failure = await failureOf(other.import("1", home));
      expect(failure).toContain("a resource of another provider already manages monitor 1");
    });

    test("one that has imported a record is an error for the other that keeps it", async () => {
      const one = await createdBefore();
      expect(await failureOf(processWith(others).resource().import("1", home))).toBe("");
      const failure = await failureOf(one.up({ ...home, interval: 300 }));
      expect(failure).toContain("and a resource of another provider");
    });

    test("one does not adopt what the other has just created", async () => {
      const [one, two] = [processWith({}).resource(), processWith({ ...others, ...adopting }).resource()];
      await one.up(home);
      await two.up(home);
      expect([one.state?.id, two.state?.id, storedIds().sort()]).toEqual(["1", "2", ["1", "2"]]);
    });

    test("one does not take the other's new record for its own lost create", async () => {
      const [one, two] = [processWith({}).resource(), processWith(others).resource()];
      emulator.monitors.add({ ...home, name: "Older" });
      expect(await crossed(one, two)).toContain('so nothing is sent again: 2 ("Home"');
      expect([one.state?.id, two.state?.id, storedIds().length]).toEqual(["2", undefined, 2]);
    });

    test.each(["created", "imported"])(
      "one leaves the record alone that it has %s and the other keeps, and the other is an error if both are declared",
      async (how) => {
        const one = await createdBefore();
        const two = processWith(others).resource();
        two.state = structuredClone(one.state);
        Object.assign(two.state?.outputs ?? {}, { __claim: newClaim() });
        const imported = how === "created" ? one : two;
        Object.assign(imported.state?.outputs ?? {}, { importId: "1" });
        await one.up({ ...home, interval: 300 });
        expect(await failureOf(two.up({ ...home, interval: 900 }))).toContain("is managed by both");
        await two.destroy();
        expect(storedIds()).toEqual(["1"]);
        notes.length = 0;
        await one.destroy();
        expect(storedIds()).toEqual([]);
      },
    );
  });

  test("each is brought up and deleted if two accounts have equal records with the same ids", async () => {
    const both = [processWith({}).resource(), inOtherAccount().resource()] as const;
    for (const one of both) await one.up(home);
    notes.length = 0;
    for (const one of both) expect(await failureOf(one.up({ ...home, interval: 300 }))).toBe("");
    // The program still has the other one.
    expect(await failureOf(both[1].destroy())).toBe("");
    expect([storedIds(), otherAccount.monitors.size]).toEqual([["1"], 0]);
    notes.length = 0;
    expect(await failureOf(both[0].destroy())).toBe("");
    expect(storedIds()).toEqual([]);
  });

  test("one does not adopt, with another key of the account, what the other is about to delete", async () => {
    const two = processWith({ ...others, ...adopting }).resource();
    const send = httpTransport();
    const deleting = processWith({}, async (request) => {
      if (request.method === "DELETE") await two.up(home);
      return send(request);
    });
    const one = await createdBefore(deleting);
    await one.destroy();
    expect([two.state?.id, storedIds()]).toEqual(["2", ["2"]]);
  });
});

describe.each(fronts)("with a note that cannot be used (%s)", (front) => {
  withServer();
  beforeEach(() => {
    emulator.monitors.add(home);
  });

  const unwritable = (): void => {
    temporary = join(temporary, "file");
    fs.writeFileSync(temporary, "");
  };
  const full = (): void => {
    jest.spyOn(fs, "appendFileSync").mockImplementation(() => {
      throw new Error("ENOSPC");
    });
  };
  const unreadable = (): void => {
    jest.spyOn(fs, "readSync").mockImplementation(() => {
      throw new Error("EIO");
    });
  };
  const adopt = (program: Program): Promise<unknown> => program.resource().up(home);
  const importIt = (program: Program): Promise<unknown> => program.resource().import("1", home);

  test.each([
    ["an adoption", "written", adopt, unwritable],
    ["an import", "written", importIt, unwritable],
    ["an adoption", "added to", adopt, full],
    ["an import", "added to", importIt, full],
    ["an adoption", "read", adopt, unreadable],
    ["an import", "read", importIt, unreadable],
  ] as const)(
    "%s does nothing if it cannot be %s, and the error names the folder and TMPDIR",
    async (_, _what, operation, spoil) => {
      spoil();
      const settings = { "uptime:adoptExisting": "true" };
      const failure = await failureOf(
        operation(new Program(front, settings, { runNote: openRunNote(engine), print: () => undefined })),
      );
      expect(failure).toContain(`the folder ${folder()} cannot be used (`);
      expect(failure).toContain("Set TMPDIR (on Windows, TEMP) to a folder that this user can write.");
      expect(emulator.writes()).toEqual([]);
    },
  );
});
