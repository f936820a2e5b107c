import { Emulator, type EmulatorOptions, type Fault } from "../../provider/emulator";

const running: Emulator[] = [];

afterEach(() => Promise.all(running.splice(0).map((emulator) => emulator.stop())));

/** A server that is stopped after the test. */
export async function startEmulator(options?: EmulatorOptions): Promise<Emulator> {
  const emulator = await Emulator.start(options);
  running.push(emulator);
  return emulator;
}

/** An answer instead of the usual one, to a request without effect. */
export const answer = (
  status: number,
  body: unknown = { message: "No." },
  headers: Readonly<Record<string, string>> = {},
): Fault => ({ kind: "answer", effect: false, status, body, headers });

/** An answer to a request that has its effect; without a body, that of the usual answer. */
export const stored = (status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  ({ kind: "answer", effect: true, status, body, headers }) satisfies Fault;
