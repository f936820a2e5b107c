// `npm run docs` writes the schema of the plugin for other languages; with `--check` it only says whether it is up to date.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { sentencesOf } from "./docs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const file = "provider/engine/native/schema.json";

const ANY = { $ref: "pulumi.json#/Any" };
const ATTRIBUTES = { type: "object", additionalProperties: ANY };

/** What Pulumi calls each kind of field. */
const types = {
  text: { type: "string" },
  hostname: { type: "string" },
  url: { type: "string" },
  integer: { type: "integer" },
  choice: { type: "string" },
  boolean: { type: "boolean" },
  dateTime: { type: "string" },
  idList: { type: "array", items: { type: "integer" } },
  headerList: { type: "array", items: { $ref: "#/types/uptime:index:RequestHeader" } },
};

/** The provider's settings, which are the same for all languages. */
const settings = {
  baseUrl: ["string", "Address of the server, for domains. It may have a path."],
  monitorsBaseUrl: ["string", "Address for monitors, if it is another one. Default: `baseUrl`."],
  apiKey: ["string", "API key, sent as a Bearer token."],
  timeoutSeconds: ["integer", "Seconds to wait for one answer, 1 to 3600. Default 30."],
  maxRetries: ["integer", "How often a failed request is sent again, 0 to 100. Default 5."],
  maxConcurrency: ["integer", "Connections to one address at the same time, 1 to 100. Default 8."],
  requestsPerMinute: ["integer", "The rate limit of the server, if you know it, 1 to 100000."],
  allowHttp: ["boolean", "Whether `http://` is allowed for other hosts than this machine. Default false."],
  goneStatuses: ["integer[]", "More status codes that may mean that a record does not exist, such as 403."],
  adoptExisting: ["boolean", "Whether a create first looks for an equal record and adopts it. Default false."],
  accounts: ["accounts", "Further accounts by name, each with its `apiKey` and, if they differ, its addresses."],
  movedFrom: ["string[]", "Former addresses of the server, whose state the present address may use."],
  logLevel: ["string", "What is logged of the requests: `off`, `summary`, `requests` or `json`. Default `off`."],
  refreshAttributes: ["boolean", "Whether a refresh reads `attributes` anew, too. Default false."],
};
const SECRET_SETTINGS = ["apiKey", "accounts"];
const variables = {
  baseUrl: "UPTIME_BASE_URL",
  monitorsBaseUrl: "UPTIME_MONITORS_BASE_URL",
  apiKey: "UPTIME_API_KEY",
  logLevel: "UPTIME_LOG_LEVEL",
};

/** The whole schema but its version, which is that of the package. */
export function schemaOf(definitions, sources, { description, keywords }) {
  const schema = {
    name: "uptime",
    displayName: "Uptime",
    description,
    keywords: [...keywords, "category/monitoring", "kind/native"],
    license: "Apache-2.0",
    publisher: "pulumi-uptime",
    meta: { moduleFormat: "(.*)" },
    config: { variables: settingsSchema(), defaults: [] },
    types: {
      "uptime:index:RequestHeader": {
        type: "object",
        description: "A header of the check request.",
        properties: {
          key: { type: "string", description: "Name of the header, for example `X-Token`." },
          value: { type: "string", secret: true, description: "Value of the header." },
        },
        required: ["key", "value"],
      },
      "uptime:index:Account": {
        type: "object",
        description: "A further account of the same or of another server.",
        properties: {
          apiKey: { type: "string", secret: true, description: "API key of the account." },
          baseUrl: { type: "string", description: "Address of the server, if it is another one." },
          monitorsBaseUrl: { type: "string", description: "Address for monitors, if it is another one." },
        },
      },
    },
    provider: {
      description: "The account and the server that resources are in.",
      inputProperties: settingsSchema(),
    },
    resources: {},
    functions: {},
    language: languages(),
  };
  for (const definition of definitions) addResource(schema, definition, sources(definition.singular));
  const lookups = interfacesOf(sources("lookups"));
  for (const definition of definitions) addFunctions(schema, definition, lookups);
  return schema;
}

function settingsSchema() {
  return Object.fromEntries(
    Object.entries(settings).map(([name, [type, description]]) => [
      name,
      {
        ...settingType(type),
        description,
        ...(SECRET_SETTINGS.includes(name) && { secret: true }),
        ...(variables[name] && { defaultInfo: undefined }),
      },
    ]),
  );
}

function settingType(type) {
  if (type === "accounts")
    return { type: "object", additionalProperties: { $ref: "#/types/uptime:index:Account" } };
  return type.endsWith("[]") ? { type: "array", items: { type: type.slice(0, -2) } } : { type };
}

function addResource(schema, definition, source) {
  const { label, singular, fields } = definition;
  const sentences = sentencesOf(source);
  const properties = {};
  for (const [key, field] of Object.entries(fields)) {
    const description = sentences.get(key);
    if (!description) throw new Error(`${label}.${key} has no comment that says what it means.`);
    properties[key] = {
      ...typeOf(schema, definition, key, description),
      description,
      ...(field.secret && { secret: true }),
      ...(field.replace && { willReplaceOnChanges: true }),
    };
  }
  const account = {
    type: "string",
    description: `The account that the ${singular} belongs to: a name in the setting \`accounts\`. Default: the account of \`apiKey\`. Another account replaces.`,
    willReplaceOnChanges: true,
  };
  const required = Object.keys(fields).filter((key) => fields[key].required);
  const managed = Object.keys(fields).filter((key) => fields[key].default !== undefined);
  schema.resources[`uptime:index:${label}`] = {
    description: descriptionOf(definition),
    inputProperties: { ...properties, account },
    requiredInputs: required,
    properties: {
      ...mapValues(properties, ({ willReplaceOnChanges: _, ...property }) => property),
      account: { type: "string", description: `The account that the ${singular} belongs to, if it is not the one of \`apiKey\`.` },
      attributes: {
        ...ATTRIBUTES,
        description: `Everything else that the API shows of the ${singular}, under the API's own names.`,
      },
    },
    required: [...required, ...managed, "attributes"],
    aliases: [{ type: `pulumi-nodejs:dynamic/uptime:${label}` }],
  };
}

