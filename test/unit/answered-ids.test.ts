import type { Fault } from "../../provider/emulator";
import type { ModelResource } from "../support/model";
import { Program, times } from "../support/program";
import { isList, posts, storedIds, storedNames } from "../support/sent";
import { answer, clock, emulator, failureOf, on, onCreates, stored, withServer } from "../support/server";
import { noteOf, type Notes } from "../support/simulated/process";
import { home } from "../support/monitors";
import {
  lookTime,
  declared,
  program,
  resource,
  mayExist,
  made1,
  made,
  cut,
  cutBefore,
  queued,
  elsewhere,
  similar,
  afterCreate,
  lagging,
} from "../support/lost-creates";

withServer();

describe("the id in an answer to a create is kept", () => {
  beforeEach(() => {
    emulator.dialect = { createAnswer: "id" };
  });
  const hidden = (delay?: Fault): void => {
    afterCreate(
      () => delay,
      (request) => {
        if (request.path.endsWith("/1")) return answer(404);
        return isList(request) ? answer(200, { data: [] }) : undefined;
      },
    );
  };

  test("if neither its address nor the list shows the record within a minute", async () => {
    hidden();
    const one = resource();
    expect(await made(one)).toContain("was created with the id 1, but");
    expect(one.state?.id).toBe("1");
    emulator.fault = undefined;
    one.nextRun();
    await one.up(home);
    expect(storedIds()).toEqual(["1"]);
  });

  test("if Pulumi is interrupted before the record is shown", async () => {
    hidden({ kind: "delay", answerDelayMs: 5000 });
    const run = new Program("plugin", {});
    const one = run.resource();
    const failed = made(one);
    while (posts() === 0) await new Promise(setImmediate);
    await run.cancel();
    expect(await failed).toContain("was created with the id 1, but");
    expect(one.state?.id).toBe("1");
  });

  test("and is confirmed by a read that shows the record, even if an update of it is refused afterwards", async () => {
    let reads = 0;
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return stored(202, { id: 1 });
      if (method === "PATCH") return answer(422, { errors: { pause: ["Not in your plan."] } });
      return path.endsWith("/1") && ++reads === 1 ? answer(403) : undefined;
    };
    const one = resource();
    const failure = await made(one, { ...home, pause: true });
    expect(failure).toMatch(/was created with the id 1, but .*pause: Not in your plan\.$/);
    emulator.fault = undefined;
    emulator.monitors.remove(1);
    one.nextRun();
    await one.refresh();
    expect(one.state).toBeUndefined();
  });

  test("also if it is that of a job, and the error says how to find the record then", async () => {
    lagging(99, () => stored(202, { id: 77, status: "queued" }));
    const one = program().resource();
    expect(await made(one)).toMatch(
      /was created with the id 77, but GET .* If 77 is the id of something else,.*`pulumi up --refresh --run-program`.*adoptExisting/,
    );
    expect(one.state?.id).toBe("77");
    emulator.fault = undefined;
    one.nextRun({ "uptime:adoptExisting": "true" });
    await one.refresh();
    await one.up(home);
    expect([one.state?.id, ...storedIds()]).toEqual(["1", "1"]);
  });

  describe("although it may be that of a job, and the record is made later:", () => {
    /** What a run with these verbs says, after one that has kept such an id. */
    const later = async (verb: "up" | "refresh" | "destroy", settings = {}): Promise<string> => {
      onCreates({ ...queued, body: { id: 77, status: "queued" } });
      const one = resource();
      await failureOf(one.up(home));
      emulator.monitors.add(home);
      one.nextRun(settings);
      const warn = jest.spyOn(console, "warn");
      const failure = await failureOf(one[verb](home));
      const told = warn.mock.calls.map(String).join();
      expect([storedIds(), posts()]).toEqual([["1"], 1]);
      return failure || told;
    };
    const adopting = { "uptime:adoptExisting": "true" };

    test.each([{}, adopting])("an update says how to find it (%j)", async (settings) => {
      expect(await later("up", settings)).toMatch(
        /^Monitor 77 does not exist \(.*If 77 is .* `pulumi up --refresh --run-program` with the setting uptime:adopt/,
      );
    });

    test("a refresh keeps the id, and says how to find it", async () => {
      expect(await later("refresh")).toMatch(
        /^Monitor 77 does not exist \(.*uptime:adoptExisting.*state delete URN/,
      );
    });

    test("a delete says that it may be there", async () => {
      expect(await later("destroy")).toContain(
        "The monitor may exist with another id, and state no longer has it",
      );
    });
  });
});

describe("a create that is answered with a record that is deleted", () => {
  test("by its mark is an error, and state has its id", async () => {
    const record = { ...emulator.monitors.add(made1) };
    emulator.monitors.remove(1);
    onCreates(answer(201, { ...record, deleted_at: "2026-11-27T10:00:00Z" }));
    const one = resource();
    expect(await made(one)).toContain("with the id 1, but");
    expect(one.state?.id).toBe("1");
  });

  test.each(["in this run", "by hand"])("%s, from a cache, is an error", async (how) => {
    const run = program();
    const one = run.resource();
    await one.up(home);
    const record = { ...emulator.monitors.get(1) };
    run.nextRun();
    emulator.monitors.remove(1);
    if (how === "in this run") await one.destroy();
    else await one.refresh();
    onCreates(answer(201, record));
    const other = run.resource();
    expect(await made(other)).toMatch(/with the id 1, but/);
    expect(other.state?.id).toBe("1");
  });
});

test.each<[string, object]>([
  ["is that of an existing record", { id: 1 }],
  ["has a url like a monitor", { id: 77, url: "https://uptime.example.com/jobs/77" }],
  ["has a name like a monitor", { id: 77, name: "create-monitor" }],
])("the id of a job that %s is not taken for the record's, and the new one is found", async (_, job) => {
  emulator.monitors.add(elsewhere);
  onCreates(stored(202, { status: "queued", ...job }));
  const one = resource();
  expect(await made(one)).toBe("made 2");
  expect(await one.preview(home)).toBe("same");
});

test("a record that the server has changed beyond recognition is kept, also if it is not at its own address yet", async () => {
  let reads = 0;
  emulator.fault = ({ method, path }) => {
    if (method === "POST") return answer(201, { data: emulator.domains.add({ name: "acme" }) });
    return path.endsWith("/1") && ++reads < 3 ? answer(404) : undefined;
  };
  const one = resource("domain");
  expect(await made(one, declared.domain)).toContain("did not store them: name was sent as");
  expect(one.state?.id).toBe("1");
});

test.each([400, 422])("the id of a job that the server refuses with %i is not kept", async (status) => {
  afterCreate(
    () => stored(202, { id: "b7e2-11aa", status: "queued" }),
    ({ path }) => (path.endsWith("/b7e2-11aa") ? answer(status, { message: "Not a number." }) : undefined),
  );
  expect(await made(resource())).toBe("made 1");
});

describe("while the id of a job is read, another create", () => {
  /** The creates are answered in these ways, and the record of the id is read slowly. */
  const readSlowly = (id: number, ...answers: Fault[]): void =>
    afterCreate(
      () => answers.shift(),
      ({ path }) => (path.endsWith(`/${id}`) ? { kind: "delay", answerDelayMs: 1000 } : undefined),
    );
  const renamed = { ...home, name: "Other" };
  const both = (one: ModelResource, other: ModelResource, inputs: Record<string, unknown>) =>
    Promise.all([made(one), made(other, inputs)]);

  test.each([elsewhere, renamed])(
    "may be answered with a record of that id, which it keeps (%j)",
    async (inputs) => {
      readSlowly(2, stored(202, { id: 2, status: "queued" }));
      const [one, other] = program().resources();
      expect(await both(one, other, inputs)).toEqual(["made 1", "made 2"]);
      expect(await failureOf(other.destroy())).toBe("");
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test("may get a record of that id, which is not found as the job's", async () => {
    readSlowly(1, queued);
    const [one, other] = program().resources();
    const results = await both(one, other, renamed);
    expect(results).toEqual([expect.stringContaining("and none was found"), "made 1"]);
  });

  test("may be answered with the same id alone: the one whose record it is has it", async () => {
    readSlowly(1, ...times(2, stored(202, { id: 1, status: "queued" })));
    const [one, other] = program().resources();
    expect(await both(one, other, renamed)).toEqual(["made 1", "made 2"]);
  });
});

test("the id of a job does not end the refresh of a record that has it, and that a list has left out", async () => {
  const run = program();
  const [one, other] = run.resources();
  expect(await made(one)).toBe("made 1");
  run.nextRun();
  let reads = 0;
  emulator.fault = ({ method, path }) => {
    if (method === "POST") return queued;
    return path.endsWith("/1") ? { kind: "delay", answerDelayMs: 1000 * ++reads } : answer(200, { data: [] });
  };
  const creating = made(other, elsewhere);
  while (reads === 0) await clock.sleep(20);
  await Promise.all([one.refresh(), creating]);
  expect(one.state?.id).toBe("1");
});

test("creates that get each other's answers, as of a proxy that mixes them up, get their own records", async () => {
  const answerOf = (id: number, inputs: object): Fault => ({
    ...stored(201, { data: { ...inputs, id } }),
    answerDelayMs: 1000,
  });
  onCreates(answerOf(2, elsewhere), answerOf(1, home));
  const [one, other] = program().resources();
  expect(await Promise.all([made(one), made(other, elsewhere)])).toEqual(["made 1", "made 2"]);
  expect(posts()).toBe(2);
});

test("an id in an answer that a read has confirmed is no new record in the answer to a later create", async () => {
  onCreates(stored(201, { id: 1 }), { ...stored(200, { id: 1, ...home }), effect: false });
  const [one, other] = program().resources();
  expect(await made(one)).toBe("made 1");
  expect(await made(other, { ...home, name: "Other" })).toContain("monitor 1, which was there before");
});

test.each([0, 3000])(
  "the ids of jobs, each of another create's record, are not kept (%d ms)",
  async (afterMs) => {
    let job = 1;
    on("POST", () => ({ ...stored(202, { id: ++job }), effect: afterMs ? { afterMs } : true }));
    const together = program();
    const all = ["A", "B", "C"].map((name) => ({ name, one: together.resource() }));
    await Promise.all(
      all.map(({ name, one }) => failureOf(one.up({ ...home, name, url: `https://${name}.example/` }))),
    );
    emulator.fault = undefined;
    for (const { name, one } of all)
      if (one.state) expect(emulator.monitors.get(one.state.id)).toMatchObject({ name });
    expect(emulator.writes().filter(({ method }) => method !== "POST")).toEqual([]);
    expect(storedNames()).toEqual(["A", "B", "C"]);
  },
);

/** A resource of the run before, whose record the first create of this run lists before it is deleted; and two new ones. */
async function listed() {
  const together = program();
  const resources = together.resources();
  await resources[0].up(home);
  together.nextRun();
  await together.resource().up(elsewhere);
  return resources;
}

/** The answers to two creates: with the id 1 of a job, and, as `how` says, of a record that gets this id. */
const jobAndRecord = (how: (made: object) => Fault): (() => Fault)[] => [
  () => answer(202, { id: 1 }),
  () => how(emulator.monitors.add({ ...home, name: "B", id: 1 })),
];

test.each<[string, number, (made: object) => Fault]>([
  ["is found", 6000, () => cutBefore],
  ["is answered", 500, (made) => answer(201, made)],
])(
  "the id of a job and of a record that is being deleted may be a new record's, which %s",
  async (...[, after, how]) => {
    const [old, job, created] = await listed();
    const creates = jobAndRecord(how);
    emulator.fault = ({ method }) => {
      if (method === "DELETE") return { kind: "delay", answerDelayMs: 25_000 };
      return method === "POST" ? creates.shift()?.() : undefined;
    };
    const deleted = failureOf(old.destroy());
    await clock.sleep(1000);
    const failed = made(job, { ...home, name: "A", url: "https://a.example/" });
    await clock.sleep(after);
    expect(await made(created, { ...home, name: "B" })).toBe("made 1");
    expect([await deleted, storedIds()]).toEqual(["", ["2", "1"]]);
    await failed;
  },
);

test.each<[string, number, (made: object) => Fault]>([
  ["is found after the job's create has ended", 500, () => cutBefore],
  ["is answered after the job's create has let the id go", 500, (made) => answer(201, made)],
  ["is answered before", 0, (made) => answer(201, made)],
])(
  "the id of a job and of a record that was deleted may be a new record's, which %s",
  async (...[, after, how]) => {
    const [old, job, created] = await listed();
    await old.destroy();
    const creates = jobAndRecord(how);
    let reads = 0;
    emulator.fault = ({ method, path }) => {
      if (method === "POST") return creates.shift()?.();
      const isSlow = after === 0 && path.endsWith("/1") && ++reads === 1;
      return isSlow ? { kind: "delay", answerDelayMs: 200 } : undefined;
    };
    const failed = made(job, { ...home, name: "A", url: "https://a.example/" });
    await clock.sleep(after + 100);
    expect(await made(created, { ...home, name: "B" })).toBe("made 1");
    expect([storedIds(), posts()]).toEqual([["2", "1"], 4]);
    await failed;
  },
);

test.each<[string, Fault]>([
  ["was lost is sent again", cutBefore],
  ["comes later counts", { kind: "delay", answerDelayMs: 300 }],
])("a delete whose record has the id of a job, and whose answer %s", async (_, fault) => {
  const [old, job, created] = await listed();
  const faults: Record<string, Fault[]> = { DELETE: [fault], POST: [stored(202, { id: 1 })] };
  emulator.fault = ({ method, path }) =>
    faults[method]?.shift() ??
    (method === "GET" && path.endsWith("/1") ? { kind: "delay", answerDelayMs: 3000 } : undefined);
  const deleted = failureOf(old.destroy());
  expect(await made(job, { ...home, name: "A", url: "https://a.example/" })).toBe("made 3");
  expect([await deleted, storedIds()]).toEqual(["", ["2", "3"]]);
  // Now the server uses the id again.
  emulator.fault = ({ method }) => {
    if (method !== "POST" || posts() > 4) return undefined;
    emulator.monitors.add({ ...home, id: 1 });
    return cutBefore;
  };
  expect(await made(created)).toBe("made 1");
});

describe("the id of a job that is kept", () => {
  test.each([404, 500])(
    "because its address answered %i does not stop a later create that is answered with that id alone",
    async (status) => {
      const answers: Fault[] = [queued, stored(201, { id: 1 })];
      afterCreate(
        () => answers.shift(),
        ({ path }) => (posts() === 1 && path.endsWith("/1") ? answer(status) : undefined),
      );
      const [one, other] = program().resources();
      expect(await made(one)).toContain("was created with the id 1, but");
      expect(await made(other, elsewhere)).toBe("made 1");
      const warn = jest.spyOn(console, "warn").mockClear();
      expect(await failureOf(one.destroy())).toBe("");
      expect(warn.mock.calls.join()).toMatch(/still manages it\. [^]*The monitor may exist with another id/);
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test.each([
    [undefined, elsewhere],
    [undefined, { ...home, name: "Other" }],
    [cut, elsewhere],
  ])(
    "does not stop a later create whose record has that id, with the fault %j (%j)",
    async (fault, inputs) => {
      onCreates(queued, fault);
      const [one, other] = program().resources();
      expect(await made(one)).toContain("was created with the id 1, but");
      expect(await made(other, inputs)).toBe("made 1");
      expect(storedIds()).toEqual(["1"]);
    },
  );

  test("by another process hides no record of a create whose answer is lost", async () => {
    const notes: Notes<object> = [];
    const process = () => new Program("dynamic", {}, { runNote: noteOf(notes, {}) });
    onCreates(queued, cut);
    expect(await made(process().resource())).toContain("was created with the id 1, but");
    expect(await made(process().resource(), elsewhere)).toMatch(/so nothing is sent again: 1 \("Other", /);
    expect(storedIds()).toEqual(["1"]);
  });

  test("stays with its create if the record that has it may be that of either", async () => {
    onCreates(queued, queued);
    const [one, other] = program().resources();
    expect(await made(one)).toContain("was created with the id 1, but");
    emulator.monitors.add(home);
    expect(await made(other)).toMatch(mayExist);
    expect([one.state?.id, other.state, posts()]).toEqual(["1", undefined, 2]);
  });
});

describe("somebody else's record with the id of a job", () => {
  const paused = { ...home, pause: true };

  describe.each(["of this run", "of a person"])("%s", (whose) => {
    /** What a create fails with whose answer names a job, and whose id somebody else's record gets after this time. */
    const overtaken = async (one: ModelResource, other: ModelResource, milliseconds: number) => {
      onCreates(queued);
      const failed = made(one, paused);
      await clock.sleep(milliseconds);
      if (whose === "of a person") emulator.monitors.add(elsewhere);
      else expect(await made(other, elsewhere)).toBe("made 1");
      const failure = await failed;
      expect(emulator.monitors.all()).toMatchObject([elsewhere]);
      return failure;
    };

    test("is not taken if it comes before the looks end", async () => {
      const [one, other] = program().resources();
      expect(await overtaken(one, other, 20_000)).toMatch(mayExist);
      expect(one.state).toBeUndefined();
    });

    test("is not updated if it is there while the id is read", async () => {
      const [one, other] = program().resources();
      expect(await overtaken(one, other, 61_500)).toMatch(
        /was created with the id 1, but .* If 1 is the id of something else/,
      );
    });
  });

  // Between two looks it is read as the job's; after them, it is read for the last time.
  test.each([
    [elsewhere, 61_500],
    [similar, 61_500],
    [similar, 500],
    [similar, 20_000],
  ])("is not taken for the record, with what was not stored (%j, after %i ms)", async (other, after) => {
    onCreates(queued);
    const one = resource();
    const failed = made(one);
    await clock.sleep(after);
    emulator.monitors.add(other);
    expect(await failed).toMatch(/was created with the id 1, but .* If 1 is the id of something else/);
    one.nextRun();
    for (const verb of ["up", "refresh", "destroy"] as const)
      expect(await failureOf(one[verb](home))).toContain("seems to be another record");
    expect(emulator.monitors.all()).toMatchObject([other]);
  });

  test.each([home, paused])(
    "is not taken from a list that shows neither name nor URL (%j)",
    async (declared) => {
      afterCreate(
        () => queued,
        (request) =>
          isList(request)
            ? answer(200, { data: emulator.monitors.all().map(({ id }) => ({ id })) })
            : undefined,
      );
      const one = resource();
      const failed = made(one, declared);
      await clock.sleep(20_000);
      emulator.monitors.add(elsewhere);
      expect(await failed).toMatch(mayExist);
      expect([one.state, emulator.monitors.all()]).toMatchObject([undefined, [elsewhere]]);
    },
  );

  test.each([
    ["up", elsewhere],
    ["destroy", elsewhere],
    ["refresh, then up", elsewhere],
    ["destroy", similar],
    ["refresh, then up", similar],
  ])("is neither taken, updated nor deleted by a later run (%s, %j)", async (verbs, other) => {
    onCreates(queued);
    const one = resource();
    expect(await made(one)).toContain("was created with the id 1, but");
    emulator.monitors.add(other);
    one.nextRun();
    for (const verb of verbs.split(", then ") as ("up" | "destroy" | "refresh")[])
      expect(await failureOf(one[verb](home))).toMatch(
        /seems to be another record than the one in state, so it is left alone\..*Otherwise set uptime:adoptExisting/,
      );
    expect(emulator.monitors.all()).toMatchObject([other]);
  });

  test("is not taken if it shows no URL, and another name", async () => {
    const cron = { name: "Backup cron", url: null, interval: 60 };
    on("POST", () => {
      emulator.monitors.add({ ...cron, id: 1 });
      return queued;
    });
    expect(await made(resource(), paused)).toMatch(mayExist);
    expect(emulator.monitors.all()).toMatchObject([cron]);
  });

  test("is not taken from an answer that says that the create failed", async () => {
    on("POST", () => {
      emulator.monitors.add(elsewhere);
      return answer(200, { id: 1, error: "Quota exceeded" });
    });
    const one = resource();
    expect(await made(one, paused)).toContain("Quota exceeded");
    expect([one.state, emulator.monitors.all()]).toMatchObject([undefined, [elsewhere]]);
  });
});

test("the id in the body counts if Location leads to no record, although a replica shows it in the list alone", async () => {
  afterCreate(
    () => stored(201, { id: 1 }, { location: "https://elsewhere.invalid/api/v1/monitors/9" }),
    ({ path }) => (path.endsWith("/monitors/1") ? answer(404) : undefined),
  );
  expect(await made(resource())).toBe("made 1");
  expect(posts()).toBe(1);
});

test.each(["/api/v1/monitors/1", "monitors/1"])(
  "the id in Location counts before that of a job in the body: %s",
  async (location) => {
    onCreates(stored(202, { id: 77, status: "queued" }, { location }));
    expect(await made(resource())).toBe("made 1");
    expect(emulator.requests.map(({ path }) => path)).not.toContain("/api/v1/monitors/77");
  },
);

describe("an answer that says that the create failed, and names a record", () => {
  const words = "No mail was sent";
  const location = "/api/v1/monitors/1";

  test.each<[string, Fault, missing?: number]>([
    ["in its body", stored(200, { id: 1, error: words })],
    ["by Location", stored(201, { success: false, message: words }, { location })],
    ["with a complaint about an empty list", stored(200, { id: 1, errors: { alert_channel_ids: [words] } })],
    ["that two reads do not find", stored(200, { id: 1, error: words }), 2],
    ["only by 201, with such a complaint", stored(201, { errors: { alert_channel_ids: [words] } })],
  ])("%s has created it if the record is there, and is new", async (_where, answered, missing = 0) => {
    afterCreate(
      () => (posts() === 1 ? answered : undefined),
      ({ path }) => (path.endsWith("/1") && missing-- > 0 ? answer(404) : undefined),
    );
    const one = resource();
    await one.up({ ...home, alertChannelIds: [] });
    expect([one.state?.id, posts(), storedIds()]).toEqual(["1", 1, ["1"]]);
    expect(one.state?.outputs.attributes).not.toEqual({});
  });

  test.each<[string, Fault]>([
    ["without an id", stored(200, { error: words })],
    [
      "without an id, with a complaint about the list",
      stored(200, { errors: { alert_channel_ids: [words] } }),
    ],
    ["with 202 and such a complaint", stored(202, { errors: { alert_channel_ids: [words] } })],
    ["with such a complaint and an id", stored(200, { id: 1, errors: { alert_channel_ids: [words] } })],
  ])("%s is not sent again in the other form of an empty list", async (_where, answered) => {
    afterCreate(
      () => (posts() === 1 ? answered : undefined),
      ({ path }) => (path.endsWith("/1") ? answer(404) : undefined),
    );
    expect(await failureOf(resource().up({ ...home, alertChannelIds: [] }))).toContain(words);
    expect(posts()).toBe(1);
  });

  test.each([
    ["is not there, such as that of the request", 77],
    ["was there before", 1],
    ["is another record's", 3],
  ])("with 201 and an id that %s, is looked for", async (_what, id) => {
    emulator.monitors.add({ ...home, name: "Old", url: "https://old.example/" });
    afterCreate(
      () => stored(201, { id, success: false, message: words }),
      ({ path }) =>
        path.endsWith("/3")
          ? answer(200, { ...home, id: 3, name: "Other", url: "https://other.example/" })
          : undefined,
    );
    const one = resource();
    expect(await made(one)).toBe("made 2");
    expect([posts(), storedIds()]).toEqual([1, ["1", "2"]]);
  });

  test("whose id the server refuses, such as that of the request, is a refusal in the server's words", async () => {
    const answered = { id: "req-5", success: false, error: "This URL is taken" };
    afterCreate(
      () => ({ kind: "answer", effect: false, status: 200, body: answered }),
      ({ path }) => (path.endsWith("/req-5") ? answer(422, { message: "Not a number." }) : undefined),
    );
    const failure = await failureOf(resource().up(home));
    expect(failure).toContain("returned status 200: This URL is taken");
    expect(failure).not.toMatch(mayExist);
  });

  test.each([
    ["was there before", { id: 1, error: "This URL is taken" }],
    ["is not there", { id: 9, error: "This URL is taken" }],
  ])("that %s is a refusal in the server's words", async (_what, body) => {
    emulator.monitors.add({ ...home, name: "old" });
    onCreates(answer(200, body));
    const failure = await failureOf(resource().up(home));
    expect(failure).toContain("returned status 200: This URL is taken");
    expect(failure).not.toMatch(mayExist);
    expect([posts(), storedIds()]).toEqual([1, ["1"]]);
  });

  test("keeps its id in state if nothing can be read", async () => {
    afterCreate(
      () => stored(200, { id: 1, error: words }),
      ({ method }) => (method === "GET" ? answer(500) : undefined),
    );
    const one = resource();
    expect(await made(one)).toMatch(
      /with the id 1, but .* status 500.* status 200: No mail was sent\. If 1 is/,
    );
    expect([one.state?.id, posts()]).toEqual(["1", 1]);
    emulator.fault = undefined;
    one.nextRun();
    await one.up(home);
    expect([posts(), storedIds()]).toEqual([1, ["1"]]);
  });

  test.each([
    ["is found if it is shown eight seconds later", 8000, "made 1"],
    ["may exist if it is not shown for a minute", 90_000, expect.stringMatching(mayExist)],
  ])("by a status that may be one of its fields %s", async (_, afterMs, outcome) => {
    const answered = { id: 1, status: "failed", message: words };
    onCreates({ ...stored(200, answered), effect: { afterMs } });
    const result = await made(resource());
    expect([result, posts()]).toEqual([outcome, 1]);
    if (afterMs > lookTime) expect(result).toContain(`status 200: ${words}`);
  });

  test("that cannot be read is looked for", async () => {
    let isRefused = true;
    afterCreate(
      () => stored(200, { id: 1, error: words }),
      ({ path }) => {
        if (!path.endsWith("/1") || !isRefused) return undefined;
        isRefused = false;
        return answer(403);
      },
    );
    const one = resource();
    await one.up(home);
    expect([one.state?.id, posts(), storedIds()]).toEqual(["1", 1, ["1"]]);
  });
});
