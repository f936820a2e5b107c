import { Emulator } from "../../provider/emulator";
import type { EmulatorOptions, Fault } from "../../provider/emulator";
import { silenceHost } from "./calls";
import type { Settings } from "./calls";
import { NetworkClock } from "./clock";

/** The emulator of the present test. */
export let emulator: Emulator;
/** The time of that emulator and of the provider, which passes only when both wait. */
export let clock: NetworkClock;

/** Gives each test of the file an emulator of its own, and a clock. */
export function withEmulator(options: Omit<EmulatorOptions, "sleep"> = {}): void {
  silenceHost();
  beforeEach(async () => {
    clock = new NetworkClock();
    emulator = await Emulator.start({ ...options, sleep: clock.hold });
  });
  afterEach(() => {
    clock.stop();
    return emulator.stop();
  });
}

/** The settings of a stack that uses the emulator. */
export const settingsOf = (more: Settings = {}): Settings => ({
  "uptime:baseUrl": emulator.url,
  "uptime:apiKey": emulator.apiKey,
  ...more,
});

/** An answer instead of the usual one, to a request without effect. */
export const answer = (
  status: number,
  body: unknown = { message: "No." },
  headers: Readonly<Record<string, string>> = {},
): Fault => ({ kind: "answer", effect: false, status, body, headers });

/** What a person is told when an operation fails, or nothing. */
export const failureOf = (operation: Promise<unknown>): Promise<string> =>
  operation.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
