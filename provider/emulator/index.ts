import { setMaxListeners } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { carryOut } from "./api";
import { json } from "./answers";
import { completeDialect, type Dialect } from "./dialect";
import { type Fault, misbehave, type Outcome, send } from "./fault";
import { type LoggedRequest, readRequest, type ReceivedRequest } from "./requests";
import { defaultsOf, domain, monitor, type Resource } from "./resources";
import { StateFile } from "./state-file";
import { Table, type Tables } from "./table";

export { completeDialect, dialectChoices, strangeChoices, type Dialect } from "./dialect";
export type { Fault } from "./fault";
export type { LoggedRequest, ReceivedRequest } from "./requests";
export { Table, type Fields, type StoredRecord } from "./table";

/** The API key that the emulator asks for when none is given. */
export const defaultApiKey = "emulator-key";

/** The log keeps this many requests; older ones are forgotten, some at a time. */
const maxLoggedRequests = 50_000;

/** Options of {@link Emulator.start}, all optional. */
export interface EmulatorOptions {
  /** The port to listen on; default 0, which is any free one. */
  readonly port?: number;
  /** The key that every request must carry; default `emulator-key`. */
  readonly apiKey?: string;
  /** A JSON file that keeps the records over a restart; default: they are kept in memory only. */
  readonly file?: string;
  /** A path before `/api/v1`, such as `/status`; default none. */
  readonly pathPrefix?: string;
  /** Names by which it is reached besides 127.0.0.1 and localhost, such as through a proxy; default none. */
  readonly hosts?: readonly string[];
  /** How the API's gaps are filled (docs/api.md); see {@link Dialect} for the defaults. */
  readonly dialect?: Partial<Dialect>;
  /** The id of the first record of each resource; default 1. */
  readonly firstId?: number;
  /**
   * Whether records stay as they are until somebody edits them. By default the server writes the results of its checks
   * into them, as real ones do, so that no two answers show a record alike.
   */
  readonly settled?: boolean;
  /** The clock for `created_at`, `updated_at`, the checks and the log; default the system's. */
  readonly now?: () => Date;
  /** Waits for a fault's delays of a request, and rejects when the signal is aborted; default: in real time. */
  readonly sleep?: Sleep;
}

type Sleep = (milliseconds: number, signal: AbortSignal, request: ReceivedRequest) => Promise<void>;

/** Decides for each request whether to misbehave, and how. It may be asynchronous. */
type FaultDecision = (request: ReceivedRequest) => Fault | undefined | Promise<Fault | undefined>;

/**
 * An HTTP server on the loopback address that behaves as docs/api.md says, strictly: what the
 * documentation does not allow is refused. Where it says nothing, the dialect decides.
 */
export class Emulator implements Tables {
  /** The records of `/api/v1/domains`. */
  readonly domains: Table;
  /** The records of `/api/v1/monitors`. */
  readonly monitors: Table;
  /** Asked for each request, the refused ones too; undefined to behave. */
  fault: FaultDecision | undefined;
  /** The key that every request must carry; may be changed at any time. */
  apiKey: string;

  readonly #server: Server;
  readonly #pathPrefix: string;
  readonly #hosts: readonly string[];
  readonly #settled: boolean;
  readonly #now: () => Date;
  readonly #sleep: Sleep;
  readonly #file: StateFile | undefined;
  readonly #stopping = new AbortController();
  #dialect: Dialect;
  #requests: LoggedRequest[] = [];
  #received = 0;
  #url = "";
  #stopped: Promise<void> | undefined;

  private constructor(options: EmulatorOptions) {
    const { apiKey = defaultApiKey, pathPrefix = "", firstId = 1, now = () => new Date() } = options;
    const tableOf = (resource: Resource) =>
      new Table({ defaults: defaultsOf(resource), firstId, now, changed: () => this.#file?.touch() });
    this.#dialect = completeDialect(options.dialect);
    // Each request that waits listens to it.
    setMaxListeners(0, this.#stopping.signal);
    this.#pathPrefix = pathPrefix.replace(/^\/*(.*?)\/*$/, (_, path: string) =>
      path === "" ? "" : `/${path}`,
    );
    this.#hosts = ["127.0.0.1", "localhost", ...(options.hosts ?? [])];
    this.#now = now;
    this.#settled = options.settled ?? false;
    this.#sleep = options.sleep ?? ((milliseconds, signal) => sleep(milliseconds, undefined, { signal }));
    this.apiKey = apiKey;
    this.domains = tableOf(domain);
    this.monitors = tableOf(monitor);
    if (options.file !== undefined) {
      const file = new StateFile(options.file, this);
      file.load();
      this.#file = file;
    }
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
      this.#serve(incoming, response).catch(() => response.destroy());
    });
  }

  /**
   * Starts an emulator on 127.0.0.1.
   * @throws {Error} when the port is taken, the file cannot be used, or the dialect does not exist.
   */
  static async start(options: EmulatorOptions = {}): Promise<Emulator> {
    const emulator = new Emulator(options);
    // A file that cannot be written shows itself now, not at the end.
    await emulator.#file?.flush();
    await emulator.#listen(options.port ?? 0);
    return emulator;
  }

  /** The base URL, such as `http://127.0.0.1:8080/status`; both resources have the same. */
  get url(): string {
    return this.#url;
  }

  /** How answers look from now on. Options that are left out get their defaults. */
  get dialect(): Dialect {
    return this.#dialect;
  }

  set dialect(options: Partial<Dialect>) {
    this.#dialect = completeDialect(options);
  }

  /** All requests since the start or the last {@link forget}, in the order of arrival; at most 50,000. */
  get requests(): readonly LoggedRequest[] {
    return this.#requests;
  }

  /** The logged requests with a method other than GET. */
  writes(): LoggedRequest[] {
    return this.#requests.filter(({ method }) => method !== "GET");
  }

  /** Clears the log. */
  forget(): void {
    this.#requests = [];
  }

  /** Cuts all connections, frees the port and writes the file. It may be called twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
    await this.#file?.flush();
  }

  async #listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", resolve);
    });
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The emulator has no address.");
    this.#url = `http://127.0.0.1:${address.port}${this.#pathPrefix}`;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#received++;
    const received = await readRequest(incoming, this.#now());
    if (!received) {
      const answer = json(413, { message: "The body is too large." }, { connection: "close" });
      send(response, { answer, truncated: false });
      return;
    }
    const request: LoggedRequest = { ...received, status: 0 };
    if (this.#requests.push(request) > maxLoggedRequests) this.#requests.splice(0, maxLoggedRequests / 10);
    const outcome = await this.#outcomeOf(request);
    request.status = outcome === "cut" ? 0 : outcome.answer.status;
    send(response, outcome);
  }

  async #outcomeOf(request: ReceivedRequest): Promise<Outcome> {
    const answer = () => this.#refuseHost(request) ?? carryOut(request, this.#api());
    const wait = (milliseconds: number) => this.#sleep(milliseconds, this.#stopping.signal, request);
    // Work that still waits when the emulator stops is dropped.
    const inBackground = (work: Promise<void>) => void work.catch(() => undefined);
    try {
      const fault = await this.fault?.(request);
      return fault === undefined
        ? { answer: answer(), truncated: false }
        : await misbehave(fault, { carryOut: answer, wait, inBackground });
    } catch (error) {
      if (this.#stopping.signal.aborted) return "cut";
      return { answer: json(500, { message: `The emulator failed: ${String(error)}` }), truncated: false };
    }
  }

  /** A page in a browser whose own name leads to this machine (DNS rebinding) must not get at the records. */
  #refuseHost({ headers }: ReceivedRequest) {
    const host = headers.host?.replace(/:\d+$/, "") ?? "";
    if (this.#hosts.includes(host)) return undefined;
    return json(421, { message: `This is the emulator at ${this.#hosts.join(", ")}, and not ${host}.` });
  }

  #api() {
    const { url, apiKey, dialect, domains, monitors } = this;
    const moment = this.#settled ? undefined : { now: this.#now(), requests: this.#received };
    return { url, apiKey, dialect, domains, monitors, moment, pathPrefix: this.#pathPrefix };
  }
}
