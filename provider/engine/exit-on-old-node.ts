// Imported before everything else, which an old Node.js may be unable to load.
import { problemOfNode } from "../common/node-version";

const problem = problemOfNode();
if (problem) {
  console.error(problem);
  process.exit(1);
}
