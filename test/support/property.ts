import fc from "fast-check";

import { isFull } from "./size";

/**
 * Like `fc.assert`. Only `npm run test:full` draws new cases at each run: what `npm test` says of a commit must not depend on
 * chance.
 */
export const assertProperty = ((property: fc.IRawProperty<unknown>, parameters?: fc.Parameters<unknown>) =>
  fc.assert(property, { ...(!isFull && { seed: 1 }), ...parameters })) as typeof fc.assert;
