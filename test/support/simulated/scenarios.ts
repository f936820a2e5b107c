import fc from "fast-check";

import type { Dialect } from "../../../provider/emulator";
import { dialects, namesOf } from "../arbitraries";
import type { Kind } from "../calls";
import type { ServerHabits } from "./api";
import { isOtherFront, labelOf, urnOf, type Declared } from "./engine";
import { faults } from "./faults";

/** Properties under the API's names. */
export type Fields = Readonly<Record<string, string | number>>;

type Generated<Arbitrary> = Arbitrary extends fc.Arbitrary<infer One> ? One : never;
export type Edit = Generated<typeof edit>;
export type Event = Generated<typeof event>;
export type Mistake = Generated<typeof mistake>;
export type Fault = Generated<typeof fault>;
type Change = Generated<typeof change>;
type Crossing = Generated<typeof crossing>;

export type PlannedRun = Omit<Generated<typeof randomRun>, "changes" | "isBack" | "crossing"> & {
  readonly program: readonly Declared[];
  /** Nobody mends what has failed before the next run. */
  readonly isLeft: boolean;
};

/** Somebody edits records while it runs. */
export const isChangedMeanwhile = ({ moments }: PlannedRun): boolean =>
  moments.some(({ happens }) => typeof happens === "object");

/** A run in which nothing else happens. */
export const plannedRun = (program: readonly Declared[], more: Partial<PlannedRun> = {}): PlannedRun => ({
  before: [],
  command: "up",
  adoptExisting: false,
  isPreviewed: false,
  program,
  hasNoProviders: false,
  targets: undefined,
  excluded: undefined,
  replace: undefined,
  isForDependents: false,
  isLeft: false,
  isContinued: false,
  parallel: undefined,
  faults: [],
  moments: [],
  latencies: [1],
  ...more,
});

export interface Scenario {
  /** Another stack of the account runs at the same time. */
  readonly hasNeighbor?: boolean;
  readonly server?: ServerHabits & { readonly dialect: Partial<Dialect> };
  /** Records that are there before the first run, in the order of their ids. */
  readonly records: readonly { readonly kind: Kind; readonly fields: Fields }[];
  readonly runs: readonly PlannedRun[];
}

// Random scenarios -----------------------------------------------------------------------------------------------------

/** A name that the server refuses. */
export const refusedName = "Refused";

const home = { name: "Home", url: "https://home.example/", interval: 60 };
const shop = { name: "Shop & Co", url: "https://shop.example/", interval: 300 };
const monitors: readonly Declared["args"][] = [
  ...[home, shop, { ...home, sslAlertDays: 7 }, { ...shop, pause: true }],
  { ...home, alertChannelIds: [1, 2], requestHeaders: [{ key: "X-Probe", value: "1" }] },
  { ...shop, requestAuthUsername: "probe", requestAuthPassword: "pass-word", cacheBuster: true },
  { ...home, alertCondition: "url_text", alertTextLookup: "a & <b>", requestMethod: "POST" },
  { name: refusedName, url: "https://refused.example/", interval: 60 },
];
const domains: readonly Declared["args"][] = [
  { name: "one.example" },
  { name: "two.example", homepageUrl: "https://two.example/home" },
];
const records: Readonly<Record<Kind, readonly Fields[]>> = {
  monitor: [home, shop],
  domain: [{ name: "one.example" }],
};

/** A value in one of the given number of cases. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, often: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: often - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const rarely = (often: number): fc.Arbitrary<boolean> => sometimes(fc.constant(true), often).map(Boolean);
const kind = fc.oneof({ weight: 3, arbitrary: fc.constant("monitor") }, fc.constant("domain"));
const resourceName = fc.constantFrom("a", "b", "c");

const parentType = sometimes(fc.constantFrom("x:y:Front", "x:y:Back"), 3);
const importedId = fc.constantFrom("1", "2", "3");
/** "p" has the account of the default provider, "q" another one; "other" is the default provider of the other front. */
const provider = sometimes(fc.constantFrom("p", "q", "other"), 2);
/** Some name the account "second" of uptime:accounts, which provider "q" has too. */
const argsOf = (of: Kind): fc.Arbitrary<Declared["args"]> =>
  fc
    .tuple(fc.constantFrom(...(of === "monitor" ? monitors : domains)), rarely(10))
    .map(([args, isSecond]) => (isSecond ? { ...args, account: "second" } : args));

const resource: fc.Arbitrary<Declared> = kind.chain((of) =>
  fc.record({
    kind: fc.constant(of),
    name: resourceName,
    parent: parentType,
    args: argsOf(of),
    import: sometimes(importedId, 6),
    ignoreChanges: sometimes(fc.constant([of === "monitor" ? "interval" : "homepageUrl"]), 12),
    retainOnDelete: rarely(12),
    provider,
  }),
);

const hasDefaultProvider = ({ provider: given = "other" }: Declared): boolean => given === "other";

/** How a program changes between two runs; a resource is named by its place. */
const change = fc.oneof(
  fc.record({ change: fc.constant("add"), resource }),
  fc.record({ change: fc.constantFrom("remove", "first"), place: fc.nat(3) }),
  {
    weight: 2,
    arbitrary: fc.record({
      change: fc.constant("move"),
      place: fc.nat(3),
      name: resourceName,
      parent: parentType,
      hasAlias: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      change: fc.constant("args"),
      place: fc.nat(3),
      monitor: argsOf("monitor"),
      domain: argsOf("domain"),
    }),
  },
  fc.record({ change: fc.constant("provider"), place: fc.nat(3), provider }),
  fc.record({ change: fc.constant("import"), place: fc.nat(3), id: sometimes(importedId, 2) }),
  fc.record({ change: fc.constantFrom("dependsOn", "uses"), place: fc.nat(3), on: fc.nat(3) }),
);

/** The program after a change, or as it was if the change means nothing in it. */
function changed(all: readonly Declared[], one: Change): readonly Declared[] {
  if (one.change === "add") return all.length < 5 ? sound([...all, one.resource]) : all;
  const declared = at(all, one.place);
  if (!declared) return all;
  const replaced = (by: Declared): readonly Declared[] =>
    sound(all.map((other) => (other === declared ? by : other)));
  switch (one.change) {
    case "remove":
      return sound(all.filter((other) => other !== declared));
    case "first":
      return sound([declared, ...all.filter((other) => other !== declared)]);
    case "move": {
      const { name, parent, formerly = [] } = declared;
      const former = one.hasAlias ? [...formerly, { name, parent }] : undefined;
      return replaced({ ...declared, name: one.name, parent: one.parent, formerly: former });
    }
    case "args":
      return replaced({ ...declared, args: one[declared.kind] });
    case "import":
      return replaced({ ...declared, import: one.id });
    case "provider": {
      const isOfSameType = isOtherFront(declared.provider) === isOtherFront(one.provider);
      const formerly = isOfSameType ? declared.formerly : undefined;
      return replaced({ ...declared, provider: one.provider, formerly });
    }
    case "dependsOn":
    case "uses": {
      const on = at(all, one.on);
      if (!on) return all;
      const after = [labelOf(on)];
      return replaced({ ...declared, after, uses: one.change === "uses" ? after : [] });
    }
  }
}

/** Without what Pulumi refuses: two of one URN, aliases that somebody else has, and dependencies on what comes later. */
export function sound(all: readonly Declared[]): readonly Declared[] {
  const urns = new Set<string>();
  const unique = all.filter((one) => !urns.has(urnOf(one)) && urns.add(urnOf(one)));
  const labels = new Set<string>();
  return unique.map(({ formerly = [], after = [], uses = [], ...rest }) => {
    const free = formerly.filter((former) => {
      const urn = urnOf({ kind: rest.kind, provider: rest.provider, ...former });
      return !urns.has(urn) && urns.add(urn);
    });
    const isBefore = (label: string): boolean => labels.has(label);
    const needs = { after: after.filter(isBefore), uses: uses.filter(isBefore) };
    labels.add(labelOf(rest));
    return { ...rest, ...needs, formerly: free };
  });
}

/** What a person does in the API's web UI. A record is named by its place among those that are there. */
const edit = fc.oneof(
  fc.record({ edit: fc.constantFrom("change", "delete"), kind, place: fc.nat(3) }),
  kind.chain((of) =>
    fc.record({ edit: fc.constant("add"), kind: fc.constant(of), fields: fc.constantFrom(...records[of]) }),
  ),
);

/** Somebody runs a command with the key of another account, or with the address of a copy of the server. */
const mistake = fc.record({
  event: fc.constant("mistake"),
  command: fc.constantFrom(
    "up",
    "up --refresh --run-program",
    "refresh --run-program",
    "destroy --run-program",
  ),
  with: fc.constantFrom("key", "address"),
});

/** What happens between two runs. */
const event = fc.oneof(
  { weight: 6, arbitrary: edit },
  // The API key is rotated; the server moves to another address; `pulumi state taint`; an older checkpoint is restored.
  fc.record({ event: fc.constantFrom("rotate", "move", "taint", "restore"), place: fc.nat(3) }),
  mistake,
);

/** What happens in a run after a number of requests. */
const moment = fc.record({
  after: fc.integer({ min: 1, max: 6 }),
  // Ctrl-C, which the second time kills; kill -9; SIGTERM to the provider's processes; or somebody else writes.
  happens: fc.oneof(
    { weight: 2, arbitrary: fc.constant("interrupt") },
    fc.constantFrom("kill", "terminate"),
    { weight: 2, arbitrary: edit },
  ),
});

/** What goes wrong with one request, counted among those of its method, or 0 with each update, so that its answer is lost. */
const fault = fc
  .record({
    method: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("POST", "PATCH", "DELETE") },
      fc.constant("GET"),
    ),
    number: fc.integer({ min: 0, max: 3 }),
    fault: fc.constantFrom(...namesOf(faults)),
  })
  .map((one) => (one.method === "PATCH" ? one : { ...one, number: Math.max(1, one.number) }));
/** A resource is replaced, and deleted first; meanwhile an equal one is created, and their requests cross. */
const crossing = fc.record({
  place: fc.nat(3),
  name: fc.constantFrom("d", "e"),
  provider,
  onDelete: fc.constantFrom("delayed", "stalled", "late", "slow"),
  onCreate: fc.constantFrom("failed once", "failed", "lost", "504", "delayed"),
  // The equal resource is mostly created first.
  create: fc.constantFrom(1, 1, 2),
});

/** The program with the equal resource, and the run. */
function crossed(all: readonly Declared[], { place, name, provider, ...crosses }: Crossing) {
  const replaced = at(all, place);
  if (!replaced) return undefined;
  const first = { ...replaced, import: undefined, retainOnDelete: false, deleteBeforeReplace: true };
  const others = all.map((one) => (one === replaced ? first : one));
  const faults: Fault[] = [
    { method: "DELETE", number: 1, fault: crosses.onDelete },
    { method: "POST", number: crosses.create, fault: crosses.onCreate },
  ];
  return {
    program: sound([...others, { ...first, name, provider, formerly: [] }]),
    run: { replace: [all.indexOf(replaced)], targets: undefined, excluded: undefined, faults, moments: [] },
  };
}

const places = (maxLength: number): fc.Arbitrary<number[]> =>
  fc.array(fc.nat(3), { minLength: 1, maxLength });

const randomRun = fc.record({
  before: fc.array(event, { maxLength: 3, size: "-1" }),
  command: fc.oneof(
    { weight: 5, arbitrary: fc.constant("up") },
    { weight: 2, arbitrary: fc.constant("up --refresh") },
    { weight: 3, arbitrary: fc.constant("up --refresh --run-program") },
    fc.constantFrom("refresh", "refresh --run-program"),
    fc.constantFrom("destroy", "destroy --run-program"),
  ),
  adoptExisting: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.constant(true)),
  // A preview comes before it.
  isPreviewed: rarely(4),
  changes: fc.array(change, { maxLength: 3 }),
  crossing: sometimes(crossing, 4),
  // Nobody mends what the run before has left half done, and the program is again what it was two runs before.
  isBack: rarely(4),
  // The explicit providers are taken out of the program.
  hasNoProviders: rarely(10),
  // `--target`, `--exclude` and `--replace`: resources of the program, by their places.
  targets: sometimes(places(2), 8),
  excluded: sometimes(places(1), 12),
  replace: sometimes(places(1), 10),
  // `--target-dependents`
  isForDependents: rarely(2),
  // `--continue-on-error`
  isContinued: rarely(8),
  parallel: sometimes(fc.integer({ min: 1, max: 3 }), 2),
  faults: fc.oneof(fc.constant<Fault[]>([]), fc.array(fault, { maxLength: 3 })),
  moments: fc.array(moment, { maxLength: 2, size: "-1" }),
  // Milliseconds that the requests take, one after the other.
  latencies: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 6 }),
});

const habits = fc.record({
  ids: fc.constantFrom("rising", "falling", "reused", "text"),
  // Two looks for a lost create are five seconds apart, and a record is read for four seconds until it is as written.
  lags: fc.constantFrom([0, 0], [0, 0], [1500, 1500], [0, 3500], [4500, 0], [4500, 3500]),
  dialect: fc
    .tuple(
      fc.oneof(
        fc.record<Partial<Dialect>>({ hidden: fc.constantFrom([], [], ["ssl_alert_days"]) }),
        dialects,
      ),
      fc.record({
        uniqueDomainNames: fc.constant(false),
        // An id that the server does not know is 403 on some: then a person must say that a record is gone.
        gone: fc.constantFrom(404, 410),
        paging: fc.constantFrom("links", "cursor", "none"),
        deletion: fc.constantFrom("removed", "removed", "marked"),
        order: fc.constantFrom("asked", "asked", "none"),
        createAnswer: fc.constantFrom("record", "id"),
        accepted: fc.constantFrom<Dialect["accepted"][]>("usual", "usual", "usual", "usual", 202),
        listBrief: fc.boolean(),
      }),
    )
    // A brief list would show records that are marked as deleted, and not the mark.
    .map(([usual, dialect]) => ({
      ...usual,
      ...dialect,
      listBrief: dialect.listBrief && dialect.deletion === "removed",
    })),
});

const server: fc.Arbitrary<NonNullable<Scenario["server"]>> = habits.map(({ ids, lags, dialect }) => {
  // A read that lags may show a deleted record whose id a new one has got: nobody can tell the two apart.
  const [lag = 0, ownLag = 0] = ids === "reused" ? [] : lags;
  // If no answer to a create has an id, nor a `Location` in which that is a number, equal creates of two providers fail until a
  // person imports what they have made.
  const createLocation = dialect.createStatus === 204 || dialect.accepted === 202;
  return {
    ids: createLocation && ids === "text" ? "rising" : ids,
    lag,
    ownLag,
    dialect: { ...dialect, createLocation },
  };
});

export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    server,
    hasNeighbor: rarely(3),
    records: fc.array(
      kind.chain((of) => fc.record({ kind: fc.constant(of), fields: fc.constantFrom(...records[of]) })),
      { maxLength: 3 },
    ),
    program: fc.array(resource, { maxLength: 4 }),
    runs: fc.array(randomRun, { minLength: 1, maxLength: 4, size: "max" }),
  })
  .map(({ server: habits, hasNeighbor, records: before, program, runs }): Scenario => {
    let [previous, present] = [sound(program), sound(program)];
    return {
      server: habits,
      hasNeighbor,
      records: before,
      runs: runs.map(({ changes, isBack, crossing: planned, ...run }, index) => {
        const hasCrossing = index > 0 && run.command.startsWith("up");
        const crosses = hasCrossing && planned ? crossed(present, planned) : undefined;
        const other = isBack ? previous : changes.reduce(changed, present);
        [previous, present] = [present, crosses?.program ?? other];
        // The flags need a resource to name, and some are for `up` only.
        const isNamed = present.length > 0;
        const isUp = isNamed && run.command.startsWith("up");
        return {
          ...run,
          targets: isUp || (isNamed && run.command.startsWith("destroy")) ? run.targets : undefined,
          excluded: isUp && !run.targets ? run.excluded : undefined,
          replace: isUp ? run.replace : undefined,
          ...crosses?.run,
          isLeft: runs[index + 1]?.isBack ?? false,
          program: run.hasNoProviders ? sound(present.filter(hasDefaultProvider)) : present,
        };
      }),
    };
  })
  .map((scenario) => Object.assign(scenario, { [fc.toStringMethod]: () => describeScenario(scenario) }));

/** One run a line. */
const describeScenario = ({ runs, ...rest }: Scenario): string =>
  ["", rest, ...runs].map((one) => JSON.stringify(one)).join("\n");

/** A scenario without anything that may be a reason for an error. */
export const withoutTrouble = (scenario: Scenario): Scenario => ({
  ...scenario,
  runs: scenario.runs.map((run) => ({
    ...run,
    before: run.before.filter((one) => "edit" in one && one.edit !== "delete"),
    adoptExisting: false,
    hasNoProviders: false,
    targets: undefined,
    excluded: undefined,
    replace: undefined,
    faults: [],
    moments: [],
    program: run.program
      .filter(({ args }) => args.name !== refusedName)
      .map((declared) => ({ ...declared, import: undefined })),
  })),
});

/**
 * A scenario that every engine and the emulator end in the same way: nothing depends on which of two things is first. Nor is
 * a resource excluded, because the engine then makes what depends on it, and its state is refused.
 */
export function inOrder({ records: before, runs }: Scenario): Scenario {
  return {
    records: before,
    runs: runs.map(({ program: all, ...run }) => ({
      ...run,
      before: run.before.filter((one) => "edit" in one),
      faults: [],
      moments: [],
      targets: run.command.startsWith("up") ? run.targets : undefined,
      excluded: undefined,
      parallel: undefined,
      latencies: [1],
      program: sound(
        all.map(({ provider: _, args: { account: __, ...args }, ...declared }) => ({ ...declared, args })),
      ).map((declared, place, kept) => {
        const { after: _, uses: __, ...rest } = declared;
        const previous = kept[place - 1];
        return previous ? { ...rest, after: [labelOf(previous)] } : rest;
      }),
    })),
  };
}

/** The item at a place, counted on from the beginning after the last one. */
export const at = <T>(all: readonly T[], place: number): T | undefined => all[place % all.length];

/** URNs of the resources at these places of a program. */
export const urnsAt = (all: readonly Declared[], places?: readonly number[]): string[] | undefined =>
  places?.flatMap((place) => at(all, place) ?? []).map(urnOf);
