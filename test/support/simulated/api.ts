import { carryOut } from "../../../provider/emulator/api";
import type { Answer } from "../../../provider/emulator/answers";
import { completeDialect, Table } from "../../../provider/emulator";
import type { Dialect, ReceivedRequest } from "../../../provider/emulator";
import { defaultsOf, domain, monitor } from "../../../provider/emulator/resources";
import type { Resource } from "../../../provider/emulator/resources";
import type { Network, SentRequest, WireAnswer } from "./process";
import type { Owner, SimulatedTime } from "./time";

export type Kind = "domain" | "monitor";
export const kinds: readonly Kind[] = ["domain", "monitor"];

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
export class SimulatedApi implements Network {
  readonly tables: Readonly<Record<Kind, Table>>;
  readonly requests: Seen[] = [];
  dialect: Dialect;
  key = apiKey;
  misbehave: (request: Seen) => Misbehaviour | undefined = () => undefined;
  /** Milliseconds that a request takes; different ones change the order in which answers come. */
  latency: () => number = () => 1;
  /** Called when a request has had its effect, before it is answered. */
  onEffect: (request: Seen) => void = () => undefined;
  private readonly owner: Owner = {};
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly time: SimulatedTime,
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

  send(sent: SentRequest, answer: (answer: WireAnswer) => void, fail: (error: Error) => void): void {
    const request = this.received(sent);
    this.requests.push(request);
    const { effectAfter = 0, answerAfter = 0, answer: respond } = this.misbehave(request) ?? {};
    const arrival = this.latency();
    let usual: Answer | undefined;
    if (effectAfter !== "never")
      this.time.after(arrival + effectAfter, this.owner, () => {
        usual = this.carryOut(request);
      });
    this.time.after(arrival + answerAfter + this.latency(), this.owner, () => {
      const reply = respond ? respond(usual) : usual;
      if (!reply) return;
      if (reply instanceof Error) fail(reply);
      else {
        request.status = reply.status;
        answer(reply);
      }
    });
  }

  private received({ method, path: target, headers, body }: SentRequest): Seen {
    const [path = "", ...query] = target.split("?");
    const number = (this.counts.get(method) ?? 0) + 1;
    this.counts.set(method, number);
    const [, collection, id] = /\/api\/v1\/(domains|monitors)(?:\/([^/]*))?$/.exec(path) ?? [];
    return {
      method,
      path,
      query: [...new URLSearchParams(query.join("?"))],
      headers,
      contentType: headers["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "",
      body: [...new URLSearchParams(body)],
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
