import { collectVariable } from "./collected";
import { CollectingFront } from "./collecting-front";
import { Front, type FrontContext } from "./front";

/** The front of one kind of resource; under {@link collectVariable} one that refuses nothing in a preview. */
export function newFront(context: FrontContext, env: NodeJS.ProcessEnv): Front {
  const file = env[collectVariable];
  return file ? new CollectingFront(context, file) : new Front(context);
}
