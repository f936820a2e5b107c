import { Client } from "../../provider/api/client";
import { systemClock } from "../../provider/api/clock";
import type { Clock } from "../../provider/api/clock";
import { Log } from "../../provider/api/log";
import { readSettings } from "../../provider/api/settings";
import { httpTransport } from "../../provider/api/transport";
import type { Transport } from "../../provider/api/transport";
import type { Settings } from "./calls";

/** A client by itself, without a provider. */
export function clientOf(
  given: Settings,
  clock: Clock = systemClock,
  transport: Transport = httpTransport(),
): Client {
  const settings = readSettings({ get: (key) => given[key] }, {});
  const log = new Log(settings.logLevel, () => undefined, clock);
  return new Client(settings.baseUrl, settings, { clock, log, transport });
}
