import { domain } from "./domain";
import type { Definition } from "./field";
import { monitor } from "./monitor";

/** All kinds of record that the API has. */
export const definitions: readonly Definition[] = [domain, monitor];
