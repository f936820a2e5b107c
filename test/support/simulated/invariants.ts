import { isInternal, kinds, type Kind } from "../calls";
import type { Dialect } from "../../../provider/emulator";
import { comparable, snake, toRecord } from "../oracle";
import type { Seen, SimulatedApi } from "./api";
import { isGreen, urnOf, urnsOf } from "./engine";
import type { Entry, Operation, Outcome, SimulatedEngine } from "./engine";
import { isChangedMeanwhile, type Edit, type PlannedRun } from "./scenarios";

/** An invariant does not hold. */
export class Violation extends Error {}

/** The accounts of a server, and a copy of it. */
export type Accounts = Readonly<Record<"main" | "second" | "another" | "copy", SimulatedApi>>;

type Named = Pick<Entry, "provider" | "inputs" | "kind" | "id">;

export const accountOf = ({ provider = "", inputs }: Omit<Named, "kind" | "id">): "main" | "second" =>
  provider.endsWith("q") || inputs.account === "second" ? "second" : "main";

/** Names a record by its account, kind and id. */
export const keyOf = (entry: Named): string => `${accountOf(entry)} ${entry.kind} ${entry.id}`;

/** What has happened to the record under an id. */
class RecordHistory {
  /** It was there when the present run began. */
  wasThere = false;
  /** It was there then, or somebody has made it since, so that only an import or an adoption takes it. */
  isOlder = false;
  /** The provider made it, and no person. */
  isCreated = false;
  /** It has the id of one that was there before. */
  isReused = false;
  /** The provider has deleted it in the present run, so a new record may get its id. */
  isFreed = false;
  /** A person deleted it, or state is older than its deletion. */
  isDeletedByHand = false;
  /** It may differ from state since the last run with a refresh that was green. */
  isChangedByHand = false;
  /** Fields that it does not show may differ from state: nobody could compare them, or state is an older one. */
  mayDifferUnseen = false;
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
  readonly violated: (text: string) => void;
}

/** Checks after every run what must hold, each invariant in a method, by the history of each record. */
export class Invariants {
  /** By {@link keyOf}. */
  private readonly histories = new Map<string, RecordHistory>();

  constructor(
    private readonly engine: SimulatedEngine,
    private readonly accounts: Accounts,
  ) {}

  // What happens -----------------------------------------------------------------------------------------------------

  /** A run begins. */
  begin(): void {
    for (const history of this.histories.values())
      history.wasThere = history.isOlder = history.isFreed = false;
    for (const [name, account] of Object.entries(this.accounts))
      for (const kind of kinds)
        for (const { id } of account.all(kind)) {
          const history = this.history(`${name} ${kind} ${id}`);
          history.wasThere = history.isOlder = true;
        }
  }

  /** A person has done this to a record of the main account. */
  edited({ edit, kind }: Edit, id: string): void {
    const key = `main ${kind} ${id}`;
    const history = this.history(key);
    if (edit === "add") {
      history.isReused ||= history.wasThere;
      // A resource whose record was deleted has its id in state still.
      history.isChangedByHand ||= this.heldKeys().has(key);
      history.isCreated = history.isDeletedByHand = false;
      history.isOlder = true;
    } else if (edit === "delete") history.isDeletedByHand = true;
    else history.isChangedByHand = true;
  }

  /** The provider has made a record, perhaps with the id of one that was deleted. */
  created(key: string): void {
    const history = this.history(key);
    if (history.isCreated || history.wasThere || this.heldKeys().has(key)) {
      history.isReused = true;
      history.isShared ||= !history.isFreed;
    }
    history.isCreated = true;
    history.isOlder = history.isStray = history.isDeletedByHand = false;
  }

  /** The provider has deleted a record. */
  deleted(key: string): void {
    this.history(key).isFreed = true;
  }

  /** State is an older one. */
  restored(): void {
    const held = this.heldKeys();
    for (const key of held) {
      const history = this.history(key);
      if (this.exists(key)) history.isChangedByHand = history.mayDifferUnseen = true;
      else history.isDeletedByHand = true;
    }
    for (const [key, history] of this.histories)
      if (history.isCreated && !held.has(key)) history.isStray = true;
  }

  /** A person has taken a resource out of state. */
  forgotten(entry: Entry): void {
    this.history(keyOf(entry)).isStray = true;
  }

  /** Whether a new record has got the id. */
  isReused(entry: Entry): boolean {
    return this.history(keyOf(entry)).isReused;
  }

  get hasStrays(): boolean {
    return [...this.histories.values()].some(({ isStray }) => isStray);
  }

  // What must hold ---------------------------------------------------------------------------------------------------

  /** No key leaves a process, whatever the server repeats. */
  assertUntold({ errors }: Outcome, printed: readonly string[], keys: readonly string[]): void {
    const texts = [...errors.map(({ message }) => message), ...printed, JSON.stringify(this.engine.state)];
    for (const key of keys)
      for (const text of texts)
        if (text.includes(key)) throw new Violation(`the key ${key} is told: ${text.slice(0, 300)}`);
  }

  assertSound(run: PlannedRun, outcome: Outcome, before: readonly Entry[], title: string): void {
    const violated = (text: string): void => {
      throw new Violation(
        `${title}: ${text}\nerrors: ${messagesOf(outcome)}\n` +
          `operations: ${outcome.operations.map(operationShown).join(", ")}\n` +
          `requests: ${shown(requestsTo(this.accounts))}`,
      );
    };
    for (const { message } of outcome.errors) if (isInternal(message)) violated(message);
    const ended: Ended = { run, outcome, before, violated };
    this.noteOperations(ended);
    this.assertOneResourcePerRecord(ended);
    this.assertNothingGone(ended);
    this.assertNothingLeftBehind(ended);
    this.assertNothingMadeForNobody(ended);
    this.assertFreedIdsUsed(ended);
    this.assertOnlyOwnWritten(ended);
  }

  /** Which resources have taken records that were there before, and which records may be gone or not. */
  private noteOperations({ run, before, outcome }: Ended): void {
    const imports = importsOf(run);
    for (const declared of run.program)
      for (const { condemnedBy } of this.histories.values())
        if (urnsOf(declared).some((urn) => condemnedBy.has(urn))) condemnedBy.add(urnOf(declared));
    const all = [...this.engine.state, ...before];
    for (const { operation, urn, id, result, outcome: end } of outcome.operations) {
      const entry = all.find((one) => one.urn === urn && (id === undefined || one.id === id));
      if (!entry) continue;
      // After a delete, the engine no longer has the resource; if it does, another resource has taken the record.
      if (operation === "delete" && (outcome.isKilled || end !== "done")) {
        const history = this.history(keyOf(entry));
        history.condemnedBy.add(urn);
        history.isShared ||= history.isReused;
      }
      if (operation !== "create" || result === undefined) continue;
      const history = this.history(keyOf({ ...entry, id: result }));
      if (history.isOlder) history.takenBy.add(urn);
    }
    // Of an update, Pulumi notes nothing before it has ended.
    if (outcome.isKilled)
      for (const { made, key } of this.effects)
        if (made !== "created") {
          const history = this.history(key);
          history.isChangedByHand = history.mayDifferUnseen = true;
        }
    const old = new Set(before.map(({ urn, id }) => `${urn} ${id}`));
    // An update that is answered with such words, and nothing else, may have stored what no record shows.
    const isDoubtful = run.faults.some(({ method, fault }) => method === "PATCH" && fault === "words");
    for (const entry of this.present) {
      const key = keyOf(entry);
      const history = this.history(key);
      history.mayDifferUnseen ||= isDoubtful;
      if (old.has(`${entry.urn} ${entry.id}`)) continue;
      // An import compares only what is shown, also of a record that a create of the same run has just made.
      history.mayDifferUnseen ||= imports.includes(key);
      if (!history.isOlder) continue;
      history.takenBy.add(entry.urn);
      // A lost create finds what is equal in all that is shown.
      history.mayDifferUnseen ||= this.isGuessed && !history.wasThere;
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
      const key = keyOf(entry);
      const other = holders.get(key);
      holders.set(key, entry);
      if (!other) continue;
      const history = this.history(key);
      const isTaken =
        history.isShared ||
        [entry, other].some(({ urn }) => history.takenBy.has(urn)) ||
        (isGuessed && entry.provider !== other.provider);
      if (!history.isReused && ((isWhole && !isGuessed) || !isTaken))
        violated(`${entry.urn} and ${other.urn} both have the ${key}`);
      history.isShared = true;
    }
  }

  /** No record that a resource has is deleted unless that resource goes. */
  private assertNothingGone({ violated }: Ended): void {
    for (const entry of this.present) {
      const { urn } = entry;
      const key = keyOf(entry);
      const { isDeletedByHand, isShared, condemnedBy } = this.history(key);
      if (!this.exists(key) && !isDeletedByHand && !isShared && !condemnedBy.has(urn))
        violated(`${urn} has the ${key}, which is not there`);
    }
  }

  /** No record is left behind by a resource that leaves state. */
  private assertNothingLeftBehind(ended: Ended): void {
    const held = this.heldKeys();
    for (const key of held) this.history(key).isStray = false;
    for (const entry of ended.before) {
      const key = keyOf(entry);
      if (held.has(key)) continue;
      const history = this.history(key);
      history.isStray ||=
        // An empty answer from the record's address counts as gone when the record is to be deleted.
        requestsTo(this.accounts).some(
          ({ method, id, isFaulty, status }) =>
            method === "GET" && id === entry.id && isFaulty && status === 200,
        ) ||
        // Its record was gone when the run began, and somebody has made another one under the id since.
        (history.isOlder && !history.wasThere) ||
        history.isReused ||
        entry.retainOnDelete === true ||
        // What waits for its replacement is deleted; another record may have got the id.
        entry.isPendingReplacement;
      if (this.exists(key) && !isAwaited(ended, key) && !history.isStray)
        ended.violated(`${entry.urn} has left state, and the ${key} is still there`);
    }
  }

  /** Every record that was created is a resource's, so none is made twice. */
  private assertNothingMadeForNobody(ended: Ended): void {
    const { operations, isKilled } = ended.outcome;
    const held = this.heldKeys();
    const hasFailed = operations.some(
      ({ operation, outcome }) => operation === "create" && outcome === "failed",
    );
    const isUnread = requestsTo(this.accounts).some(({ method, isFaulty }) => method === "GET" && isFaulty);
    // A create that failed may have left a record only if the server's answer was lost, or a read that was to find it, or
    // if its id is one that state has of a record that is gone: the create is refused, with an error. An id that the list held
    // before is not looked for: the create is sent again.
    const lost = this.effects.flatMap(({ request, made, key }) => {
      const { isReused, isShared } = this.history(key);
      const mayBeLeft = hasFailed || isReused;
      return made === "created" && mayBeLeft && (request.isFaulty || isUnread || isShared) ? [key] : [];
    });
    for (const [key, history] of this.histories) {
      if (!history.isCreated || history.isStray || held.has(key) || !this.exists(key)) continue;
      history.isStray = (isKilled && !history.isOlder) || lost.includes(key) || isAwaited(ended, key);
      if (!history.isStray) ended.violated(`the ${key} was created and no resource has it`);
    }
  }

  /** A create that is answered with the id of a record that the run has deleted is not refused. */
  private assertFreedIdsUsed({ outcome, violated }: Ended): void {
    const present = new Set(this.present.map(keyOf));
    for (const { request, made, key } of this.effects) {
      const { isFreed, isShared } = this.history(key);
      if (made !== "created" || !isFreed || isShared || request.isFaulty || outcome.isKilled) continue;
      if (!present.has(key)) violated(`the ${key} got the id of a deleted record, and no resource has it`);
    }
  }

  /** Only what belongs to a resource is written, and only what was made, imported or adopted belongs to one. */
  private assertOnlyOwnWritten({ run, outcome, before, violated }: Ended): void {
    const { effects, isGuessed } = this;
    const imports = importsOf(run);
    const held = this.heldKeys();
    const owned = new Set(before.map(keyOf));
    for (const { request, made, key } of effects) {
      if (made === "created" || held.has(key) || owned.has(key) || !this.history(key).isOlder) continue;
      if (!(outcome.isKilled && run.adoptExisting))
        violated(`the ${key}, which belongs to nobody, was ${made}: ${shown([request])}`);
    }
    const written = new Set(effects.map(({ key }) => key));
    for (const entry of this.present) {
      const { urn } = entry;
      const key = keyOf(entry);
      const { isOlder, wasThere } = this.history(key);
      if (owned.has(key) || !isOlder || run.adoptExisting || (isGuessed && !wasThere)) continue;
      if (!imports.includes(key)) violated(`${urn} has taken the ${key}, which was there before`);
      else if (written.has(key)) violated(`${urn} has imported the ${key}, and written to it`);
    }
  }

  /** After a green run of the whole program, state and the API are as it declares. */
  assertConverged(run: PlannedRun, title: string): void {
    const violated = (text: string): void => {
      throw new Violation(`${title} was green, and ${text}`);
    };
    const { state } = this.engine;
    const expected = run.program.map(urnOf).sort().join(", ");
    const actual = state
      .map(({ urn }) => urn)
      .sort()
      .join(", ");
    if (expected !== actual) violated(`state has ${actual} instead of ${expected}`);
    const { dialect } = this.accounts.main;
    const isRefreshed = run.command.includes("--refresh") && !isChangedMeanwhile(run);
    if (isRefreshed) for (const history of this.histories.values()) history.isChangedByHand = false;
    for (const declared of run.program) {
      const entry = state.find(({ urn }) => urn === urnOf(declared));
      if (!entry) continue;
      const key = keyOf(entry);
      const record = this.accounts[accountOf(entry)].get(entry.kind, entry.id);
      const { isChangedByHand, isReused, mayDifferUnseen } = this.history(key);
      // The resource that it has replaced may have had the same id, and is deleted after the refresh.
      if (!record && isRefreshed && !isReused) violated(`${entry.urn} has the ${key}, which is not there`);
      // The record was deleted by hand, and the server has given its id to another create: the next run names both resources.
      const isGivenAway = isReused && state.some((other) => other !== entry && keyOf(other) === key);
      if (!record || isChangedByHand || isGivenAway) continue;
      const { ignoreChanges = [], args } = declared;
      // In the outputs of an import there is also what nobody manages.
      for (const name of Object.keys({ ...entry.inputs, ...args })) {
        if (!(snake(name) in record) || ignoreChanges.includes(name)) continue;
        if (mayDifferUnseen && !isShown(dialect, name)) continue;
        const there = record[snake(name)];
        const values = [entry.outputs[name], ...(name in args ? [args[name]] : [])];
        if (!values.every((value) => isSame(entry.kind, name, value, there)))
          violated(
            `${name} of ${entry.urn} is ${JSON.stringify(there)} in the API, not ${JSON.stringify(values)}`,
          );
      }
    }
  }

  // What has happened ------------------------------------------------------------------------------------------------

  private history(key: string): RecordHistory {
    const known = this.histories.get(key) ?? new RecordHistory();
    this.histories.set(key, known);
    return known;
  }

  private exists(key: string): boolean {
    const [account = "main", kind = "monitor", id = ""] = key.split(" ");
    return this.accounts[account as "main"].get(kind as Kind, id) !== undefined;
  }

  private heldKeys(): ReadonlySet<string> {
    return new Set(this.engine.state.map(keyOf));
  }

  /** The resources in state that have records. */
  private get present(): readonly Entry[] {
    return this.engine.state.filter(({ isPendingReplacement }) => !isPendingReplacement);
  }

  /** What the requests of a run did. */
  private get effects() {
    return Object.entries(this.accounts).flatMap(([name, { requests }]) =>
      requests.flatMap((request) => {
        const { effect, kind = "" } = request;
        return effect ? [{ request, made: effect.made, key: `${name} ${kind} ${effect.id}` }] : [];
      }),
    );
  }

  /** An answer to a create was lost: it may have made any equal record that is not answered yet. */
  private get isGuessed(): boolean {
    return requestsTo(this.accounts).some(({ method, isFaulty }) => method === "POST" && isFaulty);
  }
}

/** The records that a program imports. The plugin reads an id without its account, so it may import another record than meant. */
function importsOf({ program }: PlannedRun, isMeant = true): string[] {
  return program.flatMap(({ import: id, ...one }) =>
    id === undefined ? [] : [keyOf({ ...one, inputs: isMeant ? one.args : {}, id })],
  );
}

/** Whether records show a property, so that it can be compared, also if it is empty. */
export const isShown = ({ emptyAs, hidden, pauseShown }: Dialect, name: string): boolean =>
  emptyAs !== "absent" &&
  !hidden.includes(snake(name)) &&
  name !== "requestAuthPassword" &&
  !(name === "pause" && pauseShown === "hidden");

/** Whether a value of a program or of state and one of a record mean the same. */
function isSame(kind: Kind, name: string, value: unknown, there: unknown): boolean {
  const plain = (one: unknown): unknown[] => {
    const compared = comparable(kind, name, one);
    return [0, false, undefined].some((nothing) => nothing === compared) ? [] : [compared ?? []].flat();
  };
  return JSON.stringify(plain(toRecord(name, value ?? null))) === JSON.stringify(plain(there));
}

/** A record that a resource has given up for another's import, which then failed, is imported by the next run. */
const isAwaited = ({ run, outcome }: Ended, key: string): boolean =>
  !isGreen(outcome) && [...importsOf(run), ...importsOf(run, false)].includes(key);

export const requestsTo = (accounts: Accounts): Seen[] =>
  Object.values(accounts).flatMap(({ requests }) => requests);

export const shown = (requests: readonly Seen[]): string =>
  requests
    .map(({ method, path, status, effect }) => {
      const made = effect ? ` (${effect.made} ${effect.id})` : "";
      return `${method} ${path} ${status ?? "unanswered"}${made}`;
    })
    .join(", ");

export const messagesOf = ({ errors, isKilled }: Outcome): string =>
  [...errors.map(({ message }) => message), ...(isKilled ? ["killed"] : [])].join("; ") || "no errors";

const operationShown = ({ operation, urn, id = "", result, outcome }: Operation): string =>
  `${operation} ${urn.split("::").slice(2).join(" ")} ${id}${result === undefined ? "" : `→${result}`} ${outcome ?? "unended"}`;
