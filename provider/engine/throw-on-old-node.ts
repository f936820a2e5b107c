// Pulumi's dynamic host imports this before the rest, which an old Node.js may not load, and shows the error at the resource.
import { problemOfNode } from "../definitions/node-version";

const problem = problemOfNode();
if (problem) throw new Error(problem);
