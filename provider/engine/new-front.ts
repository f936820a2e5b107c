import { collectVariable } from "./collected";
import { CollectingFront } from "./collecting-front";
import { Front, type FrontContext } from "./front";
import { openReviewFile } from "./review-file";

/** The front of one kind of resource; under {@link collectVariable} one that refuses nothing in a preview. */
export function newFront(context: FrontContext, env: NodeJS.ProcessEnv): Front {
  const socket = env[collectVariable];
  return socket
    ? new CollectingFront(context, socket)
    : new Front({ ...context, reviewFile: openReviewFile(env) });
}
