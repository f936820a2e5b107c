import { Client, type ClientDependencies } from "../../provider/api/client";
import { systemClock, type Clock } from "../../provider/api/clock";
import { UptimeError } from "../../provider/api/errors";
import { readSettings } from "../../provider/api/settings";
import { httpTransport, type Transport } from "../../provider/api/transport";
import { Redactor } from "../../provider/engine/redactor";
import type { Settings } from "./calls";

/** A client by itself, without a provider. */
export function clientOf(
  given: Settings,
  clock: Clock = systemClock,
  transport: Transport = httpTransport(),
  others: Partial<ClientDependencies> = {},
): Client {
  const settings = readSettings({ get: (key) => given[key] }, {});
  return new Client(settings.baseUrl, settings, { clock, transport, ...others });
}

/** What an operation of a client fails with. */
export async function errorOf(operation: Promise<unknown>): Promise<UptimeError> {
  const error: unknown = await operation.catch((reason: unknown) => reason);
  if (!(error instanceof UptimeError)) throw new Error(`It is no error of ours: ${String(error)}`);
  expect(error.message.isWellFormed()).toBe(true);
  return error;
}

/** An error as a front shows it, with the server's words. */
export const shownText = (error: unknown): string => new Redactor([]).error(error);
