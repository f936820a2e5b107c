import { Client } from "../api/client";
import { Collection } from "../api/collection";
import type { Definition } from "../definitions/field";
import { Reader } from "./reader";
import type { Settings } from "../api/settings";
import { Writer } from "./writer";

/** What the lifecycle of one kind of record works with. */
export interface Connection {
  readonly collection: Collection;
  readonly reader: Reader;
  readonly writer: Writer;
  /** Whether a create first looks for an equal record that nobody manages. */
  readonly adoptExisting: boolean;
  /** Hashes of addresses whose state the present address may take over. */
  readonly movedFrom: readonly string[];
}

/** One client, and so one connection pool, per address and key, whatever resources use it. */
const clients = new Map<string, Client>();

/** The pause is the one of {@link Writer}. */
export function connect(definition: Definition, settings: Settings, lookPause?: number): Connection {
  const address = settings[definition.baseUrl];
  const key = `${address.url} ${settings.apiKey}`;
  let client = clients.get(key);
  if (!client) clients.set(key, (client = new Client(address, settings)));
  const collection = new Collection(definition, client, settings.goneStatuses);
  return {
    collection,
    reader: new Reader(collection),
    writer: new Writer(collection, lookPause),
    adoptExisting: settings.adoptExisting,
    movedFrom: settings.movedFrom,
  };
}
