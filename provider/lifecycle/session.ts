import { Client } from "../api/client";
import { systemClock } from "../api/clock";
import type { Clock } from "../api/clock";
import { Collection } from "../api/collection";
import { KeyRefusedError, UptimeError } from "../api/errors";
import { Log, printLine } from "../api/log";
import type { LogLevel } from "../api/log";
import { keyFingerprintOf } from "../api/settings";
import type { Address, Settings } from "../api/settings";
import { counted } from "../api/text";
import { httpTransport, proxyPasswords } from "../api/transport";
import type { Transport } from "../api/transport";
import { WaitNotices } from "../api/wait-notices";
import type { ShowWait } from "../api/wait-notices";
import type { Definition } from "../definitions/field";
import type { Connect, RecordScope, RunNote } from "./record-scope";
import { Creates } from "./creates";
import { Evidence } from "./evidence";
import { Ledger } from "./ledger";
import { RecordReader } from "./reader";
import { ServerTraits } from "./server-traits";

/** More lines would push errors off the screen. */
const announcementLimit = 19;

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

/** What two accounts of the settings share if they have the same address and key. */
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

/** Of a process that shares no note with others. */
export const noNote: RunNote = {
  claim: () => undefined,
  hold: () => undefined,
  isHeldElsewhere: () => false,
};

/** What all resources of a process share: an HTTP client and ledgers for each address and key, the clock, and the log. */
export class Session {
  /** The API keys in use and the proxy's password, which no text may show. */
  readonly keys = new Set<string>(proxyPasswords());
  readonly clock: Clock;
  /** A program has declared a resource, so the settings are its own. */
  hasProgram = false;
  /** The settings whose keys the API has refused. */
  private readonly refusedKeys = new Set<string>();
  private readonly accounts = new Map<string, SharedAccount>();
  private log: Log | undefined;
  /** How many imports and adoptions there were. */
  private announced = 0;
  private hasRefused = false;
  private readonly transport: Transport;
  private readonly runNote: RunNote;
  private readonly print: Surroundings["print"];
  private readonly notices: WaitNotices;
  private readonly running = new Set<Promise<unknown>>();
  private readonly interruptions = new AbortController();

  constructor({
    clock = systemClock,
    transport = httpTransport(),
    runNote = noNote,
    print,
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

  /**
   * Runs an operation. {@link idle} waits for it. Only the first error about a refused key explains what to do; others refer
   * to it.
   */
  async run<T>(operation: () => T | Promise<T>): Promise<T> {
    const running = (async () => operation())();
    this.running.add(running);
    try {
      return await running;
    } catch (error) {
      if (!(error instanceof KeyRefusedError)) throw error;
      const { keySource } = error;
      if (!this.refusedKeys.has(keySource)) {
        this.refusedKeys.add(keySource);
        throw error;
      }
      throw new UptimeError(
        `The API does not accept the key from ${keySource}; the error of another resource says what to do.`,
        {
          cause: error,
        },
      );
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

  /** Shows an import or adoption, unless there were many. */
  announce(show: () => void): void {
    if (++this.announced <= announcementLimit) show();
  }

  /** Notes that a check has refused inputs. The engine stops at the first one, so the end of the log names `doctor`. */
  noteRefusal(): void {
    this.hasRefused = true;
  }

  /** Prints how many announcements were left out, a hint after a refusal, and the log's summary. */
  endLogs(): void {
    const print = this.print ?? printLine;
    const more = this.announced - announcementLimit;
    if (this.hasRefused)
      print("uptime: pulumi-uptime doctor --program lists everything that the preview refuses.");
    if (more > 0)
      print(
        `uptime: ${counted(more, "more record")} imported or adopted; pulumi-uptime doctor --program lists all imports.`,
      );
    this.announced = 0;
    this.hasRefused = false;
    this.log?.end();
    this.log = undefined;
  }

  private connect(definition: Definition, settings: Settings): RecordScope {
    const address = settings[definition.baseUrl];
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
    return { collection, ledger, reader, traits, creates: new Creates(), checkedImports: new Map() };
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
