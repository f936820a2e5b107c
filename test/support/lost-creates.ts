import type { Fault, ReceivedRequest } from "../../provider/emulator";
import type { ModelResource } from "./model";
import { Program } from "./program";
import { isList, posts } from "./sent";
import { answer, emulator, failureOf } from "./server";
import type { Kind } from "./calls";
import { home } from "./monitors";

/** Milliseconds for which a create is looked for after a timeout. */
export const lookTime = 60_000;

export const declared = { monitor: home, domain: { name: "example.com" } };

export const program = (settings: Record<string, string> = {}): Program =>
  new Program("dynamic", { "uptime:timeoutSeconds": "600", ...settings });
export const resource = (kind?: Kind, settings?: Record<string, string>): ModelResource =>
  program(settings).resource(kind);
/** How every error after a lost create ends. */
export const mayExist = /may exist[^]*uptime:adoptExisting/;
/** The record that a create of `home` makes. */
export const made1 = { ...home, id: 1, alert_condition: "url_unavailable", request_method: "GET" };

/** What a lost create comes to: the id that state has, and all that the server has; or the error. */
export async function made(one: ModelResource, inputs: Record<string, unknown> = home): Promise<string> {
  return (await failureOf(one.up(inputs))) || `made ${String(one.state?.id)}`;
}

export const cut = { kind: "cut", effect: true } as const;
export const cutBefore = { kind: "cut", effect: false } as const;
/** A create is answered with the id of a job, and has no effect. */
export const queued = {
  kind: "answer",
  effect: false,
  status: 202,
  body: { id: 1, status: "queued" },
} as const;
/** A monitor that is not like `home`, and one that a server could have made of it. */
export const elsewhere = { ...home, name: "Other", url: "https://other.example/" };
export const similar = { ...home, name: "Hom" };

/** The creates misbehave, and the requests after the first of them. */
export function afterCreate(
  onCreate: () => Fault | undefined,
  later: (request: ReceivedRequest) => Fault | undefined,
): void {
  emulator.fault = (request) => {
    if (request.method === "POST") return onCreate();
    return posts() > 0 ? later(request) : undefined;
  };
}

/** The list does not show new records for the given number of looks after the first create. */
export function lagging(looks: number, onCreate: () => Fault | undefined): void {
  afterCreate(onCreate, (request) =>
    isList(request) && looks-- > 0 ? answer(200, { data: [] }) : undefined,
  );
}
