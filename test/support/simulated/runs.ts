import fc from "fast-check";

import type { Table } from "../../../provider/emulator";
import { isInternal, kinds } from "../calls";
import type { Kind } from "../calls";
import { Hang, VirtualClock } from "../clock";
import { apiKey, networkError, origin, SimulatedApi } from "./api";
import type { Seen } from "./api";
import { isGreen, labelOf, SimulatedEngine, urnOf } from "./engine";
import type { Command, Declared, Entry, Operation, Outcome, RunOptions } from "./engine";
import type { Front } from "./front";
import { SimulatedProcesses } from "./process";

/** What a person does in the API's web UI. A record is named by its place among those that are there. */
export type Edit =
  | { readonly edit: "change" | "delete"; readonly kind: Kind; readonly place: number }
  | { readonly edit: "add"; readonly kind: Kind; readonly fields: Fields };

/** Properties under the API's names. */
export type Fields = Readonly<Record<string, string | number>>;

/** What goes wrong in a run: with the request of this number among those of its method, and with each repetition of it. */
export interface Fault {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly number: number;
  /** "refused": 422. "failed": 500. "lost": it has its effect, and the connection is cut; a repetition is answered. */
  readonly fault: "refused" | "failed" | "lost";
}

export interface PlannedRun {
  readonly edits: readonly Edit[];
  readonly command: Command;
  readonly adoptExisting: boolean;
  /** A person says that the account is the one that state means. */
  readonly isSameAccount?: boolean;
  /** A preview comes before it. */
  readonly isPreviewed: boolean;
  /** Before it somebody runs with the key of another account, which has no records. */
  readonly isMistaken: boolean;
  readonly program: readonly Declared[];
  /** The run is for these resources of the program only, by their places. */
  readonly targets?: readonly number[] | undefined;
  readonly replace?: readonly number[] | undefined;
  readonly faults: readonly Fault[];
  /** The engine and the provider are killed when so many requests have had an effect. */
  readonly killAfter?: number | undefined;
  /** How long the requests take, one after the other. */
  readonly latencies: readonly number[];
}

export interface Scenario {
  /** Records that are there before the first run, in the order of their ids. */
  readonly records: readonly { readonly kind: Kind; readonly fields: Fields }[];
  readonly runs: readonly PlannedRun[];
}

// Random scenarios -----------------------------------------------------------------------------------------------------

/** A name that the server refuses. */
const refusedName = "Refused";

const monitors: readonly Declared["args"][] = [
  { name: "Home", url: "https://home.example/", interval: 60 },
  { name: "Shop", url: "https://shop.example/", interval: 300 },
  { name: "Home", url: "https://home.example/", interval: 60, sslAlertDays: 7 },
  { name: "Shop", url: "https://shop.example/", interval: 300, pause: true },
  { name: refusedName, url: "https://refused.example/", interval: 60 },
];
const domains: readonly Declared["args"][] = [
  { name: "one.example" },
  { name: "two.example", homepageUrl: "https://two.example/home" },
];
const monitorRecord = (at: number): Fields => {
  const { name, url, interval } = monitors[at] as { name: string; url: string; interval: number };
  return { name, url, interval };
};
const records: Readonly<Record<Kind, readonly Fields[]>> = {
  monitor: [monitorRecord(0), monitorRecord(1)],
  domain: [{ name: "one.example" }],
};

/** Once in so many times. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>, often: number): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: often - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const rarely = (often: number): fc.Arbitrary<boolean> => sometimes(fc.constant(true), often).map(Boolean);
const kind = fc.oneof(
  { weight: 3, arbitrary: fc.constant("monitor" as const) },
  fc.constant("domain" as const),
);
const resourceName = fc.constantFrom("a", "b", "c");

const parentType = sometimes(fc.constantFrom("x:y:Front", "x:y:Back"), 3);
const importedId = fc.constantFrom("1", "2", "3");
const argsOf = (of: Kind): fc.Arbitrary<Declared["args"]> =>
  fc.constantFrom(...(of === "monitor" ? monitors : domains));

const resource: fc.Arbitrary<Declared> = kind.chain((of) =>
  fc
    .record({
      name: resourceName,
      parent: parentType,
      args: argsOf(of),
      importId: sometimes(importedId, 6),
      ignoreChanges: sometimes(fc.constant(of === "monitor" ? "interval" : "homepageUrl"), 12),
    })
    .map(({ name, parent, args, importId, ignoreChanges }) => ({
      kind: of,
      name,
      ...(parent !== undefined && { parent }),
      args,
      ...(importId !== undefined && { import: importId }),
      ...(ignoreChanges !== undefined && { ignoreChanges: [ignoreChanges] }),
    })),
);

/** How a person changes a program between two runs; a resource is named by its place. */
type Change =
  | { readonly change: "add"; readonly resource: Declared }
  | { readonly change: "remove" | "first"; readonly place: number }
  | {
      readonly change: "move";
      readonly place: number;
      readonly name: string;
      readonly parent?: string | undefined;
      readonly hasAlias: boolean;
    }
  | {
      readonly change: "args";
      readonly place: number;
      readonly monitor: Declared["args"];
      readonly domain: Declared["args"];
    }
  | { readonly change: "import"; readonly place: number; readonly id: string | undefined }
  | { readonly change: "dependsOn"; readonly place: number; readonly on: number };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ change: fc.constant("add" as const), resource }),
  fc.record({ change: fc.constantFrom("remove" as const, "first" as const), place: fc.nat(3) }),
  {
    weight: 2,
    arbitrary: fc.record({
      change: fc.constant("move" as const),
      place: fc.nat(3),
      name: resourceName,
      parent: parentType,
      hasAlias: fc.boolean(),
    }),
  },
  fc.record({
    change: fc.constant("args" as const),
    place: fc.nat(3),
    monitor: argsOf("monitor"),
    domain: argsOf("domain"),
  }),
  fc.record({ change: fc.constant("import" as const), place: fc.nat(3), id: sometimes(importedId, 2) }),
  fc.record({ change: fc.constant("dependsOn" as const), place: fc.nat(3), on: fc.nat(3) }),
);

/** The program after a change, or as it was if the change means nothing in it. */
function changed(all: readonly Declared[], one: Change): readonly Declared[] {
  if (one.change === "add") return all.length < 5 ? sound([...all, one.resource]) : all;
  const place = one.place % Math.max(1, all.length);
  const declared = all[place];
  if (!declared) return all;
  const replaced = (by: Declared): readonly Declared[] =>
    sound(all.map((other) => (other === declared ? by : other)));
  switch (one.change) {
    case "remove":
      return sound(all.filter((other) => other !== declared));
    case "first":
      return sound([declared, ...all.filter((other) => other !== declared)]);
    case "move": {
      const { parent, name, formerly = [], ...rest } = declared;
      const former = [...formerly, { name, ...(parent !== undefined && { parent }) }];
      return replaced({
        ...rest,
        name: one.name,
        ...(one.parent !== undefined && { parent: one.parent }),
        ...(one.hasAlias && { formerly: former }),
      });
    }
    case "args":
      return replaced({ ...declared, args: one[declared.kind] });
    case "import": {
      const { import: _, ...rest } = declared;
      return replaced({ ...rest, ...(one.id !== undefined && { import: one.id }) });
    }
    case "dependsOn": {
      const on = all[one.on % all.length];
      return on ? replaced({ ...declared, after: [labelOf(on)] }) : all;
    }
  }
}

/** Without what Pulumi refuses: two of one URN, aliases that somebody else has, and dependencies on what comes later. */
function sound(all: readonly Declared[]): readonly Declared[] {
  const urns = new Set<string>();
  const unique = all.filter((one) => !urns.has(urnOf(one)) && urns.add(urnOf(one)));
  const labels = new Set<string>();
  return unique.map(({ formerly = [], after = [], ...rest }) => {
    const free = formerly.filter((former) => {
      const urn = urnOf({ kind: rest.kind, ...former });
      return !urns.has(urn) && urns.add(urn);
    });
    const before = after.filter((label) => labels.has(label));
    labels.add(labelOf(rest));
    return {
      ...rest,
      ...(free.length > 0 && { formerly: free }),
      ...(before.length > 0 && { after: before }),
    };
  });
}

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({
    edit: fc.constantFrom("change" as const, "delete" as const),
    kind,
    place: fc.nat(3),
  }),
  kind.chain((of) =>
    fc.record({
      edit: fc.constant("add" as const),
      kind: fc.constant(of),
      fields: fc.constantFrom(...records[of]),
    }),
  ),
);

const plannedRun: fc.Arbitrary<Omit<PlannedRun, "program"> & { readonly changes: readonly Change[] }> =
  fc.record({
    edits: fc.array(edit, { maxLength: 2, size: "-1" }),
    command: fc.oneof(
      { weight: 5, arbitrary: fc.constant("up" as const) },
      { weight: 2, arbitrary: fc.constant("up --refresh" as const) },
      { weight: 3, arbitrary: fc.constant("up --refresh --run-program" as const) },
      fc.constantFrom("refresh" as const, "refresh --run-program" as const, "destroy" as const),
    ),
    adoptExisting: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.constant(true)),
    isPreviewed: rarely(4),
    isMistaken: rarely(6),
    changes: fc.array(change, { maxLength: 3 }),
    targets: sometimes(fc.array(fc.nat(3), { minLength: 1, maxLength: 2 }), 8),
    replace: sometimes(fc.array(fc.nat(3), { minLength: 1, maxLength: 1 }), 10),
    faults: fc.array(
      fc.record({
        method: fc.constantFrom("POST" as const, "PATCH" as const, "DELETE" as const),
        number: fc.integer({ min: 1, max: 3 }),
        fault: fc.constantFrom("refused" as const, "failed" as const, "lost" as const),
      }),
      { maxLength: 1, size: "-1" },
    ),
    killAfter: sometimes(fc.integer({ min: 1, max: 3 }), 10),
    latencies: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 6 }),
  });

export const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    records: fc.array(
      kind.chain((of) => fc.record({ kind: fc.constant(of), fields: fc.constantFrom(...records[of]) })),
      { maxLength: 3 },
    ),
    program: fc.array(resource, { maxLength: 4 }),
    runs: fc.array(plannedRun, { minLength: 1, maxLength: 4, size: "max" }),
  })
  .map(({ records: before, program, runs }): Scenario => {
    let present = sound(program);
    return {
      records: before,
      runs: runs.map(({ changes, ...run }) => {
        present = changes.reduce(changed, present);
        // The flags are for `up` only, and there has to be something to name.
        const { targets, replace, ...rest } = run;
        const isNamed = run.command.startsWith("up") && present.length > 0;
        return {
          ...rest,
          ...(isNamed && targets && { targets }),
          ...(isNamed && replace && { replace }),
          program: present,
        };
      }),
    };
  })
  .map((scenario) => Object.assign(scenario, { [fc.toStringMethod]: () => describeScenario(scenario) }));

// Readable -------------------------------------------------------------------------------------------------------------

const plain = (value: unknown): string => JSON.stringify(value).replace(/"(\w+)":/g, "$1: ");

function describeScenario({ records: before, runs }: Scenario): string {
  const made = before.map(({ kind: of, fields }) => `  ${of} ${plain(fields)}`);
  return [
    "",
    ...(made.length > 0 ? ["Made by hand before the first run:", ...made] : []),
    ...runs.flatMap((run, number) => describeRun(run, number + 1)),
    "",
  ].join("\n");
}

function describeRun(run: PlannedRun, number: number): string[] {
  const named = (places: readonly number[] | undefined): string =>
    (places ?? []).map((place) => labelAt(run.program, place) ?? "").join(", ");
  const { adoptExisting, faults, killAfter, edits, latencies } = run;
  return [
    ...(run.isMistaken ? ["Somebody runs up --refresh --run-program with the key of another account"] : []),
    `Run ${number}: ${run.isPreviewed ? "preview, " : ""}${run.command}${adoptExisting ? ", adoptExisting" : ""}` +
      (run.targets ? `, --target ${named(run.targets)}` : "") +
      (run.replace ? `, --replace ${named(run.replace)}` : "") +
      (latencies.some((one) => one !== latencies[0]) ? `, latencies ${latencies.join(" ")}` : ""),
    ...edits.map((one) =>
      one.edit === "add"
        ? `  by hand: a new ${one.kind} ${plain(one.fields)}`
        : `  by hand: ${one.edit} the ${one.kind} at place ${one.place}`,
    ),
    ...run.program.map(({ kind: of, name, args, parent, after, ...options }) => {
      const Class = of === "monitor" ? "Monitor" : "Domain";
      const rest = {
        ...(parent !== undefined && { parent }),
        ...(after && { dependsOn: after }),
        ...options,
      };
      const tail = Object.keys(rest).length > 0 ? `, ${plain(rest)}` : "";
      return `  new ${Class}("${name}", ${plain(args)}${tail})`;
    }),
    ...faults.map(({ method, number: nth, fault }) => `  ${method} number ${nth} is ${fault}`),
    ...(killAfter === undefined ? [] : [`  killed after ${killAfter} effects`]),
  ];
}

function labelAt(all: readonly Declared[], place: number): string | undefined {
  const declared = all.length > 0 ? all[place % all.length] : undefined;
  return declared && labelOf(declared);
}

/** A scenario in which nothing depends on which of two things is first, so that every engine ends it in the same way. */
export function inOrder({ records: before, runs }: Scenario): Scenario {
  return {
    records: before,
    runs: runs.map(({ program: all, ...run }) => ({
      ...run,
      faults: [],
      killAfter: undefined,
      isMistaken: false,
      latencies: [1],
      program: all.map((declared, place) => {
        const { after: _, ...rest } = declared;
        const previous = all[place - 1];
        return previous ? { ...rest, after: [labelOf(previous)] } : rest;
      }),
    })),
  };
}

/** Whether the server refuses a record of this name, as it does in every scenario. */
export const isRefused = (pairs: readonly (readonly [string, string])[]): boolean =>
  pairs.some(([name, value]) => name === "name" && value === refusedName);

/** Does in the API by hand what a run's plan says. */
export function applyEdit({ edit: what, ...one }: Edit, table: Table): { edited: string } | undefined {
  if (what === "add") {
    table.add("fields" in one ? one.fields : {});
    return undefined;
  }
  const all = table.all();
  const record = "place" in one ? all[one.place % Math.max(1, all.length)] : undefined;
  if (!record) return undefined;
  if (what === "delete") table.remove(record.id);
  else
    table.edit(
      record.id,
      one.kind === "monitor" ? { interval: 3600 } : { homepage_url: "https://edited.example/" },
    );
  return { edited: String(record.id) };
}

/** URNs of the resources at these places of a program. */
export function urnsAt(
  all: readonly Declared[],
  places: readonly number[] | undefined,
): string[] | undefined {
  return places?.flatMap((place) => {
    const declared = all[place % Math.max(1, all.length)];
    return declared ? [urnOf(declared)] : [];
  });
}

// Running --------------------------------------------------------------------------------------------------------------

const keyOf = (of: Kind, id: string): string => `${of} ${id}`;
/** No operation takes longer than its time, and few follow one another. */
const longest = 3 * 3_600_000;

/** Something happened that must never happen. */
export class Violation extends Error {}

export interface Result {
  readonly engine: SimulatedEngine;
  readonly api: SimulatedApi;
  readonly outcomes: readonly Outcome[];
}

/**
 * Goes through a scenario, and looks after every run whether all that must hold does.
 *
 * @param isRepaired whether each run is followed by one that must change nothing, or must mend what has failed
 */
export async function play(
  scenario: Scenario,
  front: Front,
  { isRepaired = true }: { readonly isRepaired?: boolean } = {},
): Promise<Result> {
  const world = new World(front, isRepaired);
  for (const { kind: of, fields } of scenario.records) world.api.tables[of].add(fields);
  for (const [at, run] of scenario.runs.entries()) await world.run(run, `run ${at + 1}`);
  return world;
}

class World implements Result {
  readonly time = new VirtualClock();
  readonly api = new SimulatedApi(this.time, { uniqueDomainNames: false });
  readonly engine: SimulatedEngine;
  readonly outcomes: Outcome[] = [];
  private previous: PlannedRun | undefined;
  /** Records that a person deleted. */
  private readonly deletedByHand = new Set<string>();
  /** Records that a person changed since the last run with a refresh that was green. */
  private readonly changedByHand = new Set<string>();
  /** Records that a run may have left behind, and said so, or was killed. */
  private readonly strays = new Set<string>();
  private readonly createdByProvider = new Set<string>();
  /** Records that resources have imported or adopted: by URN and id. */
  private readonly taken = new Set<string>();
  /** Records that two resources have had, since a run that did not hear of both. */
  private readonly shared = new Set<string>();
  /** Deletes that were begun: by URN and id. */
  private readonly condemned = new Set<string>();

  constructor(
    private readonly front: Front,
    private readonly isRepaired: boolean,
  ) {
    this.engine = new SimulatedEngine(front.register);
  }

  async run(run: PlannedRun, title: string): Promise<void> {
    if (run.isMistaken) await this.mistake(title);
    for (const one of run.edits) this.edit(one);
    const previewed =
      run.isPreviewed && run.command.startsWith("up") ? await this.preview(run, title) : undefined;
    const outcome = await this.execute(run, title);
    const wasGreen = isGreen(outcome);
    if (previewed && !isGreen(previewed) && wasGreen)
      throw new Violation(`${title} was green, and its preview was not: ${messagesOf(previewed)}`);
    this.previous = run;
    const isUp = run.command.startsWith("up") && !run.targets && !run.replace;
    if (wasGreen && isUp) {
      this.assertConverged(run, title);
      if (!this.isRepaired) return;
      const again = { ...run, edits: [], faults: [], killAfter: undefined };
      const second = await this.execute(again, `${title}, again`);
      const writes = this.api.writes().filter(({ status }) => status !== 405);
      if (!isGreen(second) || writes.length > 0)
        throw new Violation(
          `${title} was green, and the same again is not: ${messagesOf(second)}, ${writes.map(shown).join(", ")}`,
        );
    }
    if (!wasGreen && this.isRepaired) await this.repair(run, outcome, title);
  }

  /** Runs a command in processes of its own. */
  private async start(api: SimulatedApi, options: RunOptions, killed?: Promise<void>): Promise<Outcome> {
    const processes = new SimulatedProcesses(this.front.start, this.time, api);
    try {
      return await this.time.until(this.engine.run(processes, options, killed), longest);
    } finally {
      processes.kill();
    }
  }

  /** A preview changes nothing. */
  private async preview(run: PlannedRun, title: string): Promise<Outcome> {
    const { api } = this;
    api.forget();
    api.misbehave = () => undefined;
    const outcome = await this.start(api, { ...this.optionsOf(run), isPreview: true });
    if (api.writes().length > 0)
      throw new Violation(`the preview of ${title} wrote: ${api.writes().map(shown).join(", ")}`);
    return outcome;
  }

  /** With the key of another account nothing is there, which proves nothing. */
  private async mistake(title: string): Promise<void> {
    const { engine, time, previous } = this;
    const isAllInState = previous?.program.every((one) => engine.state.some(({ urn }) => urn === urnOf(one)));
    if (
      !previous ||
      !isAllInState ||
      engine.state.length === 0 ||
      engine.state.some(({ isDelete }) => isDelete)
    )
      return;
    const before = JSON.stringify(engine.state.map(({ urn, id }) => [urn, id]));
    const { settings } = engine;
    const other = new SimulatedApi(time, { uniqueDomainNames: false });
    other.key = "21|another-key";
    const options = this.optionsOf({ ...previous, command: "up --refresh --run-program" });
    const outcome = await this.start(other, {
      ...options,
      settings: { ...options.settings, "uptime:apiKey": other.key },
      targets: undefined,
      replace: undefined,
    });
    engine.settings = settings;
    const after = JSON.stringify(engine.state.map(({ urn, id }) => [urn, id]));
    if (after !== before || isGreen(outcome) || other.writes().some(({ effect }) => effect))
      throw new Violation(
        `before ${title}, with the key of another account: ${messagesOf(outcome)}, state ${before} became ${after}, requests ${other.requests.map(shown).join(", ")}`,
      );
  }

  private optionsOf(run: PlannedRun): RunOptions {
    return {
      command: run.command,
      settings: {
        "uptime:baseUrl": origin,
        "uptime:apiKey": apiKey,
        ...(run.adoptExisting && { "uptime:adoptExisting": "true" }),
        ...(run.isSameAccount && { "uptime:sameAccount": "true" }),
      },
      program: run.program,
      targets: urnsAt(run.program, run.targets),
      replace: urnsAt(run.program, run.replace),
    };
  }

  /** What a person can always do: take out what is refused and the imports, and run again. */
  private async repair(run: PlannedRun, failed: Outcome, title: string): Promise<void> {
    const kept = this.engine.state;
    const program = run.program.filter(({ args }) => args.name !== refusedName);
    let mended: PlannedRun = {
      ...run,
      edits: [],
      faults: [],
      killAfter: undefined,
      targets: undefined,
      replace: undefined,
      adoptExisting: false,
      command: "up --refresh --run-program",
      program: sound(program.map(({ import: _, ...rest }) => rest)),
    };
    const copy = structuredCopy(kept);
    const wasDoubled = this.doubled().length > 0;
    let outcome = await this.execute(mended, `${title}, repaired`);
    // Two resources of the program may have one record, if one has imported or adopted it in a run that did not hear of the
    // other. Then a person must take one of them out; unless one of them was waiting for its replacement, and has another
    // record now.
    const doubled = this.doubled();
    if (!isGreen(outcome) && (wasDoubled || doubled.length > 0)) {
      mended = { ...mended, program: sound(mended.program.filter((one) => !doubled.includes(urnOf(one)))) };
      outcome = await this.execute(
        mended,
        `${title}, repaired without ${doubled.join(" and ") || "a change"}`,
      );
    }
    // Only a person can tell an account whose records are all deleted, as a killed run may have done, from another one.
    if (!isGreen(outcome) && kinds.some((of) => this.isEmptied(of)))
      outcome = await this.execute(
        { ...mended, isSameAccount: true },
        `${title}, repaired in the same account`,
      );
    if (!isGreen(outcome))
      throw new Violation(
        `${title} failed (${messagesOf(failed)}), and cannot be repaired: ${messagesOf(outcome)}; state was ${JSON.stringify(copy)}`,
      );
    this.assertConverged(mended, `${title}, repaired`);
  }

  /** Whether the server has no record of a kind, and state more than one. */
  private isEmptied(of: Kind): boolean {
    return this.api.tables[of].size === 0 && this.engine.state.filter((one) => one.kind === of).length > 1;
  }

  /** Resources whose record another one has too, which stays. */
  private doubled(): string[] {
    const { state } = this.engine;
    const firsts = new Map(state.map((entry) => [keyOf(entry.kind, entry.id), entry]));
    return state.filter((entry) => firsts.get(keyOf(entry.kind, entry.id)) !== entry).map(({ urn }) => urn);
  }

  private async execute(run: PlannedRun, title: string): Promise<Outcome> {
    const { api, engine, time } = this;
    const before = engine.state.map((entry) => ({ ...entry }));
    const existing = new Set(
      kinds.flatMap((of) => api.tables[of].all().map(({ id }) => keyOf(of, String(id)))),
    );
    api.forget();
    let requests = 0;
    api.latency = () => run.latencies[requests++ % run.latencies.length] ?? 0;
    const faulty = new Map<string, Fault>();
    api.misbehave = (request) => {
      if (isRefused(request.body)) return { effectAfter: "never", answer: () => refusal };
      const key = JSON.stringify([request.method, request.path, request.body]);
      const fault =
        faulty.get(key) ??
        run.faults.find(({ method, number }) => method === request.method && number === request.number);
      if (!fault) return undefined;
      if (fault.fault === "lost" && faulty.has(key)) return undefined;
      faulty.set(key, fault);
      if (fault.fault === "lost") return { answer: () => networkError("ECONNRESET", "read ECONNRESET") };
      return { effectAfter: "never", answer: () => (fault.fault === "refused" ? refusal : failure) };
    };
    let effects = 0;
    let kill = (): void => undefined;
    const killed = run.killAfter === undefined ? undefined : new Promise<void>((resolve) => (kill = resolve));
    api.onEffect = ({ kind: of, effect }) => {
      if (of && effect?.made === "created") this.createdByProvider.add(keyOf(of, effect.id));
      if (++effects === run.killAfter) kill();
    };
    let outcome: Outcome;
    try {
      outcome = await this.start(api, this.optionsOf(run), killed);
    } catch (error) {
      if (error instanceof Hang) throw new Violation(`${title}: ${error.message}`);
      throw error;
    }
    // What was sent before a kill still has its effect.
    await time.until(time.sleep(60_000));
    this.outcomes.push(outcome);
    // After a delete that was done, the engine has the resource no more; if it has, another one has taken the record.
    for (const { operation, urn, id, outcome: end } of outcome.operations)
      if (operation === "delete" && id !== undefined && (outcome.isKilled || end !== "done"))
        this.condemned.add(`${urn} ${id}`);
    this.assertSound(run, outcome, before, existing, title);
    return outcome;
  }

  private edit(one: Edit): void {
    const done = applyEdit(one, this.api.tables[one.kind]);
    if (!done) return;
    const key = keyOf(one.kind, done.edited);
    (one.edit === "delete" ? this.deletedByHand : this.changedByHand).add(key);
  }

  // What must hold ---------------------------------------------------------------------------------------------------

  private exists(key: string): boolean {
    const [of = "monitor", id = ""] = key.split(" ");
    return this.api.tables[of as Kind].get(id) !== undefined;
  }

  private assertSound(
    run: PlannedRun,
    outcome: Outcome,
    before: readonly Entry[],
    existing: ReadonlySet<string>,
    title: string,
  ): void {
    const { isKilled } = outcome;
    const violated = (text: string): never => {
      throw new Violation(
        `${title}: ${text}\nerrors: ${messagesOf(outcome)}\n` +
          `operations: ${outcome.operations.map(operationShown).join(", ")}\n` +
          `requests: ${this.api.requests.map(shown).join(", ")}`,
      );
    };
    for (const { message } of outcome.errors) if (isInternal(message)) violated(message);
    const present = this.engine.state.filter(({ isPendingReplacement }) => !isPendingReplacement);

    for (const { operation, urn, result } of outcome.operations) {
      const of = this.engine.state.find((entry) => entry.urn === urn)?.kind;
      if (of && operation === "create" && result !== undefined && existing.has(keyOf(of, result)))
        this.taken.add(`${urn} ${result}`);
    }

    // No two resources have one record. A run that ends early, or is for some resources only, does not hear of the others,
    // so one that imports or adopts may then have the record of one that was there before. A refresh does not find it.
    const old = new Set(before.map((entry) => `${entry.urn} ${entry.id}`));
    const isWhole = isGreen(outcome) && !run.targets && run.command.startsWith("up");
    const holders = new Map<string, Entry>();
    for (const entry of present) {
      const key = keyOf(entry.kind, entry.id);
      if (existing.has(key) && !old.has(`${entry.urn} ${entry.id}`))
        this.taken.add(`${entry.urn} ${entry.id}`);
      const other = holders.get(key);
      const isTaken = other && [entry, other].some(({ urn, id }) => this.taken.has(`${urn} ${id}`));
      if (other && (isWhole || !isTaken)) violated(`${entry.urn} and ${other.urn} both have the ${key}`);
      if (other) this.shared.add(key);
      holders.set(key, entry);
    }

    // No record that a resource has is deleted unless that resource goes.
    for (const [key, { urn, id }] of holders) {
      const isExpected =
        this.deletedByHand.has(key) || this.shared.has(key) || this.condemned.has(`${urn} ${id}`);
      if (!this.exists(key) && !isExpected) violated(`${urn} has the ${key}, which is not there`);
    }

    // No record is left behind, so none is made twice. One that a resource has given up for another's import, which then
    // failed, is imported by the next run.
    const imports = new Set(
      run.program.flatMap((one) => (one.import === undefined ? [] : [keyOf(one.kind, one.import)])),
    );
    const isAwaited = (key: string): boolean => !isGreen(outcome) && imports.has(key);
    const hasFailed = outcome.operations.some(
      ({ operation, outcome: end }) => operation === "create" && end === "failed",
    );
    // A create that failed may have left a record only if the server's answer was lost.
    const lost = new Set(
      this.api.requests.flatMap(({ kind: of, status, effect }) =>
        hasFailed && of && status === undefined && effect?.made === "created" ? [keyOf(of, effect.id)] : [],
      ),
    );
    const held = new Set(this.engine.state.map((entry) => keyOf(entry.kind, entry.id)));
    for (const key of this.createdByProvider) {
      if (held.has(key) || this.strays.has(key) || !this.exists(key)) continue;
      if ((isKilled && !existing.has(key)) || lost.has(key) || isAwaited(key)) this.strays.add(key);
      else violated(`the ${key} was created and no resource has it`);
    }
    for (const entry of before) {
      const key = keyOf(entry.kind, entry.id);
      if (!held.has(key) && this.exists(key) && !isAwaited(key))
        violated(`${entry.urn} has left state, and the ${key} is still there`);
    }

    // Only what belongs to a resource is written, and only what was made, imported or adopted belongs to one.
    const known = new Set([...held, ...before.map((entry) => keyOf(entry.kind, entry.id))]);
    for (const request of this.api.requests) {
      const { kind: of, effect } = request;
      if (!of || !effect || effect.made === "created") continue;
      const key = keyOf(of, effect.id);
      const isNew = !existing.has(key);
      if (!known.has(key) && !isNew && !(isKilled && run.adoptExisting))
        violated(`the ${key}, which belongs to nobody, was ${effect.made}: ${shown(request)}`);
    }
    const owned = new Set(before.map((entry) => keyOf(entry.kind, entry.id)));
    const written = new Set(
      this.api.requests.flatMap(({ kind: of, effect }) => (of && effect ? [keyOf(of, effect.id)] : [])),
    );
    for (const [key, { urn }] of holders) {
      if (owned.has(key) || !existing.has(key) || run.adoptExisting) continue;
      if (!imports.has(key)) violated(`${urn} has taken the ${key}, which was there before`);
      else if (written.has(key)) violated(`${urn} has imported the ${key}, and written to it`);
    }
  }

  /** After a green run of the whole program. */
  private assertConverged(run: PlannedRun, title: string): void {
    const { state } = this.engine;
    const expected = run.program.map(urnOf).sort();
    const actual = state.map(({ urn }) => urn).sort();
    if (JSON.stringify(expected) !== JSON.stringify(actual))
      throw new Violation(
        `${title} was green, and state has ${actual.join(", ")} instead of ${expected.join(", ")}`,
      );
    const isRefreshed = run.command.includes("--refresh");
    if (isRefreshed) this.changedByHand.clear();
    for (const declared of run.program) {
      const entry = state.find(({ urn }) => urn === urnOf(declared));
      if (!entry) continue;
      const key = keyOf(entry.kind, entry.id);
      const record = this.api.tables[entry.kind].get(entry.id);
      if (!record) {
        if (isRefreshed)
          throw new Violation(`${title} was green, and ${entry.urn} has the ${key}, which is not there`);
        continue;
      }
      if (this.changedByHand.has(key)) continue;
      for (const [name, value] of Object.entries(declared.args)) {
        if (declared.ignoreChanges?.includes(name)) continue;
        const there = record[wireName(name)];
        const isSame = typeof value === "boolean" ? Boolean(there) === value : there === value;
        if (!isSame)
          throw new Violation(
            `${title} was green, and ${name} of ${entry.urn} is ${String(there)} in the API`,
          );
      }
    }
  }
}

const wireName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const structuredCopy = (state: readonly Entry[]): unknown =>
  state.map(({ urn, id, isDelete, isPendingReplacement, outputs }) => ({
    urn,
    id,
    isDelete,
    isPendingReplacement,
    importId: outputs.importId,
  }));
const shown = ({ method, path, status, effect }: Seen): string =>
  `${method} ${path} ${status ?? "unanswered"}${effect ? ` (${effect.made} ${effect.id})` : ""}`;
const operationShown = ({ operation, urn, id = "", result, outcome }: Operation): string =>
  `${operation} ${urn.split("::").slice(2).join(" ")} ${id}${result === undefined ? "" : `→${result}`} ${outcome ?? "unended"}`;
const messagesOf = ({ errors, isKilled }: Outcome): string =>
  [...errors.map(({ message }) => message), ...(isKilled ? ["killed"] : [])].join("; ") || "no errors";
const refusal = {
  status: 422,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message: "This is refused." }),
};
const failure = { ...refusal, status: 500, body: JSON.stringify({ message: "Server Error" }) };
