import type { Fault } from "../../provider/emulator";
import { kinds, type Kind } from "../support/calls";
import type { ModelResource } from "../support/model";
import { destroyAll, fronts, Program, refreshAll, times, type Front } from "../support/program";
import { isList, storedIds } from "../support/sent";
import { noteOf, type Notes } from "../support/simulated/process";
import { answer, clock, emulator, failureOf, on, stored, withServer } from "../support/server";
import { home } from "../support/monitors";

withServer();

/** Two resources of which state says that they have one and the same record, each with a claim of its own. */
async function twins(
  front: Front,
  kind: Kind = "monitor",
  declared: object = home,
): Promise<[ModelResource, ModelResource, Program]> {
  const program = new Program(front);
  const [one, two] = [program.resource(kind), program.resource(kind)];
  await one.up({ ...declared });
  const { state } = one;
  if (state) two.state = { ...state, outputs: { ...state.outputs, __claim: "0f0f0f0f" } };
  program.nextRun();
  return [one, two, program];
}

async function refreshed(...all: ModelResource[]): Promise<void> {
  expect(await refreshAll(all)).toEqual(times(all.length, "there"));
}

describe.each(fronts)("two resources in state with one record (%s)", (front) => {
  test.each([false, true])(
    "one that leaves the program does not delete the record of the other; refreshed before: %j",
    async (isRefreshed) => {
      const [one, two, program] = await twins(front);
      if (isRefreshed) await refreshed(one, two);
      await one.up(home);
      expect(await destroyAll([two])).toEqual(["deleted"]);
      expect(storedIds()).toEqual(["1"]);
      program.nextRun();
      expect(await one.up(home)).toBe("same");
      program.nextRun();
      expect(await destroyAll([one])).toEqual(["deleted"]);
      expect(storedIds()).toEqual([]);
    },
  );

  test.each([false, true])("are destroyed with the record; refreshed before: %j", async (isRefreshed) => {
    const [one, two] = await twins(front);
    if (isRefreshed) await refreshed(one, two);
    expect(await destroyAll([one, two], 1)).toEqual(["deleted", "deleted"]);
    expect(storedIds()).toEqual([]);
  });
});

describe.each(fronts)(
  "a resource whose record's id the server has given to a new one of this run (%s)",
  (front) => {
    const declared = {
      monitor: [home, { ...home, name: "New" }],
      domain: [{ name: "a.example" }, { name: "b.example" }],
    };

    async function replaced(
      kind: Kind,
    ): Promise<{ old: ModelResource; created: ModelResource; program: Program }> {
      const program = new Program(front);
      const [old, created] = [program.resource(kind), program.resource(kind)];
      const [first = {}, second = {}] = declared[kind];
      await old.up(first);
      program.nextRun();
      const table = emulator[`${kind}s`];
      const record = { ...table.get(1), ...second };
      table.remove(1);
      on("POST", () => {
        table.add(record);
        return answer(201, record);
      });
      await created.up(second);
      emulator.fault = undefined;
      return { old, created, program };
    }

    test.each(kinds)("is not found by a refresh, and the %s of the other stays", async (kind) => {
      const { old, created, program } = await replaced(kind);
      expect(await refreshAll([old, created])).toEqual(["gone", "there"]);
      program.nextRun();
      expect(await created.up(declared[kind][1] ?? {})).toBe("same");
      expect(storedIds(kind)).toEqual(["1"]);
    });

    test.each(kinds)("is not updated, and its delete leaves the %s of the other alone", async (kind) => {
      const { old } = await replaced(kind);
      const changed = kind === "monitor" ? { interval: 300 } : { homepageUrl: "https://a.example/" };
      expect(await failureOf(old.up({ ...declared[kind][0], ...changed }))).toContain("The record of this");
      expect(await destroyAll([old])).toEqual(["deleted"]);
      expect(storedIds(kind)).toEqual(["1"]);
    });

    test("is not updated after the delete of another resource with its claim", async () => {
      const { old, program } = await replaced("monitor");
      const renamed = program.resource();
      renamed.state = old.state;
      expect(await destroyAll([old])).toEqual(["deleted"]);
      expect(await failureOf(renamed.up({ ...home, interval: 300 }))).toContain("The record of this");
      expect(emulator.monitors.get(1)).toMatchObject({ name: "New", interval: home.interval });
    });
  },
);

test.each(fronts)(
  "a record stays that of its create after another create, which was answered with its id alone, has failed (%s)",
  async (front) => {
    const [lost, created, other] = new Program(front).resources();
    const answers: Fault[] = [answer(202, { id: 1 })];
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return answers.shift();
      return path.endsWith("/1") ? { kind: "delay", answerDelayMs: 1000 } : undefined;
    };
    const failed = failureOf(lost.up({ ...home, name: "Lost", url: "https://lost.example/" }));
    await clock.sleep(100);
    await created.up(home);
    expect(await failed).toContain("none was found");
    on("POST", answer(200, { ...home, id: 1 }));
    expect(await failureOf(other.up(home))).toContain("monitor 1, which was there before");
    expect([created.state?.id, other.state]).toEqual(["1", undefined]);
  },
);

describe.each(fronts)("a create that is answered with an id alone (%s)", (front) => {
  const queued = { kind: "answer", effect: false, status: 202, body: { id: 1 } } as const;

  test("does not get the record of a person that has this id, also if it is equal", async () => {
    emulator.monitors.add(home);
    on("POST", queued);
    const one = new Program(front).resource();
    expect(await failureOf(one.up(home))).toContain("and none was found");
    expect(one.state).toBeUndefined();
  });

  test("gets the record that is there then, also if that shows neither name nor URL", async () => {
    emulator.dialect = { hidden: ["name", "url"] };
    on("POST", stored(202, { id: 1 }));
    const one = new Program(front).resource();
    await one.up(home);
    one.nextRun();
    expect(await one.up(home)).toBe("same");
    await one.destroy();
    expect(storedIds()).toEqual([]);
  });

  test.each(["Home", "Hom"])(
    "keeps the id if the list is empty, although the run knows of a record, and its own may be there: %j",
    async (name) => {
      const program = new Program(front);
      const [known, one] = program.resources();
      await known.up(home);
      program.nextRun();
      await known.preview(home);
      let reads = 0;
      emulator.fault = (request) => {
        if (request.method === "POST") return { ...queued, body: { id: 7 } };
        if (isList(request)) return answer(200, { data: [] });
        if (!request.path.endsWith("/7")) return undefined;
        return ++reads === 1 ? answer(404) : answer(200, { ...home, id: 7, name });
      };
      expect(await failureOf(one.up(home))).toMatch(
        name === "Home" ? /^$/ : /with the id 7, but .* is not what/,
      );
      expect(one.state?.id).toBe("7");
    },
  );
});

describe.each(fronts)("a delete during which the server gives the id to a new record (%s)", (front) => {
  async function deleted(fault: Fault): Promise<{ created: ModelResource; twin: ModelResource }> {
    const [old, twin, program] = await twins(front);
    const created = program.resource();
    const faults = [fault];
    emulator.fault = ({ method }) => {
      if (method === "DELETE") return faults.shift();
      return method === "POST" ? answer(201, { ...emulator.monitors.add({ ...home, id: 1 }) }) : undefined;
    };
    expect(await Promise.all([destroyAll([old]), failureOf(created.up(home))])).toEqual([["deleted"], ""]);
    return { created, twin };
  }

  test("is not sent again if its answer is lost", async () => {
    const { created } = await deleted({ kind: "cut", effect: true });
    expect(created.state?.id).toBe("1");
    expect(storedIds()).toEqual(["1"]);
  });

  test("does not forget the new one if it is answered later", async () => {
    const { created, twin } = await deleted({ kind: "delay", answerDelayMs: 5000 });
    expect(await destroyAll([twin])).toEqual(["deleted"]);
    expect(created.state?.id).toBe("1");
    expect(storedIds()).toEqual(["1"]);
  });
});

describe.each(fronts)("a record whose delete has begun is not the new one of a lost create (%s)", (front) => {
  const cut = { kind: "cut", effect: false } as const;

  /** A delete is sent, and a second later a create can be, whose first request is cut. */
  async function begun(onDelete: Fault, { elsewhere = false } = {}) {
    const notes: Notes<object> = [];
    const process = () => new Program(front, {}, { runNote: noteOf(notes, {}) });
    const program = process();
    const old = program.resource();
    await old.up(home);
    program.nextRun();
    notes.length = 0;
    const faults = [cut];
    emulator.fault = ({ method }) => {
      if (method === "DELETE") return onDelete;
      return method === "POST" ? faults.shift() : undefined;
    };
    const deleted = failureOf(old.destroy());
    await clock.sleep(1000);
    return { old, deleted, created: (elsewhere ? process() : program).resource() };
  }

  test("while the server deletes it", async () => {
    const { deleted, created } = await begun({ kind: "delay", delayMs: 20_000 });
    expect(await failureOf(created.up(home))).toBe("");
    expect([await deleted, created.state?.id, storedIds()]).toEqual(["", "2", ["2"]]);
  });

  test("unless the server has used its id again, which is known when the delete is answered", async () => {
    const { deleted, created } = await begun({ kind: "delay", delayMs: 1500, answerDelayMs: 20_000 });
    const usual = emulator.fault;
    emulator.fault = (request, ...more) => {
      if (request.method !== "POST" || clock.now() > 2000) return usual?.(request, ...more);
      void clock.sleep(1000).then(() => emulator.monitors.add({ ...home, id: 1 }));
      return { ...cut, delayMs: 2000 };
    };
    expect(await failureOf(created.up(home))).toBe("");
    expect([await deleted, created.state?.id, storedIds()]).toEqual(["", "1", ["1"]]);
  });

  test("while another process deletes it", async () => {
    const { deleted, created } = await begun({ kind: "delay", delayMs: 20_000 }, { elsewhere: true });
    await failureOf(created.up(home));
    expect([await deleted, storedIds()]).toEqual(["", created.state ? [created.state.id] : []]);
  });

  test("while another process deletes it, if ids do not show which records are new", async () => {
    emulator.dialect = { ...emulator.dialect, order: "none" };
    const others = [emulator.monitors.add(), emulator.monitors.add()].map(({ id }) => String(id));
    const { deleted, created } = await begun({ kind: "delay", delayMs: 20_000 }, { elsewhere: true });
    await failureOf(created.up(home));
    expect(await deleted).toBe("");
    expect(storedIds()).toEqual([...others, ...(created.state ? [created.state.id] : [])]);
  });

  test("if the delete has failed", async () => {
    const { old, deleted, created } = await begun(answer(403));
    expect(await deleted).toContain("403");
    expect(await failureOf(created.up(home))).toBe("");
    expect([old.state?.id, created.state?.id]).toEqual(["1", "2"]);
  });

  test("nor is it named as a new one that is alike", async () => {
    const { created } = await begun(answer(403));
    expect(await failureOf(created.up({ ...home, name: "By POST", requestMethod: "POST" }))).toBe("");
  });

  test("nor does a look that has found it while it was being deleted count if the delete fails", async () => {
    const { deleted, created } = await begun({ ...answer(403), answerDelayMs: 3000 });
    expect(await failureOf(created.up(home))).toBe("");
    expect(await deleted).toContain("403");
    expect([created.state?.id, storedIds()]).toEqual(["2", ["1", "2"]]);
  });

  test("nor does it replace the new one that an earlier look has found, and that a replica then hides", async () => {
    const { deleted, created } = await begun({ kind: "delay", delayMs: 9000 });
    const usual = emulator.fault;
    let looks = 0;
    emulator.fault = (request, ...more) => {
      if (request.method === "POST") return { kind: "cut", effect: true };
      if (request.path.endsWith("/2")) return answer(404);
      const hides = isList(request) && storedIds().includes("2") && ++looks > 1;
      return hides
        ? answer(200, { data: emulator.monitors.all().filter(({ id }) => id === 1) })
        : usual?.(request, ...more);
    };
    expect(await failureOf(created.up(home))).toMatch(/There is a new record .*: 2 \("Home"/);
    expect([await deleted, storedIds()]).toEqual(["", ["2"]]);
  });

  test("nor may an answer to a create name it if the delete has failed", async () => {
    const { deleted, created } = await begun(answer(403));
    await deleted;
    on("POST", answer(200, { ...home, id: 1 }));
    expect(await failureOf(created.up(home))).toContain("was there before");
  });

  test("if it is deleted between two looks, and a replica still shows it in the second", async () => {
    const { deleted, created } = await begun({ kind: "delay", delayMs: 4000 });
    const [before, usual, lagsUntil] = [emulator.monitors.all(), emulator.fault, clock.now() + 7000];
    emulator.fault = (request, ...more) =>
      request.method === "GET" && clock.now() < lagsUntil
        ? answer(200, { data: isList(request) ? before : before[0] })
        : usual?.(request, ...more);
    expect(await failureOf(created.up(home))).toBe("");
    expect([await deleted, created.state?.id, storedIds()]).toEqual(["", "2", ["2"]]);
  });

  test("if a replica still shows it", async () => {
    const one = new Program(front).resource();
    await one.up(home);
    one.nextRun();
    const before = emulator.monitors.all();
    const faults = [cut];
    let deletedAt = Infinity;
    emulator.fault = (request) => {
      if (request.method === "DELETE") deletedAt = clock.now();
      if (request.method === "POST") return faults.shift();
      const lags = clock.now() >= deletedAt && clock.now() < deletedAt + 2000;
      return lags && request.method === "GET"
        ? answer(200, { data: isList(request) ? before : before[0] })
        : undefined;
    };
    expect(await failureOf(one.replace(home))).toBe("");
    expect([one.state?.id, storedIds()]).toEqual(["2", ["2"]]);
  });
});

test.each(fronts)(
  "a record that is missing is gone, also if a create gets its id while a refresh reads it (%s)",
  async (front) => {
    const program = new Program(front);
    const [old, other, created] = [program.resource(), program.resource(), program.resource()];
    await old.up(home);
    await other.up({ ...home, name: "Other" });
    program.nextRun();
    emulator.monitors.remove(1);
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return answer(201, { ...emulator.monitors.add({ ...home, id: 1 }) });
      return path.endsWith("/1") ? { kind: "delay", answerDelayMs: 5000 } : undefined;
    };
    const refreshed = refreshAll([old]);
    await clock.sleep(1000);
    await created.up(home);
    expect(await refreshed).toEqual(["gone"]);
    expect(await refreshAll([created, other])).toEqual(["there", "there"]);
  },
);

test.each(fronts)(
  "an update that waits while a create gets the id is not sent, because it would change the new record (%s)",
  async (front) => {
    const program = new Program(front);
    const [old, created] = [program.resource(), program.resource()];
    await old.up(home);
    program.nextRun();
    emulator.monitors.remove(1);
    const faults = [answer(429, "", { "retry-after": "5" })];
    emulator.fault = ({ method }) => {
      if (method === "PATCH") return faults.shift();
      return method === "POST" ? answer(201, { ...emulator.monitors.add({ ...home, id: 1 }) }) : undefined;
    };
    const updated = failureOf(old.up({ ...home, name: "Old" }));
    await Promise.all([clock.sleep(1000), created.up(home)]);
    expect(await updated).toContain("The record of this Monitor is gone");
    expect(emulator.monitors.get(1)).toMatchObject(home);
  },
);

test.each(fronts)(
  "an update is not sent again with the other form of empty lists if a create gets the id meanwhile (%s)",
  async (front) => {
    emulator.dialect = { emptyLists: "bracketsIgnored" };
    const channels = { ...home, alertChannelIds: [1] };
    const program = new Program(front);
    const [old, created] = [program.resource(), program.resource()];
    await old.up(channels);
    program.nextRun();
    const updated = failureOf(old.up(home));
    await clock.sleep(1500);
    const record = { ...emulator.monitors.get(1) };
    emulator.monitors.remove(1);
    on("POST", () => answer(201, { ...emulator.monitors.add(record) }));
    await created.up(channels);
    expect(await updated).toContain("The record of this Monitor is gone");
    expect(emulator.monitors.get(1)).toMatchObject({ alert_channel_ids: [1] });
  },
);

test.each(fronts)("a resource whose record no other has is deleted with it (%s)", async (front) => {
  const [one] = await twins(front);
  await refreshed(one);
  expect(await destroyAll([one])).toEqual(["deleted"]);
  expect(storedIds()).toEqual([]);
});

test.each(fronts)(
  "a resource whose record the same run has deleted with another one is an error (%s)",
  async (front) => {
    const [one, two, program] = await twins(front);
    await one.replace(home);
    expect(storedIds()).toEqual(["2"]);
    expect(await failureOf(two.up(home))).toMatch(
      /^Another resource with Monitor 1 was deleted in this run.*--refresh/,
    );
    program.nextRun();
    await two.refresh();
    await two.up(home);
    expect(storedIds()).toEqual(["2", "3"]);
  },
);

test.each(fronts)(
  "two resources of the program with one record are an error that names both (%s)",
  async (front) => {
    const [one, two] = await twins(front);
    await one.preview(home);
    const failure = await failureOf(two.preview(home));
    expect(failure).toMatch(/is managed by both \S+::resource-\d+ and \S+::resource-\d+\./);
    expect(failure).toContain("pulumi state delete URN");
  },
);

describe.each(fronts)("of two resources of the program with one record, one is replaced (%s):", (front) => {
  const declared = { name: "a.example" };
  const renamed = { name: "b.example" };
  const domains = () => twins(front, "domain", declared);

  test("if the other one was compared before, its record stays", async () => {
    const [one, two, program] = await domains();
    expect(await two.up(declared)).toBe("same");
    expect(await one.up(renamed)).toBe("replace");
    expect([one.state?.id, two.state?.id, storedIds("domain")]).toEqual(["2", "1", ["1", "2"]]);
    program.nextRun();
    expect([await one.up(renamed), await two.up(declared)]).toEqual(["same", "same"]);
  });

  test("if the other one is compared later in the preview, it is an error that names both", async () => {
    const [one, two] = await domains();
    expect(await one.preview(renamed)).toBe("replace");
    expect(await failureOf(two.preview(declared))).toMatch(/is managed by both \S+-\d+ and \S+-\d+\./);
    expect(storedIds("domain")).toEqual(["1"]);
  });
});

test.each(fronts)(
  "in old state, without claims, they have one claim, and no operation adds one (%s)",
  async (front) => {
    const [one, two, program] = await twins(front);
    for (const each of [one, two]) {
      const { __claim, ...outputs } = each.state?.outputs ?? {};
      if (each.state) each.state = { ...each.state, outputs };
    }
    await one.up({ ...home, interval: 300 });
    program.nextRun();
    await refreshed(one);
    expect(one.state?.outputs).not.toHaveProperty("__claim");
    expect(await destroyAll([one])).toEqual(["deleted"]);
    expect(storedIds()).toEqual([]);
  },
);

describe.each(fronts)("a claim (%s)", (front) => {
  const claimIn = (one: ModelResource): unknown => one.state?.outputs.__claim;

  test("is made with the record, and stays through a refresh, an update and what fails half-way", async () => {
    const one = new Program(front).resource();
    emulator.dialect = { notStored: ["ssl_alert_days"] };
    await failureOf(one.up({ ...home, sslAlertDays: 7 }));
    const claim = claimIn(one);
    expect(claim).toMatch(/^[0-9a-f]{8}$/);
    for (const inputs of [
      { ...home, sslAlertDays: 14 },
      { ...home, interval: 300 },
    ]) {
      one.nextRun();
      await one.refresh();
      expect(claimIn(one)).toBe(claim);
      one.nextRun();
      await failureOf(one.up(inputs));
      expect(claimIn(one)).toBe(claim);
    }
    expect(one.state?.unfinished).toBe(false);
  });

  test.each(["imported", "adopted"])("is new for a record that is %s", async (how) => {
    emulator.monitors.add(home);
    const one = new Program(front, { "uptime:adoptExisting": String(how === "adopted") }).resource();
    const made = await (how === "imported" ? one.import("1", home) : one.up(home));
    // What the engine imports, it puts into state itself.
    expect(JSON.stringify([made, one.state])).toMatch(/"__claim":"[0-9a-f]{8}"/);
    expect(emulator.monitors.size).toBe(1);
  });

  test("that has ended does not live again if the engine asks about its resource once more", async () => {
    const [one, two] = await twins(front);
    await refreshed(one, two);
    const deleted = structuredClone(one.state);
    await one.destroy();
    one.state = deleted;
    await one.preview({ ...home, interval: 300 });
    await two.destroy();
    expect(storedIds()).toEqual([]);
  });
});
