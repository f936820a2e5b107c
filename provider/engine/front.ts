import { CollectingFront, collectVariable } from "./collecting-front";
import { openReviewFile } from "./review-file";
import { SharedFront, type FrontContext } from "./shared-front";

/** The front of one kind of resource; under {@link collectVariable} one that refuses nothing in a preview. */
export function newFront(context: FrontContext, env: NodeJS.ProcessEnv): SharedFront {
  const socket = env[collectVariable];
  return socket
    ? new CollectingFront(context, socket)
    : new SharedFront({ ...context, reviewFile: openReviewFile(env) });
}
