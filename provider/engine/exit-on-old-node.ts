// A process imports this before the rest, which an old Node.js may not load.
import { problemOfNode } from "../definitions/node-version";

const problem = problemOfNode();
if (problem) {
  console.error(problem);
  process.exit(1);
}
