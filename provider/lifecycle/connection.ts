import { Client } from "../api/client";
import { systemClock } from "../api/clock";
import type { Clock } from "../api/clock";
import { Collection } from "../api/collection";
import { deadlineAfter } from "../api/deadline";
import type { Deadline } from "../api/deadline";
import { UptimeError } from "../api/errors";
import { Log } from "../api/log";
import type { LogLevel } from "../api/log";
import { keyHash } from "../api/settings";
import type { Address, Settings } from "../api/settings";
import { httpTransport } from "../api/transport";
import type { Transport } from "../api/transport";
import type { Definition } from "../definitions/field";
import { secretsIn } from "./attributes";
import { Creator } from "./creator";
import { Ledger } from "./ledger";
import type { RecordsOfKind } from "./ledger";
import { Reader } from "./reader";
import type { Options } from "./resource";
import { ServerTraits } from "./server";
import { Writer } from "./writer";

/** What the lifecycle of one kind of record works with, for one account. */
export interface Connection {
  readonly collection: Collection;
  readonly records: RecordsOfKind;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly creator: Creator;
  readonly clock: Clock;
  readonly address: Address;
  /** Address and key, as four hex digits: see {@link Outputs.key}. */
  readonly key: string;
  /** Whether a create first looks for an equal record that nobody manages. */
  readonly adoptExisting: boolean;
  /** Whether a refresh takes over what the API shows beside the managed fields. */
  readonly refreshAttributes: boolean;
  /** Hashes of addresses whose state belongs to the present address too. */
  readonly movedFrom: readonly string[];
}

/** The connection to an account, undefined for the one that has no name. Throws if its settings are not usable. */
export type Connect = (account: string | undefined) => Connection;

/** The settings of an account cannot be known yet, as those of a provider that the program makes. */
export class SettingsUnknown extends UptimeError {}

/** What a process has around it; a test has its own. */
export interface Surroundings {
  readonly clock?: Clock;
  readonly transport?: Transport;
  /** Shows a line of the log. */
  readonly print?: (line: string) => unknown;
}

/** What all resources of one process share: an HTTP client and a ledger for each address and key, the time, and the log. */
export class Session {
  readonly clock: Clock;
  private readonly accounts = new Map<string, { readonly client: Client; readonly ledger: Ledger }>();
  private readonly logs = new Map<LogLevel, Log>();
  private readonly transport: Transport;
  private readonly print: Surroundings["print"];

  constructor({ clock = systemClock, transport = httpTransport(), print }: Surroundings = {}) {
    this.clock = clock;
    this.transport = transport;
    this.print = print;
  }

  /** The log of this process, whatever resources and addresses it serves. */
  logOf(level: LogLevel): Log {
    let log = this.logs.get(level);
    if (!log) this.logs.set(level, (log = new Log(level, this.print, this.clock)));
    return log;
  }

  /** Prints the log's summary. */
  endLogs(): void {
    for (const log of this.logs.values()) log.end();
    this.logs.clear();
  }

  /** Connects to each account once, when it is first needed. */
  connector(definition: Definition, settingsOf: (account: string | undefined) => Settings): Connect {
    const connections = new Map<string | undefined, Connection>();
    return (account) => {
      let connection = connections.get(account);
      if (!connection) connections.set(account, (connection = this.connect(definition, settingsOf(account))));
      return connection;
    };
  }

  /** A message without the keys of the accounts. */
  withoutKeys(text: string): string {
    return [...this.accounts.values()].reduce((message, { client }) => client.withoutKey(message), text);
  }

  private connect(definition: Definition, settings: Settings): Connection {
    const { client, ledger } = this.account(settings[definition.baseUrl], settings);
    return connectionOf(definition, settings, client, ledger, this.clock);
  }

  private account(address: Address, settings: Settings): { client: Client; ledger: Ledger } {
    const name = `${address.url} ${settings.apiKey}`;
    const known = this.accounts.get(name);
    if (known) return known;
    const account = {
      client: new Client(address, settings, {
        clock: this.clock,
        log: this.logOf(settings.logLevel),
        transport: this.transport,
      }),
      ledger: new Ledger(this.clock),
    };
    this.accounts.set(name, account);
    return account;
  }
}

/** The connection of one kind of record that uses a certain client and ledger. */
export function connectionOf(
  definition: Definition,
  settings: Settings,
  client: Client,
  ledger: Ledger,
  clock: Clock,
): Connection {
  const { adoptExisting, refreshAttributes, movedFrom, goneStatuses, apiKey } = settings;
  const address = settings[definition.baseUrl];
  const collection = new Collection(definition, client, goneStatuses);
  const records = ledger.of(definition.plural);
  const traits = new ServerTraits(definition);
  const key = keyHash(address, apiKey);
  const reader = new Reader(collection, ledger, traits, clock, key);
  const writer = new Writer(collection, reader, records, traits, clock);
  const creator = new Creator(collection, reader, writer, records, traits, clock);
  return {
    collection,
    records,
    reader,
    writer,
    creator,
    clock,
    address,
    key,
    adoptExisting,
    refreshAttributes,
    movedFrom: movedFrom.map(({ hash }) => hash),
  };
}

/** The time of an operation on a resource that begins now, and the secrets in its values, which its errors must not tell. */
export function deadlineOf(
  definition: Definition,
  { clock }: Pick<Connection, "clock">,
  { timeout, cancel }: Options,
  ...values: readonly Readonly<Record<string, unknown>>[]
): Deadline {
  return deadlineAfter(timeout, { clock, cancel, secrets: secretsIn(definition, ...values) });
}
