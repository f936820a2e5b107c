import {
  defaultApiKey,
  type Emulator,
  type EmulatorOptions,
  type Fault,
  type ReceivedRequest,
} from "../../provider/emulator";
import { silenceHost, type Settings } from "./calls";
import { NetworkClock } from "./clock";
import { startEmulator } from "./emulator";

export { answer, stored } from "./emulator";

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
  afterEach(() => clock.stop());
}

const presentKey = (): string | undefined =>
  emulator.requests.at(-1)?.headers.authorization?.replace("Bearer ", "");

/** The settings of a stack that uses the server, unless they name another one. */
export const settingsOf = (more: Settings = {}): Settings => ({
  ...(more["uptime:baseUrl"] === undefined && { "uptime:baseUrl": emulator.url }),
  "uptime:apiKey": myKey,
  ...more,
});

/** The first creates misbehave, each in its way; undefined behaves. */
export function onCreates(...faults: (Fault | undefined)[]): void {
  on("POST", () => faults.shift());
}

/** Requests of a method, or those that `which` picks, have this fault. */
export function on(
  which: string | ((request: ReceivedRequest) => boolean),
  fault: Fault | NonNullable<Emulator["fault"]>,
): void {
  const isMeant = typeof which === "string" ? ({ method }: ReceivedRequest) => method === which : which;
  const faultOf = typeof fault === "function" ? fault : () => fault;
  emulator.fault = (request) => (isMeant(request) ? faultOf(request) : undefined);
}

/** What a person is told when an operation fails, or nothing. */
export const failureOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

/** Milliseconds that an operation takes, on the clock. */
export async function timeOf(operation: Promise<unknown>): Promise<number> {
  const begun = clock.now();
  await operation;
  return clock.now() - begun;
}
