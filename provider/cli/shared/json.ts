import type * as z from "zod/mini";

import { escapeCommands, escapeInvisible } from "../../common/text";

/** Parses a JSON text; undefined if it has another form. */
export function parseAs<T>(schema: z.ZodMiniType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Parses what a command printed as JSON, also after lines of a wrapper such as npm; undefined if it has another form. */
export function parsePrinted<T>(schema: z.ZodMiniType<T>, text: string): T | undefined {
  const start = text.search(/^\{/m);
  return parseAs(schema, start < 0 ? text : text.slice(start));
}

/** JSON as people read it, without invisible characters, and without commands for the CI that has it in its log. */
export function jsonText(value: unknown): string {
  const lines = JSON.stringify(value, undefined, 2).split("\n").map(escapeInvisible);
  return `${escapeCommands(lines.join("\n"))}\n`;
}
