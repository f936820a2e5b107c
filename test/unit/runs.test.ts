import fc from "fast-check";

import { assertProperty } from "../support/property";
import type { ServerHabits } from "../support/simulated/api";
import type { Declared } from "../support/simulated/engine";
import { simulatedFronts } from "../support/simulated/front";
import { play } from "../support/simulated/runs";
import { plannedRun, scenarios, withoutTrouble } from "../support/simulated/scenarios";
import type { Fault, PlannedRun, Scenario } from "../support/simulated/scenarios";
import { modelSize, sample } from "../support/size";

test.each(simulatedFronts)(
  "random programs over random runs lose, double and take no record: $name",
  async (front) => {
    await assertProperty(
      fc.asyncProperty(scenarios, async (scenario) => {
        await play(scenario, front);
      }),
      // A scenario has four runs on average, including those that check the result.
      modelSize(3, 25, 1500),
    );
  },
  sample(60_000, 900_000, 10_000_000),
);

test.each(simulatedFronts)(
  "random programs in which nothing goes wrong end without an error: $name",
  async (front) => {
    await assertProperty(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { outcomes } = await play(withoutTrouble(scenario), front);
        expect(outcomes.flatMap(({ errors }) => errors.map(({ message }) => message))).toEqual([]);
      }),
      modelSize(1, 5, 500),
    );
  },
  sample(60_000, 900_000, 10_000_000),
);

const home = { name: "Home", url: "https://home.example/", interval: 60 };
const refused = { name: "Refused", url: "https://refused.example/", interval: 60 };
const a: Declared = { kind: "monitor", name: "a", args: home };
const b: Declared = { kind: "monitor", name: "b", args: home };
const run = (program: readonly Declared[], more?: Partial<PlannedRun>): PlannedRun =>
  plannedRun(program, { isPreviewed: true, ...more });
/** A scenario that begins with no records. */
const runs = (...all: PlannedRun[]): Scenario => ({ records: [], runs: all });
const domain = (name: string, args: Declared["args"], importId?: string, parent?: string): Declared => ({
  kind: "domain",
  name,
  args,
  ...(importId !== undefined && { import: importId }),
  ...(parent !== undefined && { parent }),
});
const one = { name: "one.example" };
const two = { name: "two.example", homepageUrl: "https://two.example/home" };
const byHand = [{ kind: "monitor", fields: home }] as const;

/** Two equal creates whose answers have an id alone, on a server that lags, and a record like them that a person makes. */
const beforeAnswers = (ids: "rising" | "falling", after: number): Scenario => ({
  server: { ids, lag: 4500, ownLag: 3500, dialect: { uniqueDomainNames: false, createAnswer: "id" } },
  ...runs(
    run([a, b], {
      moments: [{ after, happens: { edit: "add", kind: "monitor", fields: home } }],
      parallel: 1,
    }),
  ),
});

/** A create whose answer has an id alone, which cannot be read, and then a person deletes the record. */
const unseen = (isLeft: boolean): Scenario => ({
  server: {
    ids: "rising",
    lag: 0,
    ownLag: 0,
    dialect: { uniqueDomainNames: false, createAnswer: "id" },
  },
  ...runs(
    run([a], { faults: [{ method: "GET", number: 2, fault: "failed" }], isLeft: true }),
    run([a], { before: [{ edit: "delete", kind: "monitor", place: 0 }], isLeft }),
  ),
});

const seen: Record<string, Scenario> = {
  "a record that is deleted before its id was confirmed is created again with adoption": unseen(false),
  "a record that is deleted before its id was confirmed leaves state with adoption": unseen(true),
  "a record that a person makes before the second of two equal creates is neither's": beforeAnswers(
    "rising",
    2,
  ),
  "a record that a person makes before two equal creates is neither's, if ids fall": beforeAnswers(
    "falling",
    1,
  ),
  "a record that a person makes is not that of a later create, if reads lag and an answer has an id alone": {
    server: {
      ids: "rising",
      lag: 4500,
      ownLag: 3500,
      dialect: { uniqueDomainNames: false, createAnswer: "id" },
    },
    ...runs(
      run([domain("a", one, undefined, "x:y:Front"), domain("a", one)], {
        moments: [{ after: 1, happens: { edit: "add", kind: "domain", fields: one } }],
        parallel: 1,
      }),
    ),
  },
  "a record whose resource has got the option import for it is deleted when the resource is replaced": runs(
    run([domain("a", one)]),
    run([domain("a", one, "1")]),
    run([domain("a", one, "1")], { command: "up --refresh", replace: [0] }),
  ),
  "a record that another provider adopts before its create is answered is not in two states": runs(
    run([{ ...domain("b", one), provider: "p" }, domain("a", one)], {
      adoptExisting: true,
      latencies: [0, 0, 1],
    }),
  ),
  "a record is not adopted by another provider while it is deleted, because its resource goes to another account":
    runs(
      run([{ ...a, args: { ...home, account: "second" } }]),
      run([{ ...b, provider: "q" }, a], { adoptExisting: true, parallel: 2, latencies: [0] }),
    ),
  "a record that was adopted in a run that failed is not deleted with its former resource": runs(
    run([a]),
    run([b, { ...a, name: "c", args: refused }], { adoptExisting: true }),
    run([b, { ...a, name: "c", args: { ...home, name: "Shop" } }]),
  ),
  "a resource does not adopt the record of one that registers later": runs(
    run([a]),
    run([b, { ...a, after: ["monitor b"] }], { adoptExisting: true }),
    run([a]),
  ),
  "two resources of one name under different parents do not import one record": {
    records: byHand,
    runs: [
      run(["x:y:Front", "x:y:Back"].map((parent) => ({ ...a, parent, import: "1" }))),
      run([{ ...a, parent: "x:y:Front", import: "1" }]),
    ],
  },
  "two imports that swap records lose none": runs(
    run([domain("a", one), domain("c", two)]),
    run([domain("a", one, "2"), domain("c", two, "1")], { command: "up --refresh --run-program" }),
  ),
  "two imports that swap equal records take none that the other is about to delete": runs(
    run([domain("a", two), domain("c", two)]),
    run([domain("a", two, "2"), domain("c", two, "1")], { command: "up --refresh --run-program" }),
  ),
  "a killed run that has deleted every record is repaired when a person says that it is the same account":
    runs(
      run(["a", "b", "c", "d"].map((name) => ({ ...a, name }))),
      run(
        ["a", "b", "c", "d"].map((name) => ({ ...a, name })),
        { command: "destroy", moments: [{ after: 1, happens: "kill" }] },
      ),
    ),
  "a resource whose record a killed run has deleted gets another name, and is repaired in the same way": runs(
    run([{ ...a, parent: "x:y:Front" }]),
    run([{ ...a, formerly: [{ name: "a", parent: "x:y:Front" }] }], {
      before: [{ event: "rotate", place: 0 }],
      command: "destroy --run-program",
      moments: [{ after: 2, happens: "kill" }],
    }),
  ),
  "a resource that imports a record keeps it when its former one is replaced": runs(
    run([a, b]),
    run(
      [
        { ...a, import: "2" },
        { ...b, import: "1" },
      ],
      { latencies: [17, 14, 14, 11, 9, 19], replace: [0] },
    ),
  ),
  "a create whose answer is lost finds its record, though an import that is refused names the same id": runs(
    run([a, { ...b, args: { ...home, name: "Shop" }, import: "1" }], {
      faults: [{ method: "POST", number: 1, fault: "lost" }],
    }),
  ),
  "a refresh says nothing of a record that a run for one resource has imported for it": runs(
    run([a]),
    run([a, { ...b, import: "1" }], { targets: [1] }),
    run([a, { ...b, import: "1" }], { command: "refresh" }),
    run([{ ...b, import: "1" }], { command: "refresh --run-program" }),
    run([a]),
  ),
  "a record that is deleted before its replacement is made is not imported meanwhile": runs(
    run([domain("a", one)], { adoptExisting: true }),
    run([domain("a", two), domain("a", one, "1", "x:y:Front")], {
      adoptExisting: true,
      command: "up --refresh",
    }),
  ),
  "a resource that gave its record up to an import, and got no other, gets one in the next run": runs(
    run([domain("a", one), domain("a", one, undefined, "x:y:Front")]),
    run([domain("a", one, "2"), domain("a", one, undefined, "x:y:Front")], {
      adoptExisting: true,
      replace: [1],
      faults: [{ method: "POST", number: 1, fault: "refused" }],
    }),
  ),
  "a record that is given up for another's import, which fails, is imported by the next run": runs(
    run([domain("a", two), domain("c", two)]),
    run([domain("a", two, "2"), domain("c", two, "1")], {
      faults: [{ method: "DELETE", number: 1, fault: "refused" }],
    }),
  ),
  "a record that a run for one resource adopts, while another one has it, goes with either": runs(
    run([a]),
    run([{ ...a, name: "c" }], { adoptExisting: true, targets: [0] }),
    run([{ ...a, name: "c" }], { targets: [0], replace: [0] }),
  ),
  "a resource that adopts the record of the one that it replaces keeps it": {
    records: [{ kind: "domain", fields: one }],
    runs: [
      run([domain("a", one)], { adoptExisting: true }),
      run([domain("a", one)], { adoptExisting: true, replace: [0] }),
      run([domain("a", one)]),
    ],
  },
  "an import of a record that its own run has created is refused": runs(
    run([a, { ...a, parent: "x:y:Front", import: "1", after: ["monitor a"] }]),
  ),
  "an import of a record that the replacement of another resource deletes is refused, and creates none": {
    records: byHand,
    runs: [
      run([{ ...a, parent: "x:y:Front" }]),
      run(
        [
          { ...a, parent: "x:y:Front", import: "1" },
          { ...a, parent: "x:y:Back", import: "2", after: ["monitor x:y:Front/a"] },
        ],
        { before: [{ edit: "change", kind: "monitor", place: 1 }] },
      ),
    ],
  },
  "a resource that gets another name and is replaced in one run with a refresh leaves no record behind": runs(
    run([domain("a", one)]),
    run([{ ...domain("b", two), formerly: [{ name: "a" }] }], { command: "up --refresh" }),
    run([{ ...domain("c", two), formerly: [{ name: "b" }], provider: "q" }], { command: "up --refresh" }),
  ),
  "two resources of different providers cannot have one record, and it stays when one of them goes": runs(
    run([a]),
    run([a, { ...b, import: "1", provider: "p" }]),
    run([{ ...b, import: "1", provider: "p" }]),
  ),
  "a record that gets the id of a deleted one stays when the resource of that one goes": {
    server: { ids: "reused", lag: 0, ownLag: 0, dialect: { uniqueDomainNames: false } },
    records: [],
    runs: [run([b]), run([a], { before: [{ edit: "delete", kind: "monitor", place: 0 }] })],
  },
  "records of another account are not taken over by two refreshes and an up with its key": runs(
    run([a]),
    run([a], {
      before: (["refresh --run-program", "refresh --run-program", "up"] as const).map((command) => ({
        event: "mistake",
        command,
        with: "key",
      })),
    }),
  ),
  "equal records of another server are not read, written or deleted, whatever else the settings say": runs(
    run([a]),
    run([a], {
      before: (["refresh --run-program", "up --refresh --run-program", "destroy --run-program"] as const).map(
        (command) => ({ event: "mistake", command, with: "address" }),
      ),
    }),
  ),
  "a record that somebody makes under the id of a deleted one, after its refresh, is not taken over": {
    server: { ids: "reused", lag: 0, ownLag: 0, dialect: { uniqueDomainNames: false } },
    records: [],
    runs: [
      run([a]),
      run([a], {
        command: "up --refresh --run-program",
        before: [{ edit: "delete", kind: "monitor", place: 0 }],
        moments: [{ after: 2, happens: { edit: "add", kind: "monitor", fields: home } }],
      }),
      run([a]),
    ],
  },
  "a record that was adopted from its own former resource, in a run that failed, is not deleted in the next one":
    {
      records: byHand,
      runs: [
        run([{ ...a, import: "1" }]),
        run(
          [
            { ...b, args: refused },
            { ...a, import: "1" },
          ],
          { adoptExisting: true, replace: [1] },
        ),
        run([a]),
      ],
    },
  "a create gets the id of a record that is being deleted, though another resource is to import that record":
    {
      server: {
        ids: "reused",
        lag: 0,
        ownLag: 0,
        dialect: { uniqueDomainNames: false, createAnswer: "id", order: "asked" },
      },
      records: byHand,
      runs: [
        run(
          [
            { ...a, parent: "x:y:Front" },
            { ...a, import: "2" },
          ],
          {
            command: "up --refresh",
            isContinued: true,
            parallel: 1,
            moments: [{ after: 1, happens: { edit: "delete", kind: "monitor", place: 0 } }],
            latencies: [1, 0, 0],
          },
        ),
        run(
          [
            { ...a, parent: "x:y:Front", deleteBeforeReplace: true },
            { ...a, import: "2" },
            { ...a, name: "d", parent: "x:y:Front" },
          ],
          {
            command: "up --refresh --run-program",
            replace: [0],
            parallel: 2,
            faults: [
              { method: "DELETE", number: 1, fault: "slow" },
              { method: "POST", number: 1, fault: "failed once" },
            ],
            latencies: [0],
          },
        ),
      ],
    },
  "an update whose answer is lost is taken back by the next run, also what no record shows": {
    server: { ids: "rising", lag: 0, ownLag: 0, dialect: { hidden: ["ssl_alert_days"] } },
    records: [],
    runs: [
      run([a, b]),
      run(
        [
          { ...a, args: { ...home, interval: 300 } },
          { ...b, args: { ...home, sslAlertDays: 7 } },
        ],
        {
          faults: [{ method: "PATCH", number: 0, fault: "lost" }],
          isContinued: true,
          isLeft: true,
        },
      ),
      run([a, b]),
    ],
  },
};

test.each(Object.entries(seen))("%s", async (_, scenario) => {
  for (const front of simulatedFronts) await play(scenario, front);
});

/** `a` is deleted and created again, while an equal resource is created. */
const crossing = (
  equal: Declared,
  habits: Partial<ServerHabits>,
  onDelete: Fault["fault"],
  onCreate: readonly Fault[] = [],
): Scenario => ({
  server: { ids: "rising", lag: 0, ownLag: 0, ...habits, dialect: { uniqueDomainNames: false } },
  records: [],
  runs: [
    run([a]),
    run([{ ...a, deleteBeforeReplace: true }, equal], {
      replace: [0],
      faults: [{ method: "DELETE", number: 1, fault: onDelete }, ...onCreate],
      // The list is read before the delete is carried out.
      latencies: [5, 5, 0],
    }),
  ],
});
const failsOnce = (number: number): Fault[] => [{ method: "POST", number, fault: "failed once" }];

const crossings: Record<string, Scenario> = {
  "a record that is being deleted is not the one of a lost create": crossing(b, {}, "late", failsOnce(1)),
  "a record that another provider deletes is not the one of a lost create, if ids are strings": crossing(
    { ...b, provider: "p" },
    { ids: "text" },
    "delayed",
    failsOnce(1),
  ),
  "a record that was deleted between the looks for a lost create is not its record, if reads lag": crossing(
    b,
    { lag: 4500, ownLag: 3500 },
    "delayed",
    failsOnce(1),
  ),
  "a record that was deleted before a lost create is not its record, if reads lag": crossing(
    b,
    { lag: 4500, ownLag: 3500 },
    "delayed",
    failsOnce(2),
  ),
  "a create may get the id of a record whose delete is not answered": crossing(b, { ids: "reused" }, "slow"),
  "a create may get the id of a record that another provider deletes": crossing(
    { ...b, provider: "p" },
    { ids: "reused" },
    "slow",
  ),
};

test.each(Object.entries(crossings))("%s", async (_, scenario) => {
  for (const front of simulatedFronts) {
    const { outcomes } = await play(scenario, front);
    expect(outcomes.flatMap(({ errors }) => errors)).toEqual([]);
  }
});
