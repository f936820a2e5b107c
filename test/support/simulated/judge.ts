import { isInternal, isWellFormed, OperationFailed } from "../calls";
import { apiKey } from "./api";
import { isInState, type Case } from "./cases";
import type { Front } from "./front";
import { shown, Violation } from "./invariants";
import { denies, hides, locatedId, tells, type Mutation, type Target } from "./mutations";
import { leakIn, publicTexts } from "./secrets";
import { Trial } from "./trial";

/** Carries out the operation of a case, and judges what it came to. */
export async function tryCase(one: Case, front: Front): Promise<void> {
  const trial = new Trial(one, front);
  await trial.setUp();
  await trial.carryOut();
  new Judge(trial).judge();
}

/** Checks what must hold, as far as the answers let the provider know it. */
class Judge {
  private readonly isGreen: boolean;
  /** The records that were made. */
  private readonly created: readonly string[];
  /** The id in state. */
  private readonly id: string | undefined;
  /** Lists or reads did not show what is there. */
  private readonly isDeceived: boolean;

  constructor(private readonly trial: Trial) {
    this.isGreen = trial.errors.length === 0;
    this.created = trial.api.requests.flatMap(({ effect }) =>
      effect?.made === "created" ? [effect.id] : [],
    );
    this.id = trial.engine.state[0]?.id;
    this.isDeceived = this.happened(["list", "show"], hides);
  }

  judge(): void {
    this.assertTexts();
    this.assertInterrupted();
    this.assertOneRecord();
    this.assertOnlyOwn();
    this.assertNotGone();
  }

  /** Nothing leaves that is ill-formed or tells a secret. */
  private assertTexts(): void {
    const { engine, errors, got, secrets, surroundings } = this.trial;
    const messages = errors.map(({ message }) => message);
    if (messages.some(isInternal)) this.violated("what leaves is not sound");
    const texts = [
      ...messages,
      ...errors.flatMap((error) => (error instanceof OperationFailed ? (error.reasons ?? []) : [])),
      ...[...engine.state, ...(got ? [got] : [])].flatMap(({ inputs = {}, outputs }) =>
        [inputs, outputs].flatMap(publicTexts),
      ),
      ...surroundings.printed,
    ];
    for (const text of texts) {
      if (!isWellFormed(text)) this.violated(`ill-formed: ${JSON.stringify(text.slice(0, 100))}`);
      const part = leakIn(text, [...secrets, apiKey]);
      if (part !== undefined)
        this.violated(`${JSON.stringify(part)} of a secret is in: ${text.slice(0, 700)}`);
    }
  }

  /** Nothing is written after an interruption. */
  private assertInterrupted(): void {
    const { one, front, api, writesAllowed } = this.trial;
    // Pulumi's host of dynamic resources hears nothing of Ctrl-C.
    const isHeard = one.interruption?.by === "finish" || front.name === "plugin";
    if (isHeard && api.writes().length > writesAllowed)
      this.violated("something was written after the interruption");
  }

  /** At most one record is made, and its id is known. */
  private assertOneRecord(): void {
    const { id, created, isGreen, isDeceived } = this;
    const { one, api } = this.trial;
    if (created.length > 1 && !isDeceived) this.violated(`${created.length} records were made`);
    const [made] = created;
    if (made === undefined || (id !== undefined && created.includes(id)) || this.isNewId) return;
    if (isGreen && !isDeceived)
      this.violated(`the record ${made} was made, and state has the id ${id ?? "none"}`);
    // If the address of that id shows another record or none, the id may be another's: an error names what is new.
    const isTold =
      !this.happened(["show"], denies) &&
      one.mutations.every(({ target, mutation }) => target !== "create" || tells(mutation));
    const { createAnswer, createStatus } = api.dialect;
    if (isTold && id === undefined && createAnswer !== "empty" && createStatus !== 204)
      this.violated(`the id ${made} was told, and is lost`);
  }

  /**
   * The id in state is that of no record that was made, and nobody can know it: that a record that is shown whole has another
   * id than it shows, that a Location or a job's id is another while what is there cannot be read, or is not there yet, or that a
   * record was there before if no list shows it.
   */
  private get isNewId(): boolean {
    const { id } = this;
    const { habits, interruption, kind } = this.trial.one;
    if (id === undefined) return false;
    const isAbsent = !this.isGreen && this.trial.api.get(kind, id) === undefined;
    const isUnlisted = this.happened(["list"], hides);
    // After an interruption nothing waits for a read that lags.
    const isUnseen = interruption !== undefined && (habits.lag > 0 || habits.ownLag > 0);
    const isUnreadable = isUnseen || isAbsent || this.happened(["show"]);
    return this.happened(["create"], (mutation) => {
      if (this.trial.foreign.has(id)) return isUnlisted;
      if (mutation.mutate === "id" && id === String(mutation.id).toWellFormed()) return true;
      const isLocated = "location" in mutation && locatedId(mutation.location, kind) === id;
      const isJob = mutation.mutate === "envelope" && mutation.envelope === "job";
      return isUnreadable && (isLocated || isJob);
    });
  }

  /** Nothing that is somebody else's is written or taken. */
  private assertOnlyOwn(): void {
    const { id, created } = this;
    const { api, foreign, one, own } = this.trial;
    const ours = new Set([...created, own, ...(this.isNewId ? [id] : [])]);
    if (id !== undefined && !ours.has(id)) this.violated(`the id ${id} is not ours`);
    for (const request of api.writes())
      if (request.id !== undefined && !ours.has(request.id)) this.violated(`${shown([request])} is not ours`);
    for (const [key, record] of foreign)
      if (!ours.has(key) && JSON.stringify(api.get(one.kind, key)) !== record)
        this.violated(`the record ${key} of somebody else has changed`);
  }

  /** A record that is there is not said to be gone or deleted. */
  private assertNotGone(): void {
    const { created, id, isGreen, isDeceived } = this;
    const { api, got, own } = this.trial;
    const { kind, operation } = this.trial.one;
    if (!isGreen || isDeceived || own === undefined || !api.get(kind, own)) return;
    // The replacement has got the id.
    if (created.includes(own)) return;
    const isGone = operation === "get" ? got === undefined : isInState(operation) && id !== own;
    const isDeleted = operation === "delete" || operation === "replace";
    if (!isDeleted && isGone) this.violated(`the record ${own} is said to be gone, and is there`);
    // If the record's own address says to a read or the delete that there is none, that counts as gone.
    const isOwnAddressGone = this.happened(
      ["delete", "show"],
      (mutation) => "status" in mutation && (mutation.status < 300 || [404, 410].includes(mutation.status)),
    );
    if (isDeleted && !isOwnAddressGone)
      this.violated(`the record ${own} is said to be deleted, and is there`);
  }

  /** Whether one of these requests got such an answer. */
  private happened(targets: readonly Target[], how: (mutation: Mutation) => boolean = () => true): boolean {
    return this.trial.done.some(({ target, mutation }) => targets.includes(target) && how(mutation));
  }

  private violated(text: string): never {
    const { api, engine, errors } = this.trial;
    const messages = errors.map(({ message }) => message).join("\n");
    throw new Violation(
      `${text}\nstate: ${JSON.stringify(engine.state).slice(0, 600)}\nerrors: ${messages.slice(0, 600)}\n` +
        `requests: ${shown(api.requests)}`,
    );
  }
}
