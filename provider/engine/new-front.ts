import { reviewNotes } from "./checked-values";
import { collectVariable } from "./collected";
import { CollectingFront } from "./collecting-front";
import { Front, type FrontContext } from "./front";
import { tellVariable } from "./told";
import { TellingFront } from "./telling-front";

/**
 * The front of one kind of resource; under {@link collectVariable} one that refuses nothing in a preview, and under
 * {@link tellVariable} one that tells what is declared.
 */
export function newFront(context: FrontContext, env: NodeJS.ProcessEnv): Front {
  const socket = env[tellVariable];
  if (socket) return new TellingFront(context, socket);
  const file = env[collectVariable];
  return file ? new CollectingFront(context, file) : new Front({ ...context, reviewNotes: reviewNotes(env) });
}
