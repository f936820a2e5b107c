import { defaultApiKey } from "../../provider/emulator";
import type { Emulator, EmulatorOptions, Fault, ReceivedRequest } from "../../provider/emulator";
import { silenceHost, type Kind, type Settings } from "./calls";
import { NetworkClock } from "./clock";
import { startEmulator } from "./emulator";

export { answer } from "./emulator";

/** The key that stacks have unless a test says otherwise. */
export const myKey = defaultApiKey;
export const otherKey = "other-key";

/** The server of the present test. */
export let emulator: Emulator;
/** The time of that server and of the provider, which passes only when both wait. */
export let clock: NetworkClock;

interface ServerOptions extends Omit<EmulatorOptions, "sleep"> {
  /** Takes every key, as the server of an account with several people does. */
  anyKey?: boolean;
}

/** Gives each test of the file, or of its describe, a server of its own, and a clock. */
export function withServer({ anyKey = false, ...options }: ServerOptions = {}): void {
  silenceHost();
  beforeEach(async () => {
    clock = new NetworkClock();
    emulator = await startEmulator({ ...options, sleep: clock.hold });
    if (anyKey) Object.defineProperty(emulator, "apiKey", { get: presentKey });
  });
  afterEach(() => {
    clock.stop();
  });
}

const presentKey = (): string | undefined =>
  emulator.requests.at(-1)?.headers.authorization?.replace("Bearer ", "");

/** The settings of a stack that uses the server. */
export const settingsOf = (more: Settings = {}): Settings => ({
  "uptime:baseUrl": emulator.url,
  "uptime:apiKey": myKey,
  ...more,
});

/** The requests as lines, such as `GET /api/v1/monitors/1`. */
export const sentRequests = (): string[] => emulator.requests.map(({ method, path }) => `${method} ${path}`);

export const isList = ({ method, path }: Pick<ReceivedRequest, "method" | "path">): boolean =>
  method === "GET" && /\/(monitors|domains)$/.test(path);

/** How many pages of a list were asked for. */
export const lists = (): number => emulator.requests.filter(isList).length;

export const posts = (): number => emulator.writes().filter(({ method }) => method === "POST").length;

/** The ids of the records that the server has. */
export const storedIds = (kind: Kind = "monitor"): string[] =>
  emulator[`${kind}s`].all().map(({ id }) => String(id));

/** The first creates misbehave, each in its way; undefined behaves. */
export function onCreates(...faults: (Fault | undefined)[]): void {
  emulator.fault = ({ method }) => (method === "POST" ? faults.shift() : undefined);
}

/** What a person is told when an operation fails, or nothing. */
export const failureOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
