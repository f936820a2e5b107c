import { OperationFailed, type Provider, type ProviderProcess, type Settings } from "../calls";
import { Hang, VirtualClock } from "../clock";
import { apiKey, origin, SimulatedApi } from "./api";
import { isInState, operations, type Case } from "./cases";
import { SimulatedEngine, urnOf, type Command, type Declared, type Goal } from "./engine";
import type { Front } from "./front";
import { Violation } from "./invariants";
import { misbehaviourOf, targetOf, type Target } from "./mutations";
import { SimulatedProcess } from "./process";
import { secretsOf } from "./secrets";

/** An operation that takes longer than this never ends. */
const longest = 26 * 3_600_000;
const plainSettings = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey };

/** The operation of a case, and what it came to. */
export class Trial {
  readonly api: SimulatedApi;
  readonly engine: SimulatedEngine;
  readonly surroundings: SimulatedProcess;
  /** The values that nobody may see. */
  readonly secrets: readonly string[];
  /** The record of the resource, if it had one. */
  own: string | undefined;
  /** The records of others as JSON, by their ids, before the operation. */
  foreign: ReadonlyMap<string, string> = new Map();
  /** The mutations that came about. */
  readonly done: Case["mutations"][number][] = [];
  /** How many writes there were at the interruption. */
  writesAllowed = Infinity;
  errors: readonly Error[] = [];
  /** What a read by `get` was answered with. */
  got: Awaited<ReturnType<Provider["read"]>>;
  private readonly time = new VirtualClock();

  constructor(
    readonly one: Case,
    readonly front: Front,
  ) {
    const { args, operation, habits } = one;
    this.api = new SimulatedApi(this.time, { uniqueDomainNames: false }, habits);
    this.surroundings = new SimulatedProcess(this.time, this.api);
    this.engine = new SimulatedEngine((declared, settings) => this.goalOf(declared, settings));
    // The provider does not know the secrets of a record that it only reads, as the plugin does for an import.
    const isOnlyRead = operation === "get" || (operation === "import" && front.name === "plugin");
    this.secrets = isOnlyRead ? [] : secretsOf(args);
    // Pulumi's host shows what is printed there.
    jest.spyOn(console, "warn").mockImplementation(this.surroundings.print);
  }

  /** Makes the records of others, and a resource in state or a record to import or adopt. */
  async setUp(): Promise<void> {
    const { api, engine, time } = this;
    const { kind, operation, others, dialect } = this.one;
    api.addOthers(kind, others);
    if (operation !== "create") {
      const before = new SimulatedProcess(time, api);
      const [error] = await this.run("up", this.front.start(plainSettings, before), plainSettings);
      if (error) throw error;
      before.kill();
      this.own = engine.state[0]?.id;
      if (!isInState(operation)) engine.state = [];
    }
    api.dialect = { ...api.dialect, ...dialect };
    // Longer than lists lag.
    await time.until(time.sleep(10_000));
    api.forget();
    const foreign = api.all(kind).filter(({ id }) => id !== this.own);
    this.foreign = new Map(foreign.map((record) => [record.id, JSON.stringify(record)]));
  }

  async carryOut(): Promise<void> {
    const { api, front, surroundings, time } = this;
    const { operation, interruption } = this.one;
    this.misbehave();
    const settings = { ...plainSettings, ...(operation === "adopt" && { "uptime:adoptExisting": "true" }) };
    const process = front.start(settings, surroundings);
    let carriedOut = 0;
    api.onDone = () => {
      if (++carriedOut !== interruption?.after) return;
      this.writesAllowed = api.writes().length;
      void process[interruption.by]();
    };
    try {
      const { by } = operations[operation];
      this.errors = await (by ? this.run(by, process, settings, this.program) : this.get(process));
    } catch (error) {
      if (error instanceof Hang) throw new Violation(`the call does not end: ${error.message}`);
      throw error;
    } finally {
      surroundings.kill();
    }
    await time.until(time.sleep(600_000));
  }

  private misbehave(): void {
    const { one, api, secrets, time } = this;
    const counts = new Map<Target, number>();
    api.misbehave = (request) => {
      const target = targetOf(request);
      const number = (counts.get(target) ?? 0) + 1;
      counts.set(target, number);
      const found = one.mutations.find((other) => other.target === target && other.number === number);
      if (!found) return undefined;
      this.done.push(found);
      return misbehaviourOf(found.mutation, { ...one, secrets, api, time });
    };
  }

  private async run(
    command: Command,
    process: ProviderProcess,
    settings: Settings,
    declared = this.declared,
  ) {
    const { kind } = this.one;
    const replace = declared.deleteBeforeReplace ? [urnOf(declared)] : undefined;
    const options = { command, settings, program: [declared], replace };
    const running = this.engine.run({ provider: () => process[kind] }, options);
    const outcome = await this.time.until(running, longest);
    for (const error of outcome.errors) if (!(error instanceof OperationFailed)) throw error;
    return outcome.errors;
  }

  /** Reads a record that is not managed. */
  private async get(process: ProviderProcess): Promise<readonly Error[]> {
    const { one, own = "1", time } = this;
    const read = process[one.kind].read("urn:pulumi:stack::project::x::r", own, {}, {});
    try {
      this.got = await time.until(read, longest);
      return [];
    } catch (error) {
      if (error instanceof OperationFailed) return [error];
      throw error;
    }
  }

  private get declared(): Declared {
    const { kind, args } = this.one;
    return { kind, name: "r", args };
  }

  /** What the program declares when the operation is carried out. */
  private get program(): Declared {
    const { declared, own = "1" } = this;
    const { kind, operation } = this.one;
    if (operation === "import") return { ...declared, import: own };
    if (operation === "replace") return { ...declared, deleteBeforeReplace: true };
    if (operation !== "update") return declared;
    const change = kind === "monitor" ? { interval: 600 } : { notFoundUrl: "https://x.example/" };
    return { ...declared, args: { ...declared.args, ...change } };
  }

  /** What becomes of a declaration: found out once for each kind, because Pulumi's SDK takes its time. */
  private async goalOf(declared: Declared, settings: Settings): Promise<Goal> {
    const goal = await this.front.register({ ...declared, args: {} }, settings);
    return { ...goal, inputs: { ...goal.inputs, ...declared.args } };
  }
}
