import fc from "fast-check";

import { isFull } from "./size";

/**
 * Like `fc.assert`. Only `npm run test:full` draws new cases at each run: what `npm test` says of a commit must not depend on
 * chance.
 */
export function assertProperty<Ts>(
  property: fc.IAsyncProperty<Ts>,
  parameters?: fc.Parameters<Ts>,
): Promise<void>;
export function assertProperty<Ts>(property: fc.IProperty<Ts>, parameters?: fc.Parameters<Ts>): void;
export function assertProperty<Ts>(
  property: fc.IRawProperty<Ts>,
  parameters?: fc.Parameters<Ts>,
): void | Promise<void> {
  return fc.assert(property, { ...(!isFull && { seed: 1 }), ...parameters });
}
