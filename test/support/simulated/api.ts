import { carryOut } from "../../../provider/emulator/api";
import type { Answer } from "../../../provider/emulator/answers";
import { completeDialect, Table } from "../../../provider/emulator";
import type { Dialect, ReceivedRequest } from "../../../provider/emulator";
import { defaultsOf, domain, monitor } from "../../../provider/emulator/resources";
import type { Resource } from "../../../provider/emulator/resources";
import type { HttpRequest, HttpResponse } from "../../../provider/api/transport";
import type { Kind } from "../calls";
import type { VirtualClock } from "../clock";

/** An answer, perhaps with a connection that is cut after so many bytes of it. */
export interface WireAnswer extends Answer {
  readonly cutAfter?: number;
}

/** A request as the server saw it. */
export interface Seen extends ReceivedRequest {
  readonly kind: Kind | undefined;
  /** The id in the path. */
  readonly id: string | undefined;
  /** Which request of its method it is, from 1. */
  readonly number: number;
  /** What it did, if it had an effect: the record under this id was created, changed or deleted. */
  effect?: { readonly made: "created" | "changed" | "deleted"; readonly id: string };
  status?: number;
}

/** How a server deals with one request otherwise than it should. */
export interface Misbehaviour {
  /** Milliseconds until it is carried out; it is carried out even if the client has gone away. "never": no effect. */
  readonly effectAfter?: number | "never";
  /** Milliseconds until it is answered. */
  readonly answerAfter?: number;
  /** The answer; the usual one is undefined as long as there is no effect. Undefined: never. An error: the connection broke. */
  readonly answer?: (usual: Answer | undefined) => WireAnswer | Error | undefined;
}

/** The key that the server asks for. Made so that no part of it occurs anywhere else. */
export const apiKey = "17|QzJ8/wV+x9";
export const origin = "https://api.invalid";

/** The emulator's API without sockets, in simulated time. */
export class SimulatedApi {
  readonly tables: Readonly<Record<Kind, Table>>;
  readonly requests: Seen[] = [];
  dialect: Dialect;
  key = apiKey;
  misbehave: (request: Seen) => Misbehaviour | undefined = () => undefined;
  /** Milliseconds that a request takes; different ones change the order in which answers come. */
  latency: () => number = () => 1;
  /** Called when a request has had its effect, before it is answered. */
  onEffect: (request: Seen) => void = () => undefined;
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly time: VirtualClock,
    dialect: Partial<Dialect> = {},
  ) {
    this.dialect = completeDialect(dialect);
    const tableOf = (resource: Resource): Table =>
      new Table({
        defaults: defaultsOf(resource),
        firstId: 1,
        now: () => new Date(time.date()),
        changed: () => undefined,
      });
    this.tables = { domain: tableOf(domain), monitor: tableOf(monitor) };
  }

  /** Requests that had an effect, or tried to. */
  writes(): Seen[] {
    return this.requests.filter(({ method }) => method !== "GET");
  }

  /** Forgets what was asked for, and counts anew. */
  forget(): void {
    this.requests.length = 0;
    this.counts.clear();
  }

  /** Answers a request of a client, unless that gives it up. It is carried out all the same. */
  answer(sent: HttpRequest): Promise<HttpResponse> {
    const { signal } = sent;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        reject(new Error("The request was given up."));
      };
      if (signal.aborted) {
        giveUp();
        return;
      }
      signal.addEventListener("abort", giveUp, { once: true });
      const request = this.received(sent);
      this.requests.push(request);
      const { effectAfter = 0, answerAfter = 0, answer: respond } = this.misbehave(request) ?? {};
      const arrival = this.latency();
      let usual: Answer | undefined;
      if (effectAfter !== "never")
        this.time.after(arrival + effectAfter, () => {
          usual = this.carryOut(request);
        });
      this.time.after(arrival + answerAfter + this.latency(), () => {
        const reply: WireAnswer | Error | undefined = respond ? respond(usual) : usual;
        if (!reply) return;
        if (reply instanceof Error) reject(reply);
        else {
          request.status = reply.status;
          if (reply.cutAfter === undefined) resolve(responseOf(reply));
          else reject(networkError("UND_ERR_SOCKET", "other side closed"));
        }
      });
    });
  }

  private received({ method, url, headers, body }: HttpRequest): Seen {
    const number = (this.counts.get(method) ?? 0) + 1;
    this.counts.set(method, number);
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
      number,
    };
  }

  private carryOut(request: Seen): Answer {
    const { domain: domains, monitor: monitors } = this.tables;
    const { kind, id, method } = request;
    const before = kind ? new Set(this.tables[kind].all()) : new Set();
    const answer = carryOut(request, {
      url: origin,
      pathPrefix: "",
      apiKey: this.key,
      dialect: this.dialect,
      domains,
      monitors,
      moment: { now: new Date(this.time.date()), requests: this.requests.length },
    });
    if (kind && method !== "GET") {
      const after = this.tables[kind].all();
      const made = after.find((record) => !before.has(record));
      if (method === "POST" && made) request.effect = { made: "created", id: String(made.id) };
      else if (method === "DELETE" && after.length < before.size && id !== undefined)
        request.effect = { made: "deleted", id };
      else if (made) request.effect = { made: "changed", id: String(made.id) };
      if (request.effect) this.onEffect(request);
    }
    return answer;
  }
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
