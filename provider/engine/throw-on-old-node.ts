// Pulumi's dynamic host imports this before the rest, which an old Node.js may not load, and shows the error at the resource.
import { problemOfNode } from "../definitions/node-version";

const problem = problemOfNode();
if (problem) {
  const error = new Error(problem);
  // The host prints the stack, which says nothing to anybody.
  error.stack = problem;
  throw error;
}
