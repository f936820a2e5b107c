import { Client, type ClientDependencies } from "../api/client";
import { systemClock } from "../api/clock";
import { Collection } from "../api/collection";
import { keyFingerprintOf, type Settings } from "../api/settings";
import { httpTransport, proxyPasswords } from "../api/transport";
import type { Definition } from "../definitions/field";
import { getOrMake } from "../common/values";
import { Claims } from "./claims";
import { Ledger } from "./ledger";
import { Owners } from "./owners";
import { RunCreates } from "./run-creates";
import { RecordReader } from "./reader";
import type { RecordScope, SharedScope } from "./record-scope";
import { noNote, RecordNote, type RunNote } from "./run-note";

/** What a session needs of its process. Tests replace it. */
export interface SessionDependencies extends Partial<ClientDependencies> {
  readonly runNote?: RunNote;
}

/** What all resources of a process share: an HTTP client and ledgers for each address and key, and the clock. */
export class Session {
  /** The API keys in use, the proxy's password and anything else that no text may show. */
  readonly secrets = new Set<string>(proxyPasswords());
  readonly owners = new Owners();
  /** By address and key. */
  private readonly clients = new Map<string, Client>();
  /** By kind of record, address and key. */
  private readonly scopes = new Map<string, SharedScope>();
  private readonly namedPairs = new Set<string>();
  /** See {@link isFirst}. */
  private readonly topics = new Set<string>();
  private readonly dependencies: ClientDependencies & Required<Pick<SessionDependencies, "runNote">>;
  protected readonly print: (line: string) => unknown;
  private readonly interrupter = new AbortController();
  /** Aborted once the engine was interrupted. */
  readonly interruption: AbortSignal = this.interrupter.signal;

  constructor({
    clock = systemClock,
    transport = httpTransport(),
    runNote = noNote,
    print = (line) => process.stderr.write(`${line}\n`),
    showWait = (line) => process.stderr.write(`uptime: ${line}\n`),
    ...others
  }: SessionDependencies = {}) {
    this.print = print;
    this.dependencies = { clock, transport, runNote, print, showWait, ...others };
  }

  /** Whether a topic comes up for the first time, so that people are told of it once. */
  protected isFirst(topic: string): boolean {
    const isFirst = !this.topics.has(topic);
    this.topics.add(topic);
    return isFirst;
  }

  /** Ends waits, and begins no further write. Requests that were sent get their answers. */
  interrupt(): void {
    this.interrupter.abort();
  }

  connect(definition: Definition, settings: Settings): RecordScope {
    const { apiKey } = settings;
    this.secrets.add(apiKey);
    const address = settings[definition.addressSetting];
    const accountKey = `${address.url} ${apiKey}`;
    const client = getOrMake(
      this.clients,
      accountKey,
      () => new Client(address, settings, this.dependencies),
    );
    const keyFingerprint = keyFingerprintOf(address, apiKey);
    const newScope = (): SharedScope => this.newScope(definition, client, keyFingerprint);
    const shared = getOrMake(this.scopes, `${definition.plural} ${accountKey}`, newScope);
    return {
      definition,
      settings,
      address,
      keyFingerprint,
      namedPairs: this.namedPairs,
      ...shared,
      owners: this.owners,
      clock: this.dependencies.clock,
      interruption: this.interruption,
    };
  }

  /** Warns once that the processes of this run cannot tell each other what they do. Called where that is not an error. */
  private readonly warnOfNote = (problem: unknown): void => {
    if (!this.isFirst("note")) return;
    const reason = problem instanceof Error ? problem.message : String(problem);
    this.print(
      `uptime: ${reason} Until that is fixed, creates and deletes do not take into account what other providers of this run adopt, import or delete.`,
    );
  };

  private newScope(definition: Definition, client: Client, keyFingerprint: string): SharedScope {
    const { runNote } = this.dependencies;
    const collection = new Collection(definition, client);
    const ledger = new Ledger(this.owners);
    const note = new RecordNote(runNote, definition, client.address, keyFingerprint, this.warnOfNote);
    return {
      collection,
      ledger,
      claims: new Claims(ledger, note, this.owners, definition),
      reader: new RecordReader(collection, ledger),
      creates: new RunCreates(collection, ledger),
      checkedImports: new Map(),
    };
  }
}
