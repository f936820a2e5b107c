import { keyFingerprintOf } from "../../provider/api/settings";
import type { Emulator, Fault, ReceivedRequest } from "../../provider/emulator";
import { kinds, type Kind } from "../support/calls";
import { startEmulator } from "../support/emulator";
import type { ModelResource } from "../support/model";
import { defaults, home as record } from "../support/monitors";
import { destroyAll, each, fronts, Program, refreshAll, times, type Front } from "../support/program";
import { isList, lists, sentRequests, storedIds } from "../support/sent";
import {
  answer,
  clock,
  emulator,
  failureOf,
  myKey,
  on,
  otherKey,
  stored,
  withServer,
} from "../support/server";

/** All that `check` fills in is declared, so that no preview has anything to add. */
const home = { ...record, ...defaults };
const others = { "uptime:apiKey": otherKey };
const mine = { "uptime:apiKey": myKey };
/** The account of the one key is that of the other. */
const sameAccount = (from = fingerprintOf(otherKey), to = fingerprintOf(myKey)) => ({
  "uptime:sameAccount": `${from}=${to}`,
});

withServer({ anyKey: true });

const declared = (kind: Kind, number: number) =>
  kind === "monitor"
    ? { ...home, name: `Home ${number}`, url: `https://${number}.example/` }
    : { name: `${number}.example` };

const writes: [string, (one: ModelResource) => Promise<unknown>][] = [
  ["an update", (one) => one.up({ ...declared("monitor", 1), interval: 300 })],
  ["a delete", (one) => one.destroy()],
];

type Several = [ModelResource, ...ModelResource[]];

/** So many new resources of a program, which state has with the fingerprint of the program's present key. */
async function created(program: Program, count: number, kind: Kind = "monitor"): Promise<Several> {
  const all = Array.from({ length: count }, () => program.resource(kind));
  await each([...all.entries()], ([number, one]) => one.up(declared(kind, number + 1)));
  return all as Several;
}

/** So many resources that another run has created with these settings, in a new run with the present key. */
async function createdIn(settings: Record<string, string>, front: Front, count: number, kind?: Kind) {
  const program = new Program(front, settings);
  const all = await created(program, count, kind);
  program.nextRun(mine);
  emulator.forget();
  return [all, program] as const;
}
type Created = ReturnType<typeof createdIn>;
const createdBefore = (front: Front, count: number, kind?: Kind): Created =>
  createdIn({}, front, count, kind);
/** Somebody with another key has made the state. */
const createdByOthers = (front: Front, count: number, kind?: Kind): Created =>
  createdIn(others, front, count, kind);

/** By hand, in the web UI. */
function remove(...all: (ModelResource | undefined)[]): void {
  for (const one of all) emulator.monitors.remove(one?.state?.id ?? "");
}

function removeEverything(): void {
  emulator.monitors.clear();
  emulator.domains.clear();
}

/** So that the list is never without records. */
const addStranger = (): unknown =>
  emulator.monitors.add({ ...record, name: "A stranger's", url: "https://stranger.example/" });

const fingerprintOf = (key: string, url = emulator.url): string => keyFingerprintOf({ url }, key);

describe.each(fronts)("with the present key (%s)", (front) => {
  describe("a refresh", () => {
    test("removes a missing record from state if the list does not hold it, however many are missing", async () => {
      const [all] = await createdBefore(front, 6);
      remove(...all);
      addStranger();
      expect(await refreshAll(all)).toEqual(times(6, "gone"));
    });

    test("keeps the others if the first eight of twelve are missing and eight are read at a time, and waits for none", async () => {
      const [all] = await createdBefore(front, 12);
      remove(...all.slice(0, 8));
      const begun = clock.now();
      expect(await refreshAll(all, 8)).toEqual([...times(8, "gone"), ...times(4, "there")]);
      // The first reads of a process are counted for 20 ms; no read waits for the others.
      expect(clock.now()).toBe(begun + 20);
    });

    test("reads one list for many missing records, and another one after a minute", async () => {
      const [all] = await createdBefore(front, 16);
      remove(...all);
      addStranger();
      await refreshAll(all.slice(0, 12), 8);
      expect(lists()).toBe(1);
      await clock.sleep(61_000);
      await refreshAll(all.slice(12), 8);
      expect(lists()).toBe(2);
    });

    test("fails for a record that the list holds, and deleting the resource still works", async () => {
      const [all, program] = await createdBefore(front, 2);
      emulator.fault = ({ method, path }) =>
        method === "GET" && /\/\d+$/.test(path) ? answer(404) : undefined;
      expect(await refreshAll(all)).toEqual(["error", "error"]);
      program.nextRun();
      expect(await destroyAll(all)).toEqual(["deleted", "deleted"]);
      expect(storedIds()).toEqual([]);
    });

    test("reads the list once more if it is older than the 404", async () => {
      const [all] = await createdBefore(front, 3);
      remove(all[0]);
      expect(await refreshAll(all.slice(0, 1))).toEqual(["gone"]);
      await clock.sleep(1000);
      remove(all[1]);
      expect(await refreshAll(all.slice(1, 2))).toEqual(["gone"]);
      expect(lists()).toBe(2);
      await clock.sleep(1000);
      emulator.fault = ({ path }) => (path.endsWith("/3") ? answer(404) : undefined);
      expect(await refreshAll(all.slice(2))).toEqual(["error"]);
      expect(lists()).toBeLessThanOrEqual(4);
    });

    test("reads the list once more if it is older than the record, which this run has created", async () => {
      const [all, program] = await createdBefore(front, 2);
      remove(all[0]);
      expect(await refreshAll(all.slice(0, 1))).toEqual(["gone"]);
      const late = program.resource();
      await late.up({ ...home, name: "Made since" });
      on(({ path }) => path.endsWith("/3"), answer(404));
      expect(await refreshAll([late])).toEqual(["error"]);
    });

    test("fails if the list is empty and the process knows several records", async () => {
      const [all, program] = await createdBefore(front, 3);
      remove(...all);
      expect(await refreshAll(all)).toEqual(times(3, "error"));
      program.nextRun();
      // What has been heard of before that is not known.
      expect(await refreshAll(all, 1)).toEqual(["gone", "error", "error"]);
      const { "uptime:sameAccount": isEmpty } = sameAccount(fingerprintOf(myKey));
      expect(await failureOf(all[1]?.refresh() ?? Promise.resolve())).toContain(
        `pulumi config set uptime:sameAccount ${isEmpty}`,
      );
      program.nextRun({ "uptime:sameAccount": isEmpty });
      expect(await refreshAll(all.slice(1))).toEqual(times(2, "gone"));
    });

    test("does not take a list for empty that is older than a create of this run", async () => {
      const [all, program] = await createdBefore(front, 2);
      remove(...all);
      // The list that is read now is empty, so nothing is removed.
      expect(await refreshAll(all, 1)).toEqual(["gone", "error"]);
      await clock.sleep(1000);
      await program.resource().up({ ...home, name: "Made since" });
      expect(await refreshAll(all.slice(1))).toEqual(["gone"]);
    });

    test("removes the only record of its kind if the list is empty", async () => {
      const program = new Program(front);
      const [one] = await created(program, 1);
      const domains = front === "dynamic" ? await created(program, 2, "domain") : [];
      program.nextRun();
      removeEverything();
      addStranger();
      expect(await refreshAll(domains)).toEqual(times(domains.length, "error"));
      removeEverything();
      program.nextRun();
      expect(await refreshAll([one])).toEqual(["gone"]);
    });
  });

  describe("a delete", () => {
    test.each(kinds)(
      "of a %s that answers 404 succeeds if the first page of the list can be read, once",
      async (kind) => {
        const [all] = await createdBefore(front, 6, kind);
        removeEverything();
        expect(await destroyAll(all)).toEqual(times(6, "deleted"));
        expect(lists()).toBe(1);
        // The API's word on the delete counts, also after a read that found nothing.
        expect(sentRequests().filter((request) => request.startsWith("DELETE"))).toHaveLength(6);
      },
    );

    test.each(kinds)("of a %s fails while a proxy answers everything with 404", async (kind) => {
      const [all, program] = await createdBefore(front, 2, kind);
      emulator.fault = () => answer(404, "default backend - 404");
      const failure = await failureOf(all[0].destroy());
      expect(failure).toContain("cannot be read, so it is not known whether that is the API's response");
      for (const command of ["pulumi state delete URN", "pulumi stack rm --force"])
        expect(failure).toContain(command);
      emulator.fault = undefined;
      program.nextRun();
      expect(await destroyAll(all)).toEqual(["deleted", "deleted"]);
      expect(emulator[`${kind}s`].size).toBe(0);
    });

    test("fails while a proxy answers everything with 404, also if a refresh has just read the list", async () => {
      const [all] = await createdBefore(front, 6);
      await refreshAll(all);
      await clock.sleep(20_000);
      emulator.fault = () => answer(404, "default backend - 404");
      expect(await destroyAll(all)).toEqual(times(6, "error"));
      expect(storedIds()).toHaveLength(6);
    });

    test("that answers 404 succeeds even if the list holds the record", async () => {
      const [all] = await createdBefore(front, 2);
      emulator.fault = ({ path }) => (/\/\d+$/.test(path) ? answer(404) : undefined);
      expect(await destroyAll(all)).toEqual(["deleted", "deleted"]);
    });

    test.each(kinds)("that answers 404 fails if its own address shows the record (%s)", async (kind) => {
      const [[one]] = await createdBefore(front, 1, kind);
      on("DELETE", answer(404, "Cannot DELETE"));
      expect(await failureOf(one.destroy())).toMatch(
        /DELETE .* status 404: Cannot DELETE, and the \w+ still exists\./,
      );
    });

    describe.each(kinds)("that is answered with words that may mean anything (%s)", (kind) => {
      const answered = (effect: boolean | { afterMs: number }): Fault => ({
        kind: "answer",
        effect,
        status: 200,
        body: { message: "Down for maintenance" },
      });

      test.each([true, { afterMs: 2000 }])("is done if its record is gone (%j)", async (effect) => {
        const [[one]] = await createdBefore(front, 1, kind);
        on("DELETE", answered(effect));
        await one.destroy();
        expect(storedIds(kind)).toEqual([]);
        expect(sentRequests().filter((request) => request.startsWith("DELETE"))).toHaveLength(1);
      });

      test("is done if a redirect to another page answers it, and its record is gone", async () => {
        const [[one]] = await createdBefore(front, 1, kind);
        const headers = { location: `/${kind}s` };
        on("DELETE", { kind: "answer", effect: true, status: 302, headers, body: "<p>Redirecting" });
        await one.destroy();
        expect(storedIds(kind)).toEqual([]);
      });

      test("is an error if a proxy then answers everything with 404, and state keeps the record", async () => {
        const [[one]] = await createdBefore(front, 1, kind);
        const proxy = answer(404, "default backend - 404");
        // A domain is read before it is deleted.
        let isDown = false;
        emulator.fault = ({ method }) => {
          if (isDown) return proxy;
          isDown = method === "DELETE";
          return isDown ? answered(false) : undefined;
        };
        expect(await destroyAll([one])).toEqual(["error"]);
        expect(storedIds(kind)).toHaveLength(1);
      });

      test("is an error if its record cannot be read then, though the list can", async () => {
        const [[one]] = await createdBefore(front, 1, kind);
        let isDeleting = false;
        emulator.fault = ({ method, path }) => {
          isDeleting ||= method === "DELETE";
          if (method === "DELETE") return answered(false);
          return isDeleting && path.endsWith("/1") ? answer(403) : undefined;
        };
        expect(await destroyAll([one])).toEqual(["error"]);
        expect(storedIds(kind)).toEqual(["1"]);
      });

      test("is an error if its record stays, and the next run sends it again", async () => {
        const [[one], program] = await createdBefore(front, 1, kind);
        on("DELETE", answered(false));
        expect(await failureOf(one.destroy())).toMatch(
          /^DELETE .*\/1 returned ".*Down for maintenance.*", and the \w+ still exists\./,
        );
        emulator.fault = undefined;
        program.nextRun();
        expect(await destroyAll([one])).toEqual(["deleted"]);
        expect(storedIds(kind)).toEqual([]);
      });
    });

    test("whose answer was lost is finished by the next run", async () => {
      const [all, program] = await createdBefore(front, 8);
      on("DELETE", { kind: "answer", effect: true, status: 504, body: "" });
      await destroyAll(all);
      emulator.fault = undefined;
      program.nextRun();
      const left = all.filter(({ state }) => state);
      expect(await destroyAll(left)).toEqual(times(left.length, "deleted"));
      expect(storedIds()).toEqual([]);
    });
  });

  test("an update does not read what it ignores and does not send", async () => {
    const one = new Program(front).resource("monitor", { ignoreChanges: ["interval"] });
    await one.up(home);
    emulator.forget();
    await one.up({ ...home, pause: true });
    expect(sentRequests()).toEqual(["PATCH /api/v1/monitors/1"]);
  });

  test.each(writes)("%s reads nothing first", async (_, operation) => {
    const [[one]] = await createdBefore(front, 1);
    await operation(one);
    expect(sentRequests()[0]).not.toMatch(/^GET/);
  });

  test("updating a record fails without such advice while a proxy answers everything with 404", async () => {
    const [[one]] = await createdBefore(front, 1);
    emulator.fault = () => answer(404, "default backend - 404");
    const failure = await failureOf(one.up({ ...declared("monitor", 1), interval: 300 }));
    expect(failure).toContain("so it is not known whether that is the API's response");
    expect(failure).not.toContain("--refresh");
  });

  test("updating a missing record fails, says how to create it again, and keeps it in state", async () => {
    const [[one]] = await createdBefore(front, 1);
    remove(one);
    expect(await failureOf(one.up({ ...declared("monitor", 1), interval: 300 }))).toMatch(
      /Monitor 1 does not exist .* Run `pulumi up --refresh --run-program`/,
    );
    expect(one.state).toBeDefined();
  });

  test("updating a record that is removed before it can be verified fails in the same way, and nothing is left to send", async () => {
    const [[one]] = await createdBefore(front, 1);
    on("PATCH", () => {
      remove(one);
      return answer(204, "");
    });
    expect(await failureOf(one.up({ ...declared("monitor", 1), interval: 300 }))).toMatch(
      /^Monitor 1 does not exist .* Run `pulumi up --refresh --run-program`/,
    );
    expect(one.state?.unfinished).toBe(false);
  });

  test("state without a key fingerprint counts as the present account", async () => {
    const [all] = await createdByOthers(front, 3);
    for (const one of all) forgetKey(one);
    remove(...all);
    addStranger();
    expect(await refreshAll(all.slice(0, 2))).toEqual(["gone", "gone"]);
    expect(await destroyAll(all.slice(2))).toEqual(["deleted"]);
  });
});

describe.each(fronts)("a record is gone (%s)", (front) => {
  test.each<[string, Fault]>([
    ["404", answer(404)],
    ["410", answer(410)],
    ["204", answer(204, "")],
    ["200 without a body", answer(200, "")],
    ["200 with nothing in it", answer(200, { data: null })],
  ])("if a GET is answered with %s", async (_, fault) => {
    const program = new Program(front);
    const all = await created(program, 1);
    remove(all[0]);
    addStranger();
    program.nextRun();
    emulator.fault = ({ path }) => (path.endsWith("/1") ? fault : undefined);
    expect(await refreshAll(all)).toEqual(["gone"]);
  });

  test("if it is marked as deleted, also in the list", async () => {
    const [all] = await createdBefore(front, 2);
    // Which counts the record all the same.
    emulator.dialect = { paging: "meta" };
    emulator.monitors.edit(1, { deleted_at: "2030-01-01T00:00:00Z" });
    expect(await refreshAll(all)).toEqual(["gone", "there"]);
  });

  test("but not if the mark is not set", async () => {
    const [all] = await createdBefore(front, 1);
    emulator.monitors.edit(1, { deleted_at: null, trashed_at: "", deleted: false, is_deleted: 0 });
    expect(await refreshAll(all)).toEqual(["there"]);
  });

  test("but not if an update is answered with 404 and the record is there: the answer is about something else", async () => {
    const [[one]] = await createdBefore(front, 1);
    on(({ method }) => ["PATCH", "PUT"].includes(method), answer(404, { message: "No alert channel 5." }));
    const failure = await failureOf(one.up({ ...declared("monitor", 1), alertChannelIds: [5] }));
    expect(failure).toContain("No alert channel 5");
    expect(failure).not.toMatch(/does not exist|removes the Monitor from state/);
  });

  const faults: [string, Fault][] = [
    ["401", answer(401)],
    ["403", answer(403)],
    ["500", answer(500)],
    ["502", answer(502, "<html>Bad gateway</html>")],
    ["503", answer(503)],
    ["a web page", answer(200, "<html>Hello</html>")],
    ["a code that may mean a failure", answer(200, { code: 10001, data: null })],
    ["a word of failure under another name", answer(200, { result: "error", data: null })],
    ["another record", answer(200, { data: { id: 99, ...record } })],
    ["a connection that is cut", { kind: "cut", effect: false }],
  ];

  test.each(faults)("but not if a GET or a DELETE is answered with %s", async (_, fault) => {
    const [all] = await createdBefore(front, 2);
    removeEverything();
    addStranger();
    emulator.fault = () => fault;
    expect(await refreshAll(all)).toEqual(["error", "error"]);
    expect(await destroyAll(all)).toEqual(["error", "error"]);
  });

  test("but not if the list is empty at first, and then holds it: one of two backends is down", async () => {
    const [all] = await createdBefore(front, 2);
    let lists = 0;
    emulator.fault = (request) => {
      if (isList(request)) return lists++ === 0 ? answer(200, { data: [] }) : undefined;
      return request.path.endsWith("/1") ? answer(200, { data: null }) : undefined;
    };
    expect(await refreshAll(all)).toEqual(["error", "there"]);
  });

  test("but not if it is answered with 403, whose error says what to do if it is", async () => {
    const [[one]] = await createdBefore(front, 1);
    remove(one);
    emulator.fault = () => answer(403);
    for (const operation of [() => one.refresh(), () => one.destroy()])
      expect(await failureOf(operation())).toMatch(
        /may not do this\..* If state has this record .*`pulumi state delete URN`\.$/,
      );
  });

  test.each(faults)("but not for a refresh whose list is answered with %s", async (_, fault) => {
    const [all] = await createdBefore(front, 2);
    removeEverything();
    on(isList, fault);
    expect(await refreshAll(all)).toEqual(["error", "error"]);
  });
});

describe.each(fronts)("with another key (%s)", (front) => {
  test("keeps a missing record in state, also if other records are found, and sends no delete", async () => {
    const [all] = await createdByOthers(front, 3);
    expect(await refreshAll(all.splice(2))).toEqual(["there"]);
    remove(...all);
    expect(await refreshAll(all)).toEqual(["error", "error"]);
    expect(await destroyAll(all)).toEqual(["error", "error"]);
    expect(all.every(({ state }) => state)).toBe(true);
    expect(emulator.writes()).toEqual([]);
  });

  test("a delete that is answered with 404 is an error if the record is still there", async () => {
    const [all] = await createdByOthers(front, 1);
    on("DELETE", answer(404));
    expect(await destroyAll(all)).toEqual(["error"]);
  });

  test.each(kinds)("a delete of a %s is done if its answer is lost", async (kind) => {
    const [all] = await createdByOthers(front, 1, kind);
    const faults = [stored(504, "")];
    on("DELETE", () => faults.shift());
    expect(await destroyAll(all)).toEqual(["deleted"]);
    expect(storedIds(kind)).toEqual([]);
  });

  test("removes missing records with uptime:sameAccount, for which the errors have the command", async () => {
    const [all, program] = await createdByOthers(front, 4);
    remove(...all);
    addStranger();
    const { "uptime:sameAccount": pair } = sameAccount();
    const command = `pulumi config set uptime:sameAccount ${pair}`;
    for (const one of all) expect(await failureOf(one.refresh())).toContain(`\`${command}\``);
    expect(await failureOf(all[0].destroy())).toContain(`\`${command}\``);
    // What is set already is repeated.
    program.nextRun({ "uptime:sameAccount": "0000=1111" });
    expect(await failureOf(all[0].refresh())).toContain(`uptime:sameAccount 0000=1111,${pair}\``);
    program.nextRun(sameAccount());
    expect(await refreshAll(all.slice(0, 2))).toEqual(["gone", "gone"]);
    expect(await destroyAll(all.slice(2))).toEqual(["deleted", "deleted"]);
  });

  test("a pair that stays set does no harm with a third key", async () => {
    const [all, program] = await createdByOthers(front, 2);
    program.nextRun({ "uptime:apiKey": "third-key", ...sameAccount() });
    remove(all[0]);
    emulator.monitors.edit(2, { name: "Other" });
    expect(await refreshAll(all)).toEqual(["error", "error"]);
  });

  describe.each(writes)("%s", (_, operation) => {
    test("reads the record first, and succeeds if it has the same name and URL", async () => {
      const [[one]] = await createdByOthers(front, 1);
      await operation(one);
      expect(sentRequests()[0]).toBe("GET /api/v1/monitors/1");
      expect(emulator.writes()).toHaveLength(1);
    });

    test.each([{ name: "Other" }, { url: "https://other.example/" }])(
      "of a record with %j fails until uptime:sameAccount has the pair",
      async (edit) => {
        const [[one], program] = await createdByOthers(front, 1);
        emulator.monitors.edit(1, edit);
        const { "uptime:sameAccount": pair } = sameAccount();
        expect(await failureOf(operation(one))).toContain(`uptime:sameAccount ${pair}`);
        expect(emulator.writes()).toEqual([]);
        program.nextRun(sameAccount());
        await operation(one);
        expect(emulator.writes()).toHaveLength(1);
      },
    );
  });

  test("an update that renames the record, and whose answer was lost, is sent again by the next up", async () => {
    const program = new Program(front, others);
    const [one] = await created(program, 1);
    on("PATCH", stored(500, {}));
    const renamed = { ...declared("monitor", 1), name: "Renamed" };
    expect(await failureOf(one.up(renamed))).toContain("sends the update again");
    emulator.fault = undefined;
    program.nextRun(mine);
    // Another name than the declared one may be another account's.
    expect(await failureOf(one.up(declared("monitor", 1)))).toContain("uptime:sameAccount");
    expect(await one.up(renamed)).toBe("update");
    expect(keyOf(one)).toBe(fingerprintOf(myKey));
    expect(storedIds()).toEqual(["1"]);
  });

  test("a read renews the digits of the key, and refuses a record with another name", async () => {
    const [all] = await createdByOthers(front, 2);
    emulator.monitors.edit(2, { name: "Other" });
    expect(await refreshAll(all)).toEqual(["there", "error"]);
    // Otherwise a second refresh would find that name in state, and accept the record.
    expect(await refreshAll(all)).toEqual(["there", "error"]);
    expect(all.map(keyOf)).toEqual([fingerprintOf(myKey), fingerprintOf(otherKey)]);
  });

  test("removes missing records once a refresh has renewed the digits of the key", async () => {
    const [all, program] = await createdByOthers(front, 3);
    await refreshAll(all);
    program.nextRun();
    remove(...all);
    addStranger();
    expect(await refreshAll(all)).toEqual(times(3, "gone"));
  });

  test("of several people with a key each, only the one who wrote the state removes a missing record", async () => {
    const program = new Program(front);
    const own = await created(program, 2);
    program.nextRun(others);
    const colleagues = await created(program, 1);
    const all = [...own, ...colleagues];
    remove(...all);
    addStranger();
    program.nextRun(others);
    expect(await refreshAll(all)).toEqual(["error", "error", "gone"]);
    program.nextRun(mine);
    expect(await refreshAll(all.slice(0, 2))).toEqual(["gone", "gone"]);
  });
});

describe.each(fronts)("at another address (%s)", (front) => {
  let moved: Emulator;
  beforeEach(async () => {
    moved = await startEmulator({ apiKey: myKey, sleep: clock.hold, settled: true });
  });

  /** Monitors of a server that has moved since. */
  async function createdElsewhere(settings: Record<string, string>): Promise<[Several, Program]> {
    const program = new Program(front, settings);
    const all = await created(program, 3);
    for (const one of emulator.monitors.all()) moved.monitors.add(one);
    program.nextRun({ ...mine, "uptime:baseUrl": moved.url });
    return [all, program];
  }

  test.each([mine, others])(
    "every operation fails until uptime:sameAccount has the pair: %j",
    async (settings) => {
      const [all, program] = await createdElsewhere(settings);
      const pair = sameAccount(fingerprintOf(settings["uptime:apiKey"]), fingerprintOf(myKey, moved.url));
      const command = `pulumi config set uptime:sameAccount ${pair["uptime:sameAccount"]}`;
      expect(await failureOf(all[0].refresh())).toContain(`State was made with another address`);
      expect(await failureOf(all[0].refresh())).toContain(command);
      expect(await failureOf(all[0].preview(declared("monitor", 1)))).toContain(command);
      expect(await destroyAll(all)).toEqual(times(3, "error"));
      program.nextRun(pair);
      moved.monitors.remove(1);
      moved.monitors.remove(2);
      expect(await refreshAll(all.slice(0, 1))).toEqual(["gone"]);
      expect(await destroyAll(all.slice(1, 2))).toEqual(["deleted"]);
      expect(await refreshAll(all.slice(2))).toEqual(["there"]);
      expect(all.slice(2).map(keyOf)).toEqual([fingerprintOf(myKey, moved.url)]);
      // Then the setting is no longer needed.
      program.nextRun({ "uptime:sameAccount": "" });
      expect(await refreshAll(all.slice(2))).toEqual(["there"]);
    },
  );

  test("the error names the settings that can have the former address", async () => {
    const moveTo: [Kind, Record<string, string>, string][] = [
      ["domain", { "uptime:baseUrl": moved.url }, "uptime:baseUrl"],
      ["monitor", { "uptime:baseUrl": moved.url }, "uptime:baseUrl or uptime:monitorsBaseUrl"],
      ["monitor", { "uptime:monitorsBaseUrl": moved.url }, "uptime:monitorsBaseUrl"],
    ];
    for (const [kind, settings, names] of moveTo) {
      const program = new Program(front, mine);
      const [one] = await created(program, 1, kind);
      program.nextRun(settings);
      expect(await failureOf(one.refresh())).toContain(`otherwise set the former address again (${names}).`);
    }
  });

  test("the command of a later error has the pairs of earlier ones too", async () => {
    const accounts = JSON.stringify({ other: { apiKey: otherKey } });
    const program = new Program(front, { ...mine, "uptime:accounts": accounts });
    const [one, other] = program.resources();
    await one.up(declared("monitor", 1));
    await other.up({ ...declared("monitor", 2), account: "other" });
    program.nextRun({ "uptime:baseUrl": moved.url });
    const [pair, otherPair] = [myKey, otherKey].map(
      (key) => `${fingerprintOf(key)}=${fingerprintOf(key, moved.url)}`,
    );
    const command = `run \`pulumi config set uptime:sameAccount ${pair}`;
    expect(await failureOf(one.refresh())).toContain(`${command}\`;`);
    expect(await failureOf(one.refresh())).toContain(`${command}\`;`);
    expect(await failureOf(other.refresh())).toContain(
      `${command},${otherPair}\` (it has the pairs of other errors too);`,
    );
  });

  test("but not the pair that says that an account is really empty", async () => {
    const accounts = (apiKey: string) => ({ "uptime:accounts": JSON.stringify({ other: { apiKey } }) });
    const program = new Program(front, { ...mine, ...accounts(otherKey) });
    const own = await created(program, 2);
    const other = program.resource();
    await other.up({ ...declared("monitor", 3), account: "other" });
    program.nextRun(accounts("third-key"));
    removeEverything();
    expect(await refreshAll(own)).toEqual(["error", "error"]);
    const pair = `${fingerprintOf(otherKey)}=${fingerprintOf("third-key")}`;
    expect(await failureOf(other.refresh())).toContain(`pulumi config set uptime:sameAccount ${pair}\`;`);
  });

  test("a new record with the same id does not hide that the old one is of another server", async () => {
    const program = new Program(front, mine);
    const [old] = await created(program, 1);
    program.nextRun({ ...mine, "uptime:baseUrl": moved.url });
    expect(await failureOf(old.preview(declared("monitor", 1)))).toContain("uptime:sameAccount");
    const [added] = await created(program, 1);
    expect(added.state?.id).toBe(old.state?.id);
    expect(await failureOf(old.destroy())).toContain("uptime:sameAccount");
  });
});

describe("the digits of address and key in state", () => {
  test.each<[string, (one: ModelResource) => Promise<unknown>]>([
    ["an update", (one) => one.up({ ...declared("monitor", 1), interval: 300 })],
    ["a refresh that finds nothing new", (one) => one.refresh()],
    [
      "a refresh that finds drift",
      (one) => {
        emulator.monitors.edit(1, { interval: 900 });
        return one.refresh();
      },
    ],
    ["a replacement", (one) => one.replace(declared("monitor", 1))],
  ])("is written by a create, and again by %s", async (_, operation) => {
    const [[one]] = await createdByOthers("dynamic", 1);
    expect(keyOf(one)).toBe(fingerprintOf(otherKey));
    const address = one.state?.outputs.__server;
    await operation(one);
    expect(keyOf(one)).toBe(fingerprintOf(myKey));
    expect(one.state?.outputs.__server).toBe(address);
  });

  test("is written by an import and an adoption", async () => {
    const importId = String(emulator.monitors.add(record).id);
    const imports = new Program("dynamic").resource();
    await imports.up({ ...home, importId });
    const adopting = { ...others, "uptime:adoptExisting": "true" };
    const adopts = new Program("dynamic", adopting).resource();
    await adopts.up(home);
    expect(emulator.writes()).toEqual([]);
    expect([imports, adopts].map(keyOf)).toEqual([fingerprintOf(myKey), fingerprintOf(otherKey)]);
  });

  test("is written by an operation that failed half-way, and by the read of a record that is not managed", async () => {
    emulator.dialect = { notStored: ["request_auth_username"] };
    const program = new Program("dynamic");
    const one = program.resource();
    expect(await failureOf(one.up({ ...home, requestAuthUsername: "me" }))).toContain("requestAuthUsername");
    expect(one.state?.outputs).toMatchObject({ __partial: true, __key: fingerprintOf(myKey) });
    program.nextRun(others);
    const read = await program.providers.monitor.read("urn", one.state?.id ?? "", {}, {});
    expect(read?.outputs).toMatchObject({ __readOnly: true, __key: fingerprintOf(otherKey) });
  });

  test.each<[string, string | undefined]>([
    ["missing, as in old state", undefined],
    ["another one", "0000"],
  ])("is no change in any preview if it is %s", async (_, key) => {
    const [[one], program] = await createdBefore("dynamic", 1);
    for (const operation of ["preview", "up", "refresh"] as const) {
      forgetKey(one, key);
      program.nextRun();
      expect(await one.preview(declared("monitor", 1))).toBe("same");
      if (operation === "refresh") await one.refresh();
      else await one[operation](declared("monitor", 1));
      expect(await one.preview(declared("monitor", 1))).toBe("same");
    }
    expect(keyOf(one)).toBe(fingerprintOf(myKey));
    expect(emulator.writes()).toEqual([]);
  });
});

describe.each(fronts)("a record that is only read (%s)", (front) => {
  test.each(kinds)("is an error if there is no such %s when a program first asks for it", async (kind) => {
    const provider = new Program(front).providers[kind];
    expect(await failureOf(provider.read("urn", "77", {}, {}))).toMatch(
      new RegExp(`^${kind} 77 does not exist`, "i"),
    );
  });

  test("is an error that shows the id as it is given if that is no id", async () => {
    const { monitor } = new Program(front).providers;
    expect(await failureOf(monitor.read("urn", " 1", {}, {}))).toMatch(/^" 1" is not /);
  });

  test("is removed from state if it is gone, and not for any other answer", async () => {
    const program = new Program(front);
    for (let number = 0; number < 3; number++) emulator.monitors.add(record);
    const read = (id: string, outputs = {}) =>
      program.providers.monitor.read("urn", id, { __provider: "text", ...outputs }, {});
    const first = await read("1");
    emulator.monitors.remove(1);
    emulator.fault = () => answer(500);
    expect(await failureOf(read("1", first?.outputs))).toContain("status 500");
    emulator.fault = undefined;
    expect(await read("1", first?.outputs)).toBeUndefined();
  });

  describe("stays in state as it is, with an error,", () => {
    const readBefore = async (settings = {}) => {
      const program = new Program(front, settings);
      emulator.monitors.add(record);
      const found = await program.providers.monitor.read("urn", "1", { __provider: "text" }, {});
      const state = found?.outputs ?? {};
      program.nextRun(mine);
      return { program, again: () => program.providers.monitor.read("urn", "1", state, {}) };
    };

    test.each<[string, (request: ReceivedRequest) => boolean, string]>([
      ["if a proxy answers everything with 404", () => true, "the list of monitors cannot be read"],
      ["if the list holds it", (request) => !isList(request), "the list of monitors holds"],
    ])("%s", async (_, isMissing, message) => {
      const { again } = await readBefore();
      on(isMissing, answer(404));
      expect(await failureOf(again())).toContain(message);
    });

    test("if it is missing, or has another name, for another key", async () => {
      const { program, again } = await readBefore(others);
      expect(await again()).toMatchObject({ outputs: { __key: fingerprintOf(myKey) } });
      emulator.monitors.edit(1, { name: "Other" });
      expect(await failureOf(again())).toContain("uptime:sameAccount");
      emulator.monitors.remove(1);
      addStranger();
      expect(await failureOf(again())).toContain("uptime:sameAccount");
      program.nextRun({ ...mine, ...sameAccount() });
      expect(await again()).toBeUndefined();
    });

    test("if the address is another one, where its id is another record", async () => {
      const { program, again } = await readBefore();
      const moved = await startEmulator({ apiKey: myKey });
      moved.monitors.add({ ...record, name: "Another server's" });
      program.nextRun({ ...mine, "uptime:baseUrl": moved.url });
      expect(await failureOf(again())).toMatch(/^State was made with another address/);
      program.nextRun({ "uptime:baseUrl": emulator.url });
      expect(await again()).toMatchObject({ outputs: { name: record.name } });
    });
  });
});

const keyOf = ({ state }: ModelResource): unknown => state?.outputs.__key;

/** State as an older version, or another key, has left it. */
function forgetKey(one: ModelResource, key?: string): void {
  const { __key, ...outputs } = one.state?.outputs ?? {};
  if (one.state)
    one.state = { ...one.state, outputs: { ...outputs, ...(key !== undefined && { __key: key }) } };
}

describe.each(fronts)("after a rotation of the key (%s)", (front) => {
  const named = (value: object) => ({ "uptime:accounts": JSON.stringify(value) });

  test.each<[string, Record<string, string>, string | undefined, Record<string, string>, boolean]>([
    [
      "another name of the account",
      named({ eu: { apiKey: "old" } }),
      "eu",
      named({ eu: { apiKey: "new" }, europe: { apiKey: "new" } }),
      true,
    ],
    [
      "a name of the default account",
      {},
      undefined,
      { "uptime:apiKey": "new", ...named({ europe: { apiKey: "new" } }) },
      true,
    ],
    [
      "another account",
      named({ eu: { apiKey: "old" } }),
      "eu",
      named({ eu: { apiKey: "new" }, europe: { apiKey: "other" } }),
      false,
    ],
  ])(
    "%s replaces a resource only if the two names have different keys",
    async (_, before, account, after, isSame) => {
      const one = new Program(front, before).resource();
      await one.up({ ...home, ...(account !== undefined && { account }) });
      one.nextRun(after);
      expect(await one.up({ ...home, account: "europe" })).toBe(isSame ? "update" : "replace");
      expect(storedIds()).toEqual([isSame ? "1" : "2"]);
    },
  );

  test("and a change of the name in one run, the error has the command that helps", async () => {
    const one = new Program(front, named({ eu: { apiKey: "old" } })).resource();
    await one.up({ ...home, account: "eu" });
    const renamed = named({ europe: { apiKey: "new" } });
    one.nextRun(renamed);
    const failure = await failureOf(one.up({ ...home, account: "europe" }));
    const [, pair = ""] =
      /run `pulumi config set uptime:sameAccount (\S+)`; otherwise set it again/.exec(failure) ?? [];
    one.nextRun({ ...renamed, "uptime:sameAccount": pair });
    expect(await one.up({ ...home, account: "europe" })).toBe("update");
    expect(storedIds()).toEqual(["1"]);
  });
});
