import type { Clock } from "../../provider/api/clock";
import { systemClock } from "../../provider/api/clock";

/** A clock on which pauses of seconds take a fraction of the time; requests have the time that they really have. */
export function fastClock(factor = 40): Clock {
  return {
    now: () => systemClock.now() * factor,
    date: systemClock.date,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
    timeout: (milliseconds) => systemClock.timeout(Math.ceil(milliseconds / factor)),
  };
}
