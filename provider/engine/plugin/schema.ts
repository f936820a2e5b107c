// eslint-disable-next-line @typescript-eslint/no-require-imports -- JSON is one value, which this imports whole
import schema = require("./schema.json");

/** The plugin's schema with the version, which the file in the repository leaves out so that a release need not change it. */
export function schemaOf(version: string): string {
  return JSON.stringify({ ...schema, version });
}
