import { Client } from "../api/client";
import { systemClock } from "../api/clock";
import type { Clock } from "../api/clock";
import { Collection } from "../api/collection";
import { Log, printLine } from "../api/log";
import type { LogLevel } from "../api/log";
import { keyFingerprintOf } from "../api/settings";
import type { Address, Settings } from "../api/settings";
import { httpTransport, proxyPasswords } from "../api/transport";
import type { Transport } from "../api/transport";
import { WaitNotices } from "../api/wait-notices";
import type { ShowWait } from "../api/wait-notices";
import type { Definition } from "../definitions/field";
import type { Connect, RecordScope, RunNote } from "./record-scope";
import { PendingCreates } from "./pending-creates";
import { Evidence } from "./evidence";
import { Ledger } from "./ledger";
import { RecordReader } from "./reader";
import { ServerTraits } from "./server-traits";

/** What a session needs of its process. Tests replace it. */
export interface Surroundings {
  readonly clock?: Clock;
  readonly transport?: Transport;
  readonly runNote?: RunNote;
  /** Shows a line of the log. */
  readonly print?: (line: string) => unknown;
  /** Shows what requests wait for. */
  readonly showWait?: ShowWait;
}

/** What accounts with the same address and key share, for one kind of record. */
type SharedKind = Pick<
  RecordScope,
  "collection" | "ledger" | "reader" | "traits" | "creates" | "checkedImports"
>;

interface SharedAccount {
  readonly client: Client;
  readonly evidence: Evidence;
  /** By their names in the API's paths. */
  readonly kinds: Map<string, SharedKind>;
}

/** For a process that shares no note: a command, or a lookup in a program. */
export const noNote: RunNote = {
  reserve: () => undefined,
  hold: () => undefined,
  isHeldElsewhere: () => false,
};

/** What all resources of a process share: an HTTP client and ledgers for each address and key, the clock, and the log. */
export class Session {
  /** The API keys in use and the proxy's password, which no text may show. */
  readonly keys = new Set<string>(proxyPasswords());
  readonly clock: Clock;
  private readonly accounts = new Map<string, SharedAccount>();
  private log: Log | undefined;
  private readonly transport: Transport;
  private readonly runNote: RunNote;
  protected readonly print: (line: string) => unknown;
  private readonly notices: WaitNotices;
  private readonly running = new Set<Promise<unknown>>();
  private readonly interruptions = new AbortController();

  constructor({
    clock = systemClock,
    transport = httpTransport(),
    runNote = noNote,
    print = printLine,
    showWait = (line) => process.stderr.write(`uptime: ${line}\n`),
  }: Surroundings = {}) {
    this.clock = clock;
    this.runNote = runNote;
    this.transport = transport;
    this.print = print;
    this.notices = new WaitNotices(clock, showWait);
  }

  /** Aborted once the engine was interrupted. */
  get interruption(): AbortSignal {
    return this.interruptions.signal;
  }

  /** Connects to each account once, when it is first needed. */
  connector(definition: Definition, settingsOf: (account: string | undefined) => Settings): Connect {
    const scopes = new Map<string | undefined, RecordScope>();
    return (name) => {
      let scope = scopes.get(name);
      if (!scope) scopes.set(name, (scope = this.connect(definition, settingsOf(name))));
      return scope;
    };
  }

  /** Ends waits, and begins no further write. Requests that were sent get their answers. */
  interrupt(): void {
    this.interruptions.abort();
  }

  /** Runs an operation. {@link idle} waits for it. */
  async run<T>(operation: () => T | Promise<T>): Promise<T> {
    const running = (async () => operation())();
    this.running.add(running);
    try {
      return await running;
    } finally {
      this.running.delete(running);
    }
  }

  /** Waits until no operation runs. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.allSettled(this.running);
  }

  /** The one log of this process. It keeps the level that it is first made with. */
  logOf(level: LogLevel): Log {
    return (this.log ??= new Log(level, this.print, this.clock));
  }

  /** Prints the log's summary. */
  endLogs(): void {
    this.log?.end();
    this.log = undefined;
  }

  private connect(definition: Definition, settings: Settings): RecordScope {
    const address = settings[definition.addressSetting];
    const shared = this.sharedAccount(address, settings);
    const kind = shared.kinds.get(definition.plural) ?? this.newKind(definition, settings, shared);
    shared.kinds.set(definition.plural, kind);
    return {
      definition,
      settings,
      address,
      keyFingerprint: keyFingerprintOf(address, settings.apiKey),
      ...kind,
      evidence: shared.evidence,
      runNote: this.runNote,
      clock: this.clock,
    };
  }

  private newKind(
    definition: Definition,
    settings: Settings,
    { client, evidence }: SharedAccount,
  ): SharedKind {
    const collection = new Collection(definition, client, settings.goneStatuses);
    const [ledger, traits] = [new Ledger(), new ServerTraits(definition)];
    const reader = new RecordReader(collection, ledger, evidence, traits, this.clock);
    return { collection, ledger, reader, traits, creates: new PendingCreates(), checkedImports: new Map() };
  }

  private sharedAccount(address: Address, settings: Settings): SharedAccount {
    const name = `${address.url} ${settings.apiKey}`;
    let shared = this.accounts.get(name);
    if (!shared) {
      const { clock, transport, notices } = this;
      const log = this.logOf(settings.logLevel);
      const client = new Client(address, settings, { clock, transport, notices, log });
      this.accounts.set(name, (shared = { client, evidence: new Evidence(), kinds: new Map() }));
      this.keys.add(settings.apiKey);
    }
    return shared;
  }
}
