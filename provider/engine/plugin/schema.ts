// eslint-disable-next-line @typescript-eslint/no-require-imports -- JSON is one value, which this imports whole
import schema = require("./schema.json");

/** The plugin's schema as the engine asks for it. The file in the repository has no version, so that a release need not write it. */
export function schemaOf(version: string): string {
  return JSON.stringify({ ...schema, version });
}
