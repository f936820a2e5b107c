import type { ReceivedRequest } from "../../provider/emulator";
import type { Kind } from "./calls";
import { emulator } from "./server";

// What the server of the present test was sent, and what it has.

/** The requests as lines, such as `GET /api/v1/monitors/1`. */
export const sentRequests = (): string[] => emulator.requests.map(({ method, path }) => `${method} ${path}`);

export const isList = ({ method, path }: Pick<ReceivedRequest, "method" | "path">): boolean =>
  method === "GET" && /\/(monitors|domains)$/.test(path);

/** How many pages of a list were asked for. */
export const lists = (): number => emulator.requests.filter(isList).length;

export const posts = (): number => emulator.writes().filter(({ method }) => method === "POST").length;

/** The names of the monitors that the server has, in the order of the alphabet. */
export const storedNames = (): unknown[] =>
  emulator.monitors
    .all()
    .map(({ name }) => name)
    .sort();

/** The ids of the records that the server has. */
export const storedIds = (kind: Kind = "monitor"): string[] =>
  emulator[`${kind}s`].all().map(({ id }) => String(id));
