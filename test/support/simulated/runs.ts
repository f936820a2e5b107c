import { kinds, type Settings } from "../calls";
import { Hang, VirtualClock } from "../clock";
import { networkError, SimulatedApi, type Misbehaviour, type Network, type Seen } from "./api";
import { isGreen, SimulatedEngine, urnOf } from "./engine";
import type { Declared, Entry, Outcome, RunOptions } from "./engine";
import { faults } from "./faults";
import { dynamicFront, pluginFront, type Front } from "./front";
import {
  accountOf,
  Invariants,
  isShown,
  keyOf,
  messagesOf,
  requestsTo,
  shown,
  Violation,
} from "./invariants";
import type { Accounts } from "./invariants";
import { Neighbor } from "./neighbor";
import { SimulatedProcesses } from "./process";
import { at, isChangedMeanwhile, plannedRun, refusedName, sound, urnsAt } from "./scenarios";
import type { Edit, Event, Fault, Mistake, PlannedRun, Scenario } from "./scenarios";

/** Whether the server refuses a record because of its name, as it does in every scenario. */
export const isRefused = (pairs: readonly (readonly [string, string])[]): boolean =>
  pairs.some(([name, value]) => name === "name" && value === refusedName);

/** Edits a record by hand; returns its id. */
export function applyEdit(
  one: Edit,
  api: Pick<SimulatedApi, "all" | "add" | "edit" | "remove">,
): string | undefined {
  const { kind } = one;
  if (one.edit === "add") return api.add(kind, one.fields).id;
  const id = at(api.all(kind), one.place)?.id;
  if (id === undefined) return undefined;
  if (one.edit === "delete") api.remove(kind, id);
  else
    api.edit(kind, id, kind === "monitor" ? { interval: 3600 } : { homepage_url: "https://edited.example/" });
  return id;
}

/** A run that takes longer than this never ends. */
const longest = 12 * 3_600_000;

/**
 * Plays a scenario, and checks after every run what must hold.
 *
 * @param isRepaired whether each run is followed by one that must change nothing, or must mend what has failed, and all of
 * them by a refresh and a destroy
 */
export async function play(
  scenario: Scenario,
  front: Front,
  { isRepaired = true }: { readonly isRepaired?: boolean } = {},
): Promise<Pick<World, "engine" | "api" | "outcomes">> {
  const world = new World(front, scenario.server, isRepaired, scenario.hasNeighbor);
  for (const { kind, fields } of scenario.records) world.api.add(kind, fields);
  for (const [number, run] of scenario.runs.entries()) {
    const program = sound(run.program.map((one) => ofFront(one, front)));
    await world.run({ ...run, program }, `run ${number + 1}`);
  }
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

class World implements Network {
  readonly time = new VirtualClock();
  /** The account of the default provider. */
  readonly api: SimulatedApi;
  readonly engine: SimulatedEngine;
  readonly outcomes: Outcome[] = [];
  private readonly accounts: Accounts;
  private readonly invariants: Invariants;
  private readonly neighbor: Neighbor | undefined;
  private readonly checkpoints: Checkpoint[] = [];
  private moves = 0;
  /** What is set in uptime:sameAccount. */
  private pairs: readonly string[] = [];
  /** All keys, past and present. */
  private readonly keys: string[] = [];
  /** The last run, if it was green and made everything as the program says. */
  private settled: PlannedRun | undefined;

  constructor(
    private readonly front: Front,
    habits: Scenario["server"],
    private readonly isRepaired: boolean,
    hasNeighbor = false,
  ) {
    const dialect = habits?.dialect ?? { uniqueDomainNames: false };
    const account = (firstId: number): SimulatedApi => new SimulatedApi(this.time, dialect, habits, firstId);
    // The accounts of a server number their records together; another one, and another server, have other records under
    // the same ids.
    this.accounts = { main: account(1), second: account(5001), another: account(1), copy: account(1) };
    this.api = this.accounts.main;
    this.accounts.copy.origin = "https://copy.invalid";
    this.accounts.second.key = "18|second/KxQzV";
    this.accounts.another.key = "21|another/ZqXvJ";
    for (const kind of kinds) this.accounts.another.addOthers(kind, 3);
    this.keys.push(...Object.values(this.accounts).map(({ key }) => key));
    this.engine = new SimulatedEngine((declared, settings) =>
      this.frontOf(declared.provider).register(declared, settings),
    );
    this.invariants = new Invariants(this.engine, this.accounts);
    // If ids are used again, nobody can tell a record of ours that was deleted by hand from theirs.
    if (hasNeighbor && habits?.ids !== "reused") this.neighbor = new Neighbor(front, this.time, this.api);
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
    if (previewed && !isGreen(previewed) && wasGreen && !isChangedMeanwhile(run))
      throw new Violation(`${title} was green, and its preview was not: ${messagesOf(previewed)}`);
    const isUp = command.startsWith("up") && !run.targets && !run.excluded && !run.replace;
    if (wasGreen && isUp) {
      this.invariants.assertConverged(run, title);
      this.settled = run;
      if (!this.isRepaired || isChangedMeanwhile(run) || this.forgetReplaced()) return;
      const second = await this.execute({ ...run, faults: [], moments: [] }, `${title}, again`);
      const writes = this.writes().filter(({ status }) => status !== 405);
      // What an imported record does not show is sent with the first update, which the plugin's next run makes.
      const isUnsent = run.program.some(
        ({ import: id, args }) =>
          id !== undefined && !Object.keys(args).every((name) => isShown(this.api.dialect, name)),
      );
      if (!isGreen(second) || (writes.length > 0 && !isUnsent))
        throw new Violation(
          `${title} was green, and the same again is not: ${messagesOf(second)}, ${shown(writes)}`,
        );
      this.settled = run;
    }
    if (!wasGreen && this.isRepaired && !run.isLeft) await this.repair(run, outcome, title);
  }

  /** Refreshes and destroys what is left, which must always work. */
  async end(): Promise<void> {
    this.forgetOthers();
    for (const command of ["refresh --run-program", "destroy --run-program"] as const) {
      let adoptExisting = false;
      const execute = (how = ""): Promise<Outcome> =>
        this.execute(plannedRun([], { command, adoptExisting }), `the last ${command}${how}`);
      let outcome = await execute();
      while (this.obey(outcome)) outcome = await execute(", in the same account");
      if (namesAdoption(outcome)) {
        adoptExisting = true;
        outcome = await execute(", with adoption");
      }
      while (this.obey(outcome)) outcome = await execute(", in the same account");
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
        const moved = `https://api${++this.moves}.invalid`;
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
        this.invariants.restored();
        this.settled = undefined;
      }
    }
  }

  private frontOf(provider: string | undefined): Front {
    if (provider === undefined) return this.front;
    if (provider !== "other") return pluginFront;
    return this.front === pluginFront ? dynamicFront : pluginFront;
  }

  private get requests(): Seen[] {
    return requestsTo(this.accounts);
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
        const { effect, kind } = request;
        if (effect && effect.made !== "changed" && kind)
          this.invariants[effect.made](`${name} ${kind} ${effect.id}`);
        pass();
      };
    try {
      const running = this.engine.run(processes, options, { killed, interrupted });
      // Its key must be right, and a person must not work meanwhile.
      const beside = run && !isChangedMeanwhile(run) ? this.neighbor?.run() : undefined;
      const [outcome] = await this.time.until(Promise.all([running, beside]), longest);
      this.neighbor?.assertApart(this.engine.state);
      // What was sent before a kill still has its effect.
      processes.kill();
      await this.time.until(this.time.sleep(60_000));
      this.invariants.assertUntold(outcome, [...processes.printed, ...warnings], this.keys);
      if (isPlugin && this.writes().length > writesAllowed)
        throw new Violation(`after Ctrl-C: ${shown(this.writes().slice(writesAllowed))}`);
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
      throw new Violation(`the preview of ${title} wrote: ${shown(this.writes())}`);
    return outcome;
  }

  /** Runs a command with the key of another account, or on a copy of the server. Nothing there belongs to the stack. */
  private async mistake({ command, with: wrong }: Mistake, title: string): Promise<void> {
    const { accounts, engine, settled } = this;
    if (!settled || engine.state.length === 0 || engine.state.some((one) => one.retainOnDelete)) return;
    const before = stateShown(engine);
    const { settings, explicit } = engine;
    accounts.copy.key = accounts.main.key;
    for (const kind of kinds)
      for (const record of accounts.main.tables[kind].all()) accounts.copy.tables[kind].add(record);
    const { key } = accounts.another;
    const mistaken = (right: Settings): Settings => ({
      ...right,
      ...(wrong === "key"
        ? { "uptime:apiKey": key, "uptime:accounts": JSON.stringify({ second: { apiKey: key } }) }
        : { "uptime:baseUrl": accounts.copy.origin }),
    });
    this.forget();
    const options = this.optionsOf({ ...settled, command });
    const outcome = await this.start({
      ...options,
      settings: mistaken(options.settings),
      explicit: Object.fromEntries(
        Object.entries(options.explicit ?? {}).map(([name, right]) => [name, mistaken(right)]),
      ),
    });
    Object.assign(engine, { settings, explicit });
    const after = stateShown(engine);
    const isTaken = isGreen(outcome) && command !== "up";
    if (after !== before || isTaken || this.writes().some(({ effect }) => effect))
      throw new Violation(
        `before ${title}, ${command} with another ${wrong}: ${messagesOf(outcome)}, state ${before} became ${after}, requests ${shown(this.requests)}`,
      );
  }

  private optionsOf(run: PlannedRun): RunOptions {
    const settingsOf = ({ key }: SimulatedApi): Settings => ({
      "uptime:baseUrl": this.api.origin,
      "uptime:apiKey": key,
      "uptime:accounts": JSON.stringify({ second: { apiKey: this.accounts.second.key } }),
      ...(run.adoptExisting && { "uptime:adoptExisting": "true" }),
      ...(this.pairs.length > 0 && { "uptime:sameAccount": this.pairs.join(",") }),
    });
    const settings = settingsOf(this.accounts.main);
    const second = settingsOf(this.accounts.second);
    return {
      ...run,
      settings,
      explicit: run.hasNoProviders ? {} : { p: settings, "other p": settings, q: second, "other q": second },
      targets: urnsAt(run.program, run.targets),
      excluded: urnsAt(run.program, run.excluded),
      replace: urnsAt(run.program, run.replace),
    };
  }

  /** What a person can always do: take out what is refused and the imports, set what errors name, and run again. */
  private async repair(run: PlannedRun, failed: Outcome, title: string): Promise<void> {
    const before = stateShown(this.engine);
    const program = run.program.filter(({ args }) => args.name !== refusedName);
    let mended = plannedRun(sound(program.map((one) => ({ ...one, import: undefined }))), {
      command: "up --refresh --run-program",
      adoptExisting: this.invariants.hasStrays,
      latencies: run.latencies,
    });
    const wasDoubled = this.doubled().length > 0;
    let outcome = await this.execute(mended, `${title}, repaired`);
    const change = async (what: string, by: Partial<PlannedRun>): Promise<void> => {
      mended = { ...mended, ...by };
      outcome = await this.execute(mended, `${title}, repaired ${what}`);
    };
    // The replacement may get the id of the record that the run has deleted, which is refused once.
    if (!isGreen(outcome)) await change("again", {});
    if (!isGreen(outcome) && this.forgetOthers()) await change("without what is another record", {});
    // Only a person can tell the same account, at a new address, with a new key or without its records (a killed run may have
    // deleted them), from another account.
    while (this.obey(outcome)) await change("in the same account", {});
    if (namesAdoption(outcome)) await change("with adoption", { adoptExisting: true });
    while (this.obey(outcome)) await change("in the same account", {});
    // There is no single record that equals a lost create.
    if (!isGreen(outcome) && mended.adoptExisting) {
      await change("without adoption", { adoptExisting: false });
      if (!isGreen(outcome)) await change("again", {});
      while (this.obey(outcome)) await change("in the same account", {});
    }
    // Two resources of the program may have one record, if one has imported or adopted it in a run that did not hear of the
    // other. Then a person must take one of them out; unless one of them was waiting for its replacement, and has another
    // record now.
    const doubled = this.doubled();
    if (!isGreen(outcome) && (wasDoubled || doubled.length > 0))
      await change(`without ${doubled.join(" and ") || "a change"}`, {
        program: sound(mended.program.filter((one) => !doubled.includes(urnOf(one)))),
      });
    // Only now the run comes to the resources after them.
    while (this.obey(outcome)) await change("in the same account", {});
    if (!isGreen(outcome))
      throw new Violation(
        `${title} failed (${messagesOf(failed)}), and cannot be repaired: ${messagesOf(outcome)}; state was ${before}`,
      );
    this.invariants.assertConverged(mended, `${title}, repaired`);
    this.settled = mended;
  }

  /** Sets uptime:sameAccount as the errors of a run say it. Whether one of them has said something new. */
  private obey({ errors }: Outcome): boolean {
    const said = errors.flatMap(({ message }) =>
      /\bsameAccount\b/.test(message) ? (message.match(/\b[0-9a-f]{4}=[0-9a-f]{4}\b/g) ?? []) : [],
    );
    const before = this.pairs.length;
    this.pairs = [...new Set([...this.pairs, ...said])];
    return this.pairs.length > before;
  }

  /** `pulumi state delete` of domains under whose id there is another one now. */
  private forgetOthers(): boolean {
    const { engine } = this;
    const others = engine.state.filter((entry) => {
      const record = this.accounts[accountOf(entry)].get(entry.kind, entry.id);
      return entry.kind === "domain" && record && record.name !== entry.outputs.name;
    });
    for (const entry of others) this.invariants.forgotten(entry);
    engine.state = engine.state.filter((entry) => !others.includes(entry));
    return others.length > 0;
  }

  /** `pulumi state delete` of resources whose record is gone, where another one of the program has got its id since. */
  private forgetReplaced(): boolean {
    const { engine, invariants } = this;
    const lasts = new Map(engine.state.map((entry) => [keyOf(entry), entry]));
    const isReplaced = (entry: Entry): boolean =>
      lasts.get(keyOf(entry)) !== entry && invariants.isReused(entry) && !entry.isDelete;
    const all = engine.state.filter((entry) => !isReplaced(entry));
    if (all.length === engine.state.length) return false;
    engine.state = all;
    this.settled = undefined;
    return true;
  }

  /** Resources whose record another one has too, which stays. */
  private doubled(): string[] {
    const { state } = this.engine;
    const firsts = new Map(state.map((entry) => [keyOf(entry), entry]));
    return state.filter((entry) => firsts.get(keyOf(entry)) !== entry).map(({ urn }) => urn);
  }

  private async execute(run: PlannedRun, title: string): Promise<Outcome> {
    const { engine } = this;
    const before = engine.state.map((entry) => ({ ...entry }));
    this.invariants.begin();
    this.settled = undefined;
    this.forget();
    let requests = 0;
    const counts = new Map<string, number>();
    const faulty = new Map<string, Fault>();
    const misbehave = (request: Seen): Misbehaviour | undefined => {
      const { path, body } = request;
      const method = request.method === "PUT" ? "PATCH" : request.method;
      const number = (counts.get(method) ?? 0) + 1;
      counts.set(method, number);
      if (isRefused(body)) return faults.refused(request);
      const key = JSON.stringify([method, path, body]);
      const before = faulty.get(key);
      const fault =
        before ?? run.faults.find((one) => one.method === method && [0, number].includes(one.number));
      const misbehaviour = fault && faults[fault.fault](request);
      if (!fault || (before && fault.number > 0 && !misbehaviour?.isLasting)) return undefined;
      faulty.set(key, fault);
      // What is only slow is faulty if the client gives it up.
      request.isFaulty = misbehaviour?.answer !== undefined;
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
    this.invariants.assertSound(run, outcome, before, title);
    return outcome;
  }

  private edit(one: Edit): void {
    const { api } = this;
    // A person here does nothing to what another stack has.
    const all: SimulatedApi["all"] = (kind) => api.all(kind).filter((record) => !this.neighbor?.has(record));
    const id = applyEdit(one, {
      all,
      add: api.add.bind(api),
      edit: api.edit.bind(api),
      remove: api.remove.bind(api),
    });
    if (id !== undefined) this.invariants.edited(one, id);
  }
}

/** Whether a refresh asks for adoption, because no record has an id that only the answer to a create has shown. */
const namesAdoption = ({ errors }: Outcome): boolean =>
  errors.some(({ message }) => message.includes("is the id of something else"));

const stateShown = ({ state }: SimulatedEngine): string =>
  state
    .map(({ urn, id, isDelete }) => `${urn} ${id}${isDelete ? " (to delete)" : ""}`)
    .sort()
    .join(", ");
