// Imported before everything else, which an old Node.js may be unable to load. Pulumi's dynamic host shows the error at the resource.
import { problemOfNode } from "../common/node-version";

const problem = problemOfNode();
if (problem) {
  const error = new Error(problem);
  // The host prints the stack, which would not help.
  error.stack = problem;
  throw error;
}
