import { carryOut } from "../../../provider/emulator/api";
import type { Answer } from "../../../provider/emulator/answers";
import { completeDialect, Table, type Dialect, type ReceivedRequest } from "../../../provider/emulator";
import type { StoredRecord } from "../../../provider/emulator/table";
import { defaultsOf, domain, monitor, type Resource } from "../../../provider/emulator/resources";
import type { HttpRequest, HttpResponse } from "../../../provider/api/transport";
import type { Kind } from "../calls";
import type { VirtualClock } from "../clock";

/** A request as the server saw it. */
export interface Seen extends ReceivedRequest {
  readonly kind: Kind | undefined;
  /** The id in the path. */
  readonly id: string | undefined;
  /** The server misbehaved, or the client gave the request up. */
  isFaulty?: boolean;
  /** What it did to the record under this id, if it had an effect. */
  effect?: { readonly made: "created" | "changed" | "deleted"; readonly id: string };
  status?: number;
}

/** How a server misbehaves with one request. */
export interface Misbehaviour {
  /** Milliseconds until it is carried out, even if the client has gone away. "never": no effect. */
  readonly effectAfter?: number | "never";
  /** Milliseconds until it is answered. */
  readonly answerAfter?: number;
  /** The answer, made of the usual one (undefined before the effect). Undefined: none. An error: the connection broke. */
  readonly answer?: (usual: Answer | undefined) => Answer | Error | undefined;
}

/** Which ids a server gives to records, and how long its reads lag. */
export interface ServerHabits {
  /** New ids are higher or lower than the others, ids of deleted records, or strings. */
  readonly ids: "rising" | "falling" | "reused" | "text";
  /** Milliseconds until a list shows a change. */
  readonly lag: number;
  /** Milliseconds until a record's own address shows it: a GET of a deleted record still finds it, for example. */
  readonly ownLag: number;
}

/** What answers requests. */
export interface Network {
  answer(sent: HttpRequest): Promise<HttpResponse>;
}

/** A record, with its id as the server shows it. */
export type ShownRecord = Readonly<Record<string, unknown>> & { readonly id: string };

/** The API key. No part of it occurs in any other text. */
export const apiKey = "17|QzJ8/wV+x9";
export const origin = "https://api.invalid";

/** One account in the emulator's API, without sockets and in simulated time. */
export class SimulatedApi implements Network {
  readonly tables: Readonly<Record<Kind, Table>>;
  readonly requests: Seen[] = [];
  dialect: Dialect;
  key = apiKey;
  origin = origin;
  misbehave: (request: Seen) => Misbehaviour | undefined = () => undefined;
  /** Milliseconds that the next request takes. Different ones change the order of the answers. */
  latency: () => number = () => 1;
  /** Called when a request was carried out, before it is answered. */
  onDone: (request: Seen) => void = () => undefined;
  /** What the tables have held, the present state first. */
  private readonly history: Readonly<Record<Kind, { readonly at: number; readonly all: StoredRecord[] }[]>> =
    {
      domain: [],
      monitor: [],
    };

  /** If ids fall: the last one of each kind. */
  private readonly lowest: Record<Kind, number>;

  constructor(
    private readonly time: VirtualClock,
    dialect: Partial<Dialect> = {},
    private readonly habits: ServerHabits = { ids: "rising", lag: 0, ownLag: 0 },
    private readonly firstId = 1,
  ) {
    this.lowest = { monitor: firstId + 999, domain: firstId + 999 };
    this.dialect = completeDialect(dialect);
    const tableOf = (kind: Kind, resource: Resource): Table =>
      new Table({
        defaults: defaultsOf(resource),
        firstId,
        now: () => new Date(time.date()),
        changed: () => {
          if (habits.lag > 0 || habits.ownLag > 0)
            this.history[kind].unshift({ at: time.now(), all: this.tables[kind].all() });
        },
      });
    this.tables = { domain: tableOf("domain", domain), monitor: tableOf("monitor", monitor) };
  }

  /** The records that are there. */
  all(kind: Kind): ShownRecord[] {
    const present = this.tables[kind].all().filter(({ deleted_at }) => typeof deleted_at !== "string");
    return present.map((record) => ({ ...record, id: this.shownId(record.id) }));
  }

  get(kind: Kind, id: string): ShownRecord | undefined {
    return this.all(kind).find((record) => record.id === id);
  }

  /** Adds a record, as the web UI does. */
  add(kind: Kind, fields: Readonly<Record<string, unknown>>): ShownRecord {
    const added = this.tables[kind].add({ ...fields, ...this.nextId(kind) });
    return { ...added, id: this.shownId(added.id) };
  }

  /** Adds records of somebody else. */
  addOthers(kind: Kind, count: number): void {
    for (let number = 1; number <= count; number++)
      this.add(kind, {
        name: kind === "monitor" ? `Other ${number}` : `other${number}.example`,
        url: "https://other.example/",
        interval: 300,
      });
  }

  edit(kind: Kind, id: string, fields: Readonly<Record<string, unknown>>): void {
    this.tables[kind].edit(this.storedId(id), fields);
  }

  remove(kind: Kind, id: string): void {
    if (this.dialect.deletion === "marked")
      this.edit(kind, id, { deleted_at: new Date(this.time.date()).toISOString() });
    else this.tables[kind].remove(this.storedId(id));
  }

  /** Requests other than reads. */
  writes(): Seen[] {
    return this.requests.filter(({ method }) => method !== "GET");
  }

  /** Forgets the requests. */
  forget(): void {
    this.requests.length = 0;
  }

  /** Answers a request, unless the client gives it up. It is carried out in either case. */
  answer(sent: HttpRequest): Promise<HttpResponse> {
    const { signal } = sent;
    return new Promise((resolve, reject) => {
      const request = this.received(sent);
      const giveUp = (): void => {
        if (request.status === undefined) request.isFaulty = true;
        reject(new Error("The request was given up."));
      };
      if (signal.aborted) {
        giveUp();
        return;
      }
      signal.addEventListener("abort", giveUp, { once: true });
      this.requests.push(request);
      const { effectAfter = 0, answerAfter = 0, answer: respond } = this.misbehave(request) ?? {};
      const arrival = this.latency();
      let usual: Answer | undefined;
      if (effectAfter !== "never")
        this.time.after(arrival + effectAfter, () => (usual = this.carryOut(request)));
      this.time.after(arrival + answerAfter + this.latency(), () => {
        const reply = respond ? respond(usual) : usual;
        if (!reply) return;
        if (reply instanceof Error) reject(reply);
        else {
          request.status = reply.status;
          resolve(responseOf(reply));
        }
      });
    });
  }

  /** Answers a request of somebody else, which is not noted, and of which nothing goes wrong. */
  serve(sent: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve) => {
      this.time.after(1, () => resolve(responseOf(this.carryOut(this.received(sent), () => undefined))));
    });
  }

  private received({ method, url, headers, body }: HttpRequest): Seen {
    const [, collection, id] = /\/api\/v1\/(domains|monitors)(?:\/([^/]*))?$/.exec(url.pathname) ?? [];
    return {
      method,
      path: url.pathname,
      query: [...url.searchParams],
      headers,
      contentType: headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "",
      body: [...new URLSearchParams(body ?? "")],
      at: new Date(this.time.date()),
      kind: collection === "domains" ? "domain" : collection === "monitors" ? "monitor" : undefined,
      id: id === undefined ? undefined : decodeURIComponent(id),
    };
  }

  private shownId(id: number): string {
    return this.habits.ids === "text" ? textId(id) : String(id);
  }

  private storedId(id: string): number {
    return Number(this.habits.ids === "text" ? /^mon-\w+-(\d+)$/.exec(id)?.[1] : id);
  }

  /** The id of the next record, unless it is simply higher than all before. */
  private nextId(kind: Kind): { id?: number } {
    const ids = this.tables[kind].all().map(({ id }) => id);
    if (this.habits.ids === "falling")
      return { id: (this.lowest[kind] = Math.min(this.lowest[kind], ...ids) - 1) };
    return this.habits.ids === "reused" ? { id: Math.max(this.firstId - 1, ...ids) + 1 } : {};
  }

  /** A table as a request sees it, which notes what the request does. */
  private tableFor(kind: Kind, request: Seen): Table {
    const table = this.tables[kind];
    const { lag: listLag, ownLag } = this.habits;
    const lag = request.method !== "GET" ? 0 : request.id === undefined ? listLag : ownLag;
    const seen = this.time.now() - lag;
    const all = (): StoredRecord[] =>
      lag > 0 ? (this.history[kind].find(({ at }) => at <= seen)?.all ?? []) : table.all();
    const noted = (made: NonNullable<Seen["effect"]>["made"], record: StoredRecord): StoredRecord => {
      request.effect = { made, id: this.shownId(record.id) };
      return record;
    };
    const view: Pick<Table, "add" | "all" | "edit" | "get" | "remove"> = {
      add: (fields) => noted("created", table.add({ ...fields, ...this.nextId(kind) })),
      all,
      edit: (of, fields) => noted("deleted_at" in fields ? "deleted" : "changed", table.edit(of, fields)),
      get: (of) => all().find(({ id }) => id === Number(of)),
      remove: (of) => {
        const record = table.get(of);
        if (record) noted("deleted", record);
        return table.remove(of);
      },
    };
    return view as Table;
  }

  private carryOut(request: Seen, done = this.onDone): Answer {
    const { id } = request;
    const path = id === undefined ? request.path : request.path.replace(/[^/]*$/, String(this.storedId(id)));
    const answer = carryOut(
      { ...request, path },
      {
        url: this.origin,
        pathPrefix: "",
        apiKey: this.key,
        dialect: this.dialect,
        domains: this.tableFor("domain", request),
        monitors: this.tableFor("monitor", request),
        moment: { now: new Date(this.time.date()), requests: this.requests.length },
      },
    );
    done(request);
    return this.habits.ids === "text" ? withTextIds(answer) : answer;
  }
}

const textId = (id: number): string => `mon-${((id * 7919) % 46_656).toString(36)}-${id}`;

/** The answer with ids that are no numbers, apart from those of alert channels. */
function withTextIds({ status, headers, body }: Answer): Answer {
  const location = headers.location?.replace(/\d+$/, (id) => textId(Number(id)));
  return {
    status,
    headers: { ...headers, ...(location !== undefined && { location }) },
    body: String(body).replace(
      /"id":("?)(\d+)\1(?=[,}])(?!,"name":"Channel)/g,
      (_, __, id) => `"id":"${textId(Number(id))}"`,
    ),
  };
}

/** An error as Node.js or undici reports it. */
export function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

const responseOf = ({ status, headers, body }: Answer): HttpResponse => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: Buffer.from(body),
});
