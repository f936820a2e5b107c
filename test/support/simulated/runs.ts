import { isInternal, kinds } from "../calls";
import type { Kind, Settings } from "../calls";
import { Hang, VirtualClock } from "../clock";
import { apiKey, networkError, SimulatedApi } from "./api";
import type { Misbehaviour, Network, Seen } from "./api";
import { isGreen, SimulatedEngine, urnOf } from "./engine";
import type { Declared, Entry, Operation, Outcome, RunOptions } from "./engine";
import { faults } from "./faults";
import { dynamicFront, pluginFront } from "./front";
import type { Front } from "./front";
import { SimulatedProcesses } from "./process";
import { plannedRun, refusedName, sound, urnsAt } from "./scenarios";
import type { Edit, Event, Fault, Mistake, PlannedRun, Scenario } from "./scenarios";

// Server ---------------------------------------------------------------------------------------------------------------

/** Whether the server refuses a record of this name, as it does in every scenario. */
export const isRefused = (pairs: readonly (readonly [string, string])[]): boolean =>
  pairs.some(([name, value]) => name === "name" && value === refusedName);

/** Does in the API by hand what a run's plan says; returns the record's id. */
export function applyEdit(
  { edit: what, kind, ...one }: Edit,
  api: Pick<SimulatedApi, "all" | "add" | "edit" | "remove">,
): string | undefined {
  if (what === "add") return api.add(kind, "fields" in one ? one.fields : {}).id;
  const all = api.all(kind);
  const record = "place" in one ? all[one.place % Math.max(1, all.length)] : undefined;
  if (!record) return undefined;
  if (what === "delete") api.remove(kind, record.id);
  else
    api.edit(
      kind,
      record.id,
      kind === "monitor" ? { interval: 3600 } : { homepage_url: "https://edited.example/" },
    );
  return record.id;
}

// Running --------------------------------------------------------------------------------------------------------------

/** No operation takes longer than its time, and few follow one another. */
const longest = 12 * 3_600_000;

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
 * @param isRepaired whether each run is followed by one that must change nothing, or must mend what has failed, and all of
 * them by a refresh and a destroy
 */
export async function play(
  scenario: Scenario,
  front: Front,
  { isRepaired = true }: { readonly isRepaired?: boolean } = {},
): Promise<Result> {
  const world = new World(front, scenario.server, isRepaired);
  for (const { kind, fields } of scenario.records) world.api.add(kind, fields);
  for (const [at, run] of scenario.runs.entries())
    await world.run(
      { ...run, program: sound(run.program.map((one) => ofFront(one, front))) },
      `run ${at + 1}`,
    );
  if (isRepaired) await world.end();
  return world;
}

/** Explicit providers are processes of the plugin, whose resources have types of their own. */
function ofFront({ provider, ...declared }: Declared, front: Front): Declared {
  if (provider === undefined) return declared;
  return {
    ...declared,
    provider: front === pluginFront || provider === "other" ? provider : `other ${provider}`,
  };
}

/** A snapshot of what the engine keeps. */
type Checkpoint = Pick<SimulatedEngine, "state" | "settings" | "explicit">;

/** What has happened to the record under an id. */
class RecordHistory {
  /** It was there when the present run began. */
  wasThere = false;
  /** It was there when the present run began, or somebody has made it since, so that only an import or an adoption takes it. */
  isOlder = false;
  /** The provider made it, and no person. */
  isCreated = false;
  /** It has the id of one that was there before. */
  isReused = false;
  /** A person deleted it, or an older checkpoint has it and the server has not. */
  isDeletedByHand = false;
  /** It may differ from state since the last run with a refresh that was green. */
  isChangedByHand = false;
  /** It is in no state, because a run was killed, has said that it may exist, or was to leave it. */
  isStray = false;
  /** Two resources have had it, since a run that did not hear of both. */
  isShared = false;
  /** URNs of resources that have imported or adopted it, and of those whose delete of it was begun and has not ended. */
  readonly takenBy = new Set<string>();
  readonly condemnedBy = new Set<string>();
}

/** A run that has ended, and state when it began. */
interface Ended {
  readonly run: PlannedRun;
  readonly outcome: Outcome;
  readonly before: readonly Entry[];
  readonly violated: (text: string) => never;
}

class World implements Result, Network {
  readonly time = new VirtualClock();
  /** The account of the default provider. */
  readonly api: SimulatedApi;
  readonly engine: SimulatedEngine;
  readonly outcomes: Outcome[] = [];
  private readonly accounts: Readonly<Record<"main" | "second" | "another" | "copy", SimulatedApi>>;
  private readonly checkpoints: Checkpoint[] = [];
  /** What the settings say of a former address, if the server has moved. */
  private movedFrom: string[] = [];
  private readonly keys = [apiKey];
  /** The last run, if it was green and made everything as the program says. */
  private settled: PlannedRun | undefined;
  /** By {@link keyOf}. */
  private readonly records = new Map<string, RecordHistory>();

  constructor(
    private readonly front: Front,
    private readonly habits: Scenario["server"],
    private readonly isRepaired: boolean,
  ) {
    const dialect = habits?.dialect ?? { uniqueDomainNames: false };
    const account = (firstId: number): SimulatedApi => new SimulatedApi(this.time, dialect, habits, firstId);
    // The accounts of a server number their records together; another one, and another server, have the same ids.
    this.accounts = { main: account(1), second: account(5001), another: account(1), copy: account(1) };
    this.api = this.accounts.main;
    this.accounts.copy.origin = "https://copy.invalid";
    this.accounts.second.key = "18|second/KxQzV";
    this.accounts.another.key = "21|another/ZqXvJ";
    // Other records under the same ids. The copy is filled when it is needed.
    for (let other = 1; other <= 3; other++) {
      this.accounts.another.add("monitor", {
        name: `Other ${other}`,
        url: "https://other.example/",
        interval: 300,
      });
      this.accounts.another.add("domain", { name: `other${other}.example` });
    }
    this.keys.push(this.accounts.second.key, this.accounts.another.key);
    this.engine = new SimulatedEngine((declared, settings) =>
      this.frontOf(declared.provider).register(declared, settings),
    );
  }

  async answer(sent: Parameters<Network["answer"]>[0]): ReturnType<Network["answer"]> {
    const here = Object.values(this.accounts).filter((account) => account.origin === sent.url.origin);
    const account = here.find(({ key }) => sent.headers.authorization === `Bearer ${key}`) ?? here[0];
    if (account) return account.answer(sent);
    const refused = networkError("ECONNREFUSED", "connect ECONNREFUSED");
    throw Object.assign(refused, { syscall: "connect" });
  }

  async run(run: PlannedRun, title: string): Promise<void> {
    for (const one of run.before) await this.happen(one, title);
    // Longer than lists lag.
    await this.time.until(this.time.sleep(10_000));
    const { command } = run;
    const previewed =
      run.isPreviewed && command.startsWith("up") ? await this.preview(run, title) : undefined;
    const outcome = await this.execute(run, title);
    const wasGreen = isGreen(outcome);
    const isChangedMeanwhile = run.moments.some(({ happens }) => typeof happens === "object");
    if (previewed && !isGreen(previewed) && wasGreen && !isChangedMeanwhile)
      throw new Violation(`${title} was green, and its preview was not: ${messagesOf(previewed)}`);
    const isUp = command.startsWith("up") && !run.targets && !run.excluded && !run.replace;
    if (wasGreen && isUp) {
      this.assertConverged(run, title);
      this.settled = run;
      if (!this.isRepaired || isChangedMeanwhile) return;
      const again = { ...run, faults: [], moments: [] };
      const second = await this.execute(again, `${title}, again`);
      const writes = this.writes().filter(({ status }) => status !== 405);
      if (!isGreen(second) || writes.length > 0)
        throw new Violation(
          `${title} was green, and the same again is not: ${messagesOf(second)}, ${writes.map(shown).join(", ")}`,
        );
    }
    if (!wasGreen && this.isRepaired) await this.repair(run, outcome, title);
  }

  /** What is left can be refreshed and destroyed. */
  async end(): Promise<void> {
    this.movedFrom = this.formerOrigins;
    this.forgetOthers();
    for (const command of ["refresh --run-program", "destroy --run-program"] as const) {
      const isSameAccount = this.isRotated || kinds.some((of) => this.isEmptied(of));
      const outcome = await this.execute(plannedRun([], { command, isSameAccount }), `the last ${command}`);
      if (!isGreen(outcome)) throw new Violation(`the last ${command} failed: ${messagesOf(outcome)}`);
    }
    if (this.engine.state.length > 0)
      throw new Violation(
        `what was destroyed is in state: ${this.engine.state.map(({ urn }) => urn).join(", ")}`,
      );
  }

  private async happen(one: Event, title: string): Promise<void> {
    if ("edit" in one) {
      this.edit(one);
      return;
    }
    if (one.event === "mistake") return this.mistake(one, title);
    const { engine, accounts } = this;
    switch (one.event) {
      case "rotate":
        this.keys.push((accounts.main.key = `${this.keys.length + 20}|rotated/WzXqK`));
        return;
      case "move": {
        // Some people name the former address at once.
        this.formerOrigins.push(accounts.main.origin);
        if (one.place > 0) this.movedFrom = [...this.formerOrigins];
        const moved = `https://api${this.formerOrigins.length}.invalid`;
        for (const account of [accounts.main, accounts.second, accounts.another]) account.origin = moved;
        return;
      }
      case "taint":
        engine.state = engine.state.map((entry, at) =>
          at === one.place && !entry.isDelete ? { ...entry, isTainted: true } : entry,
        );
        this.settled = undefined;
        return;
      case "restore": {
        const checkpoint = this.checkpoints.at(-1 - one.place);
        if (!checkpoint) return;
        Object.assign(engine, { ...checkpoint, state: [...checkpoint.state] });
        const held = this.heldKeys();
        for (const key of held) {
          if (this.exists(key)) this.record(key).isChangedByHand = true;
          else this.record(key).isDeletedByHand = true;
        }
        for (const [key, record] of this.records)
          if (record.isCreated && !held.has(key)) record.isStray = true;
        this.settled = undefined;
      }
    }
  }

  private readonly formerOrigins: string[] = [];

  private get isRotated(): boolean {
    return this.keys.length > 3;
  }

  private frontOf(provider: string | undefined): Front {
    if (provider === undefined) return this.front;
    if (provider !== "other") return pluginFront;
    return this.front === pluginFront ? dynamicFront : pluginFront;
  }

  private accountOf({ provider = "", inputs }: Pick<Entry, "provider" | "inputs">): "main" | "second" {
    return provider.endsWith("q") || inputs.account === "second" ? "second" : "main";
  }

  /** A record, by its account, its kind and its id. */
  private keyOf(entry: Pick<Entry, "provider" | "inputs" | "kind" | "id">): string {
    return `${this.accountOf(entry)} ${entry.kind} ${entry.id}`;
  }

  private get requests(): Seen[] {
    return Object.values(this.accounts).flatMap(({ requests }) => requests);
  }

  private writes(): Seen[] {
    return this.requests.filter(({ method }) => method !== "GET");
  }

  private forget(): void {
    for (const account of Object.values(this.accounts)) {
      account.forget();
      account.misbehave = () => undefined;
    }
  }

  /** Runs a command in processes of its own. */
  private async start(options: RunOptions, run?: PlannedRun): Promise<Outcome> {
    const processes = new SimulatedProcesses((provider) => this.frontOf(provider), this.time, this);
    // Pulumi's host shows what is printed there.
    const warnings: string[] = [];
    const spy = jest.spyOn(console, "warn").mockImplementation((line: string) => void warnings.push(line));
    let interrupt = (): void => undefined;
    let kill = (): void => undefined;
    const killed = new Promise<void>((resolve) => (kill = resolve));
    const interrupted = new Promise<void>((resolve) => (interrupt = resolve));
    let done = 0;
    let writesAllowed = Infinity;
    // Pulumi's host of dynamic resources hears nothing of Ctrl-C.
    const isPlugin = ![...this.engine.state, ...options.program].some(
      ({ provider }) => this.frontOf(provider) !== pluginFront,
    );
    const pass = (): void => {
      for (const { happens } of run?.moments.filter(({ after }) => after === done + 1) ?? [])
        if (typeof happens === "object") this.edit(happens);
        else if (happens === "terminate") processes.terminate();
        else if (happens === "kill" || writesAllowed < Infinity) kill();
        else {
          writesAllowed = this.writes().length;
          interrupt();
        }
      done++;
    };
    for (const [name, account] of Object.entries(this.accounts))
      account.onDone = (request) => {
        if (request.effect?.made === "created" && request.kind)
          this.created(`${name} ${request.kind} ${request.effect.id}`);
        pass();
      };
    try {
      const outcome = await this.time.until(
        this.engine.run(processes, options, { killed, interrupted }),
        longest,
      );
      // What was sent before a kill still has its effect.
      processes.kill();
      await this.time.until(this.time.sleep(60_000));
      this.assertUntold(outcome, [...processes.printed, ...warnings]);
      if (isPlugin && this.writes().length > writesAllowed)
        throw new Violation(`after Ctrl-C: ${this.writes().slice(writesAllowed).map(shown).join(", ")}`);
      return outcome;
    } finally {
      processes.kill();
      spy.mockRestore();
    }
  }

  /** A preview changes nothing. */
  private async preview(run: PlannedRun, title: string): Promise<Outcome> {
    this.forget();
    const outcome = await this.start({ ...this.optionsOf(run), isPreview: true });
    if (this.writes().length > 0)
      throw new Violation(`the preview of ${title} wrote: ${this.writes().map(shown).join(", ")}`);
    return outcome;
  }

  /** With the key of another account, or at a copy of the server, nothing of what is there belongs to the stack. */
  private async mistake({ command, with: wrong }: Mistake, title: string): Promise<void> {
    const { accounts, engine, settled } = this;
    if (!settled || engine.state.length === 0 || engine.state.some((one) => one.retainOnDelete)) return;
    const stateNow = (): string =>
      engine.state
        .map(({ urn, id }) => `${urn} ${id}`)
        .sort()
        .join(", ");
    const before = stateNow();
    const { settings, explicit } = engine;
    accounts.copy.key = accounts.main.key;
    for (const of of kinds)
      for (const record of accounts.main.tables[of].all()) accounts.copy.tables[of].add(record);
    const of = (all: Settings): Settings =>
      wrong === "key"
        ? {
            ...all,
            "uptime:apiKey": accounts.another.key,
            "uptime:accounts": JSON.stringify({ second: { apiKey: accounts.another.key } }),
          }
        : { ...all, "uptime:baseUrl": accounts.copy.origin };
    this.forget();
    const options = this.optionsOf({ ...settled, command, isSameAccount: wrong === "address" });
    const outcome = await this.start({
      ...options,
      settings: of(options.settings),
      explicit: Object.fromEntries(
        Object.entries(options.explicit ?? {}).map(([name, all]) => [name, of(all)]),
      ),
    });
    Object.assign(engine, { settings, explicit });
    const after = stateNow();
    if (
      after !== before ||
      (isGreen(outcome) && command !== "up") ||
      this.writes().some(({ effect }) => effect)
    )
      throw new Violation(
        `before ${title}, ${command} with another ${wrong}: ${messagesOf(outcome)}, state ${before} became ${after}, requests ${this.requests.map(shown).join(", ")}`,
      );
  }

  private optionsOf(run: PlannedRun): RunOptions {
    const settingsOf = ({ key }: SimulatedApi): Settings => ({
      "uptime:baseUrl": this.api.origin,
      "uptime:apiKey": key,
      "uptime:accounts": JSON.stringify({ second: { apiKey: this.accounts.second.key } }),
      ...(this.movedFrom.length > 0 && { "uptime:movedFrom": this.movedFrom.join(",") }),
      ...(run.adoptExisting && { "uptime:adoptExisting": "true" }),
      ...(run.isSameAccount && { "uptime:sameAccount": "true" }),
    });
    const settings = settingsOf(this.accounts.main);
    const second = settingsOf(this.accounts.second);
    return {
      command: run.command,
      settings,
      explicit: run.hasNoProviders ? {} : { p: settings, "other p": settings, q: second, "other q": second },
      program: run.program,
      targets: urnsAt(run.program, run.targets),
      excluded: urnsAt(run.program, run.excluded),
      replace: urnsAt(run.program, run.replace),
      isContinued: run.isContinued,
      parallel: run.parallel,
    };
  }

  /** What a person can always do: take out what is refused and the imports, set what errors name, and run again. */
  private async repair(run: PlannedRun, failed: Outcome, title: string): Promise<void> {
    const copy = structuredCopy(this.engine.state);
    const program = run.program.filter(({ args }) => args.name !== refusedName);
    let mended = plannedRun(sound(program.map((one) => ({ ...one, import: undefined }))), {
      command: "up --refresh --run-program",
      adoptExisting: this.hasStrays,
      latencies: run.latencies,
    });
    this.movedFrom = [...this.formerOrigins];
    const wasDoubled = this.doubled().length > 0;
    let outcome = await this.execute(mended, `${title}, repaired`);
    const change = async (what: string, by: Partial<PlannedRun>): Promise<void> => {
      mended = { ...mended, ...by };
      outcome = await this.execute(mended, `${title}, repaired ${what}`);
    };
    // The id of the record that the run has deleted may be that of the one that replaces it, which is refused once.
    if (!isGreen(outcome)) await change("again", {});
    if (!isGreen(outcome) && this.forgetOthers()) await change("without what is another record", {});
    // Only a person can tell an account whose records are all deleted, as a killed run may have done, or whose key is
    // another one, from another account.
    if (!isGreen(outcome) && (this.isRotated || kinds.some((of) => this.isEmptied(of))))
      await change("in the same account", { isSameAccount: true });
    // What may be the record of a create that was lost differs from it, or there are several.
    if (!isGreen(outcome) && mended.adoptExisting) await change("without adoption", { adoptExisting: false });
    // Two resources of the program may have one record, if one has imported or adopted it in a run that did not hear of the
    // other. Then a person must take one of them out; unless one of them was waiting for its replacement, and has another
    // record now.
    const doubled = this.doubled();
    if (!isGreen(outcome) && (wasDoubled || doubled.length > 0))
      await change(`without ${doubled.join(" and ") || "a change"}`, {
        program: sound(mended.program.filter((one) => !doubled.includes(urnOf(one)))),
      });
    if (!isGreen(outcome))
      throw new Violation(
        `${title} failed (${messagesOf(failed)}), and cannot be repaired: ${messagesOf(outcome)}; state was ${JSON.stringify(copy)}`,
      );
    this.assertConverged(mended, `${title}, repaired`);
    this.settled = mended;
  }

  /** Whether an account has no record of a kind, and state more than one. */
  private isEmptied(of: Kind): boolean {
    return (["main", "second"] as const).some(
      (name) =>
        this.accounts[name].all(of).length === 0 &&
        this.engine.state.filter((one) => one.kind === of && this.accountOf(one) === name).length > 1,
    );
  }

  /** `pulumi state delete` of domains under whose id there is another one now. */
  private forgetOthers(): boolean {
    const { engine } = this;
    const others = engine.state.filter((entry) => {
      const record = this.accounts[this.accountOf(entry)].get(entry.kind, entry.id);
      return entry.kind === "domain" && record && record.name !== entry.outputs.name;
    });
    for (const entry of others) this.record(this.keyOf(entry)).isStray = true;
    engine.state = engine.state.filter((entry) => !others.includes(entry));
    return others.length > 0;
  }

  /** Resources whose record another one has too, which stays. */
  private doubled(): string[] {
    const { state } = this.engine;
    const firsts = new Map(state.map((entry) => [this.keyOf(entry), entry]));
    return state.filter((entry) => firsts.get(this.keyOf(entry)) !== entry).map(({ urn }) => urn);
  }

  private async execute(run: PlannedRun, title: string): Promise<Outcome> {
    const { engine } = this;
    const before = engine.state.map((entry) => ({ ...entry }));
    for (const record of this.records.values()) record.wasThere = record.isOlder = false;
    for (const [name, account] of Object.entries(this.accounts))
      for (const of of kinds)
        for (const { id } of account.all(of)) {
          const record = this.record(`${name} ${of} ${id}`);
          record.wasThere = record.isOlder = true;
        }
    this.settled = undefined;
    this.forget();
    let requests = 0;
    const counts = new Map<string, number>();
    const faulty = new Map<string, Fault>();
    const misbehave = (request: Seen): Misbehaviour | undefined => {
      const { method, path, body } = request;
      const number = (counts.get(method) ?? 0) + 1;
      counts.set(method, number);
      if (isRefused(body)) return faults.refused(request);
      const key = JSON.stringify([method, path, body]);
      const before = faulty.get(key);
      const fault = before ?? run.faults.find((one) => one.method === method && one.number === number);
      const misbehaviour = fault && faults[fault.fault](request);
      if (!fault || (before && !misbehaviour?.isLasting)) return undefined;
      faulty.set(key, fault);
      request.isFaulty = true;
      return misbehaviour;
    };
    for (const account of Object.values(this.accounts)) {
      account.latency = () => run.latencies[requests++ % run.latencies.length] ?? 0;
      account.misbehave = misbehave;
    }
    let outcome: Outcome;
    try {
      outcome = await this.start(this.optionsOf(run), run);
    } catch (error) {
      if (error instanceof Hang || error instanceof Violation)
        throw new Violation(`${title}: ${error.message}`);
      throw error;
    }
    this.outcomes.push(outcome);
    const { state, settings, explicit } = engine;
    this.checkpoints.push({ state: state.map((entry) => ({ ...entry })), settings, explicit });
    this.assertSound(run, outcome, before, title);
    return outcome;
  }

  private record(key: string): RecordHistory {
    const known = this.records.get(key) ?? new RecordHistory();
    this.records.set(key, known);
    return known;
  }

  private heldKeys(): ReadonlySet<string> {
    return new Set(this.engine.state.map((entry) => this.keyOf(entry)));
  }

  private get hasStrays(): boolean {
    return [...this.records.values()].some(({ isStray }) => isStray);
  }

  private edit(one: Edit): void {
    const id = applyEdit(one, this.api);
    if (id === undefined) return;
    const record = this.record(`main ${one.kind} ${id}`);
    if (one.edit === "add") {
      record.isReused ||= record.wasThere;
      record.isCreated = record.isDeletedByHand = false;
      record.isOlder = true;
    } else if (one.edit === "delete") record.isDeletedByHand = true;
    else record.isChangedByHand = true;
  }

  /** A new record may have the id of one that was deleted. */
  private created(key: string): void {
    const record = this.record(key);
    if (record.isCreated || record.wasThere || this.heldKeys().has(key))
      record.isReused = record.isShared = true;
    record.isCreated = true;
    record.isOlder = record.isStray = record.isDeletedByHand = false;
  }

  // What must hold ---------------------------------------------------------------------------------------------------

  private exists(key: string): boolean {
    const [account = "main", of = "monitor", id = ""] = key.split(" ");
    return this.accounts[account as "main"].get(of as Kind, id) !== undefined;
  }

  /** No key leaves a process, whatever the server repeats. */
  private assertUntold({ errors }: Outcome, printed: readonly string[]): void {
    const texts = [...errors.map(({ message: text }) => text), ...printed, JSON.stringify(this.engine.state)];
    for (const key of this.keys)
      for (const text of texts)
        if (text.includes(key)) throw new Violation(`the key ${key} is told: ${text.slice(0, 300)}`);
  }

  private assertSound(run: PlannedRun, outcome: Outcome, before: readonly Entry[], title: string): void {
    const { requests } = this;
    const violated = (text: string): never => {
      throw new Violation(
        `${title}: ${text}\nerrors: ${messagesOf(outcome)}\n` +
          `operations: ${outcome.operations.map(operationShown).join(", ")}\n` +
          `requests: ${requests.map(shown).join(", ")}`,
      );
    };
    for (const { message } of outcome.errors) if (isInternal(message)) violated(message);
    const ended: Ended = { run, outcome, before, violated };
    this.noteOperations(ended);
    this.assertOneResourcePerRecord(ended);
    this.assertNothingGone(ended);
    this.assertNothingLeftBehind(ended);
    this.assertOnlyOwnWritten(ended);
  }

  /** The resources in state that have records. */
  private get present(): readonly Entry[] {
    return this.engine.state.filter(({ isPendingReplacement }) => !isPendingReplacement);
  }

  /** What the requests of a run did. */
  private get effects() {
    return this.requests.flatMap((request) =>
      request.effect ? [{ request, made: request.effect.made, key: this.keyOfEffect(request) }] : [],
    );
  }

  /** An answer to a create was lost: it may have made any equal record that is not answered yet. */
  private get isGuessed(): boolean {
    return this.requests.some(({ method, isFaulty }) => method === "POST" && isFaulty);
  }

  /** The records that resources import: as they are meant, or as the plugin reads an id that names no account. */
  private importsOf({ program }: PlannedRun, isMeant = true): ReadonlySet<string> {
    return new Set(
      program.flatMap((one) =>
        one.import === undefined
          ? []
          : [this.keyOf({ ...one, inputs: isMeant ? one.args : {}, id: one.import })],
      ),
    );
  }

  /** Which resources have taken records that were there before, and which records may be gone or not. */
  private noteOperations({ before, outcome }: Ended): void {
    const all = [...this.engine.state, ...before];
    for (const { operation, urn, id, result, outcome: end } of outcome.operations) {
      const entry = all.find((one) => one.urn === urn && (id === undefined || one.id === id));
      if (!entry) continue;
      // After a delete that was done, the engine has the resource no more; if it has, another one has taken the record.
      if (operation === "delete" && (outcome.isKilled || end !== "done"))
        this.record(this.keyOf(entry)).condemnedBy.add(urn);
      if (operation !== "create" || result === undefined) continue;
      const record = this.record(this.keyOf({ ...entry, id: result }));
      if (record.isOlder) record.takenBy.add(urn);
    }
    const old = new Set(before.map(({ urn, id }) => `${urn} ${id}`));
    for (const entry of this.present) {
      const record = this.record(this.keyOf(entry));
      if (record.isOlder && !old.has(`${entry.urn} ${entry.id}`)) record.takenBy.add(entry.urn);
    }
  }

  /**
   * A run that ends early, or is for some resources only, does not hear of the others, so one that imports or adopts may then
   * have the record of one that was there before. A refresh does not find it. A create whose answer was lost may take a
   * record that another process makes meanwhile, if that is equal.
   */
  private assertOneResourcePerRecord({ run, outcome, violated }: Ended): void {
    const { isGuessed, present } = this;
    const isWhole = isGreen(outcome) && !run.targets && !run.excluded && run.command.startsWith("up");
    const holders = new Map<string, Entry>();
    for (const entry of present) {
      const key = this.keyOf(entry);
      const other = holders.get(key);
      holders.set(key, entry);
      if (!other) continue;
      const record = this.record(key);
      const isTaken =
        record.isShared ||
        [entry, other].some(({ urn }) => record.takenBy.has(urn)) ||
        (isGuessed && entry.provider !== other.provider);
      if (!record.isReused && ((isWhole && !isGuessed) || !isTaken))
        violated(`${entry.urn} and ${other.urn} both have the ${key}`);
      record.isShared = true;
    }
  }

  /** No record that a resource has is deleted unless that resource goes. */
  private assertNothingGone({ violated }: Ended): void {
    for (const entry of this.present) {
      const [key, { urn }] = [this.keyOf(entry), entry];
      const { isDeletedByHand, isShared, condemnedBy } = this.record(key);
      if (!this.exists(key) && !isDeletedByHand && !isShared && !condemnedBy.has(urn))
        violated(`${urn} has the ${key}, which is not there`);
    }
  }

  /** No record is left behind, so none is made twice. */
  private assertNothingLeftBehind({ run, outcome, before, violated }: Ended): void {
    const { effects, requests } = this;
    const imports = new Set([...this.importsOf(run), ...this.importsOf(run, false)]);
    const held = this.heldKeys();
    for (const key of held) this.record(key).isStray = false;
    // One that a resource has given up for another's import, which then failed, is imported by the next run.
    const isAwaited = (key: string): boolean => !isGreen(outcome) && imports.has(key);
    for (const entry of before) {
      const key = this.keyOf(entry);
      if (held.has(key)) continue;
      const record = this.record(key);
      record.isStray ||=
        // An address that holds nothing is believed when the record is to be deleted.
        requests.some(
          ({ method, id, isFaulty, status }) =>
            method === "GET" && id === entry.id && isFaulty && status === 200,
        ) ||
        // Its record was gone when the run began, and somebody has made another one under the id since.
        (record.isOlder && !record.wasThere) ||
        record.isReused ||
        entry.retainOnDelete === true ||
        // What waits for its replacement is deleted; another record may have got the id.
        entry.isPendingReplacement;
      if (this.exists(key) && !isAwaited(key) && !record.isStray)
        violated(`${entry.urn} has left state, and the ${key} is still there`);
    }
    const hasFailed = outcome.operations.some(
      ({ operation, outcome: end }) => operation === "create" && end === "failed",
    );
    // A create that failed may have left a record only if the server's answer was lost, or a read that was to find it, or
    // if its id is one that state has of a record that is gone: the create is refused, with an error. An id that the list held
    // before is not looked for, nor a lower one if the list is sorted by numbers: the create is sent again.
    const isUnread = requests.some(({ method, isFaulty }) => method === "GET" && isFaulty);
    const lost = new Set(
      effects.flatMap(({ request, made, key }) =>
        made === "created" &&
        (hasFailed || this.habits?.ids === "falling" || this.record(key).isReused) &&
        (request.isFaulty || isUnread || this.record(key).isShared)
          ? [key]
          : [],
      ),
    );
    for (const [key, record] of this.records) {
      if (!record.isCreated || record.isStray || held.has(key) || !this.exists(key)) continue;
      record.isStray = (outcome.isKilled && !record.isOlder) || lost.has(key) || isAwaited(key);
      if (!record.isStray) violated(`the ${key} was created and no resource has it`);
    }
  }

  /** Only what belongs to a resource is written, and only what was made, imported or adopted belongs to one. */
  private assertOnlyOwnWritten({ run, outcome, before, violated }: Ended): void {
    const { effects, isGuessed } = this;
    const imports = this.importsOf(run);
    const held = this.heldKeys();
    const owned = new Set(before.map((entry) => this.keyOf(entry)));
    for (const { request, made, key } of effects) {
      if (made === "created" || held.has(key) || owned.has(key) || !this.record(key).isOlder) continue;
      if (!(outcome.isKilled && run.adoptExisting))
        violated(`the ${key}, which belongs to nobody, was ${made}: ${shown(request)}`);
    }
    const written = new Set(effects.map(({ key }) => key));
    for (const entry of this.present) {
      const [key, { urn }] = [this.keyOf(entry), entry];
      const { isOlder, wasThere } = this.record(key);
      if (owned.has(key) || !isOlder || run.adoptExisting || (isGuessed && !wasThere)) continue;
      if (!imports.has(key)) violated(`${urn} has taken the ${key}, which was there before`);
      else if (written.has(key)) violated(`${urn} has imported the ${key}, and written to it`);
    }
  }

  private keyOfEffect(request: Seen): string {
    const name = Object.entries(this.accounts).find(([, { requests }]) => requests.includes(request))?.[0];
    return `${name ?? ""} ${request.kind ?? ""} ${request.effect?.id ?? ""}`;
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
    const isChangedMeanwhile = run.moments.some(({ happens }) => typeof happens === "object");
    const isRefreshed = run.command.includes("--refresh") && !isChangedMeanwhile;
    if (isRefreshed) for (const record of this.records.values()) record.isChangedByHand = false;
    for (const declared of run.program) {
      const entry = state.find(({ urn }) => urn === urnOf(declared));
      if (!entry) continue;
      const key = this.keyOf(entry);
      const record = this.accounts[this.accountOf(entry)].get(entry.kind, entry.id);
      if (!record) {
        if (isRefreshed)
          throw new Violation(`${title} was green, and ${entry.urn} has the ${key}, which is not there`);
        continue;
      }
      if (this.record(key).isChangedByHand) continue;
      for (const [name, value] of Object.entries(declared.args)) {
        if (name === "account" || declared.ignoreChanges?.includes(name)) continue;
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
export const shown = ({ method, path, status, effect }: Seen): string =>
  `${method} ${path} ${status ?? "unanswered"}${effect ? ` (${effect.made} ${effect.id})` : ""}`;
const operationShown = ({ operation, urn, id = "", result, outcome }: Operation): string =>
  `${operation} ${urn.split("::").slice(2).join(" ")} ${id}${result === undefined ? "" : `→${result}`} ${outcome ?? "unended"}`;
const messagesOf = ({ errors, isKilled }: Outcome): string =>
  [...errors.map(({ message }) => message), ...(isKilled ? ["killed"] : [])].join("; ") || "no errors";
