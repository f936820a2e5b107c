// `npm run docs` writes the schema of the plugin for other languages; with `--check` it only says whether it is up to date.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { sentencesOf } from "./docs.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const file = "provider/engine/plugin/schema.json";

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

/** The provider's settings: type and meaning of each. */
const settings = {
  baseUrl: ["string", "Address of the server, for domains. It may have a path."],
  monitorsBaseUrl: ["string", "Address for monitors, if it is another one. Default: `baseUrl`."],
  apiKey: ["string", "API key, sent as a Bearer token."],
  accounts: ["accounts", "Further accounts by name, each with its key and, if they differ, its addresses."],
  timeoutSeconds: ["integer", "Seconds to wait for one answer, 1 to 3600. Default 30."],
  maxRetries: ["integer", "How often a failed request is sent again, 0 to 100. Default 5."],
  maxConcurrency: ["integer", "Connections to one address at the same time, 1 to 100. Default 8."],
  requestsPerMinute: ["integer", "The rate limit of the server, if you know it, 1 to 100000."],
  allowHttp: ["boolean", "Whether `http://` is allowed for other hosts than this machine. Default false."],
  goneStatuses: [
    "integer[]",
    "Status codes, besides 404 and 410, that may mean that a record does not exist.",
  ],
  adoptExisting: [
    "boolean",
    "Whether a create first looks for an equal record and adopts it. Default false.",
  ],
  movedFrom: ["string[]", "Former addresses of the server. State that was made there stays valid."],
  refreshAttributes: ["boolean", "Whether a refresh reads `attributes` anew. Default false."],
  logLevel: [
    "string",
    "What is logged of the requests: `off`, `summary`, `requests` or `json`. Default `off`.",
  ],
};
const secretSettings = ["apiKey", "accounts"];

/** The schema without its version, which is that of the package. */
export function schemaOf(definitions, sourceOf, { description, license }) {
  const schema = {
    name: "uptime",
    displayName: "Uptime",
    description,
    keywords: ["uptime", "monitoring", "domain", "category/monitoring", "kind/native"],
    license,
    publisher: "pulumi-uptime",
    meta: { moduleFormat: "(.*)" },
    language: {
      csharp: { respectSchemaVersion: true },
      go: { generateResourceContainerTypes: true, respectSchemaVersion: true },
      java: { basePackage: "com.pulumi" },
      nodejs: { respectSchemaVersion: true },
      python: { pyproject: { enabled: true }, respectSchemaVersion: true },
    },
    config: { variables: settingProperties() },
    types: sharedTypes(),
    provider: {
      description: "A server and an account on it.",
      inputProperties: settingProperties(),
    },
    resources: {},
    functions: {},
  };
  for (const definition of definitions) {
    const properties = propertiesOf(definition, sentencesOf(sourceOf(definition)), schema.types);
    schema.resources[`uptime:index:${definition.label}`] = resourceOf(definition, properties);
    addFunctions(schema, definition, properties);
  }
  return schema;
}

function settingProperties() {
  return mapValues(settings, ([type, description], name) => ({
    ...settingType(type),
    description,
    ...(secretSettings.includes(name) && { secret: true }),
  }));
}

function settingType(type) {
  if (type === "accounts")
    return { type: "object", additionalProperties: { $ref: "#/types/uptime:index:Account" } };
  return type.endsWith("[]") ? { type: "array", items: { type: type.slice(0, -2) } } : { type };
}

function sharedTypes() {
  return {
    "uptime:index:Account": {
      type: "object",
      description: "A further account of the same server or of another one.",
      properties: {
        apiKey: { type: "string", secret: true, description: "API key of the account." },
        baseUrl: { type: "string", description: "Address of the server, if it is another one." },
        monitorsBaseUrl: { type: "string", description: "Address for monitors, if it is another one." },
      },
    },
    "uptime:index:RequestHeader": {
      type: "object",
      description: "A header of the check request.",
      properties: {
        key: { type: "string", description: "Name of the header, for example `X-Token`." },
        value: { type: "string", description: "Value of the header." },
      },
      required: ["key", "value"],
    },
  };
}

/** Type and meaning of each field. The values of a choice become a type of their own. */
function propertiesOf({ label, fields }, sentences, shared) {
  return mapValues(fields, (field, key) => {
    const description = sentences.get(key);
    if (!description) throw new Error(`${label}.${key} has no comment that says what it means.`);
    if (field.kind !== "choice") return { ...types[field.kind], description };
    const name = `uptime:index:${label}${key[0].toUpperCase()}${key.slice(1)}`;
    // Without names of their own, because programs that Pulumi generates use those that follow from the values.
    shared[name] = { type: "string", description, enum: field.allowed.map((value) => ({ value })) };
    return { $ref: `#/types/${name}`, description };
  });
}

function resourceOf({ label, singular, fields }, properties) {
  const own = (key) => fields[key].secret && { secret: true };
  const required = Object.keys(fields).filter((key) => fields[key].required);
  const filledIn = Object.keys(fields).filter((key) => fields[key].default !== undefined);
  const account = `The account that the ${singular} belongs to: a name in the setting \`accounts\`. Default: the account of \`apiKey\`.`;
  return {
    description: descriptionOf(label),
    properties: {
      ...mapValues(properties, (property, key) => ({ ...property, ...own(key) })),
      account: { type: "string", description: account },
      attributes: attributesOf(singular),
    },
    required: [...required, ...filledIn, "attributes"],
    inputProperties: {
      ...mapValues(properties, (property, key) => ({
        ...property,
        ...own(key),
        ...(fields[key].replace && { willReplaceOnChanges: true }),
      })),
      account: {
        type: "string",
        description: `${account} Another account replaces the ${singular}.`,
        willReplaceOnChanges: true,
      },
    },
    requiredInputs: required,
    aliases: [{ type: `pulumi-nodejs:dynamic/uptime:${label}` }],
  };
}

function attributesOf(singular) {
  return {
    type: "object",
    additionalProperties: { $ref: "pulumi.json#/Any" },
    description: `Everything else that the API shows of the ${singular}, under the API's own names.`,
  };
}

/** `getMonitor` and `getMonitors`, for example. */
function addFunctions(schema, { label, singular, plural, fields }, properties) {
  const columns = ["name", "url"].filter((column) => column in fields);
  const filter = {
    account: { type: "string", description: "The account to look in. Default: the account of `apiKey`." },
    ...(fields.name && { name: { type: "string", description: "The whole name." } }),
    ...(fields.url && { url: { type: "string", description: "The whole URL." } }),
    search: { type: "string", description: "Any string that the API searches for." },
    searchBy: {
      type: "string",
      description: `The field in which the API looks for \`search\`: ${listed(columns)}. Default \`name\`.`,
    },
    ...(fields.url && {
      statusPageId: {
        type: "integer",
        description: `Only the ${plural} of the status page with this id.`,
      },
    }),
  };
  const shown = Object.keys(fields).filter((key) => !fields[key].secret);
  const result = {
    type: "object",
    properties: {
      id: { type: "string", description: `The id of the ${singular} in the API.` },
      ...Object.fromEntries(shown.map((key) => [key, resultProperty(properties[key])])),
      account: { type: "string", description: `The account that the ${singular} belongs to.` },
      attributes: attributesOf(singular),
    },
    required: ["id", "attributes"],
  };
  const type = `uptime:index:${label}Result`;
  schema.types[type] = { description: `A ${singular} as the API shows it, without secrets.`, ...result };
  schema.functions[`uptime:index:get${label}`] = {
    description: `Finds one ${singular} without managing it, by its id, ${columns.map((column) => `its exact ${column}`).join(", ")} or a search. It is an error if there is none, or more than one.`,
    inputs: {
      type: "object",
      properties: {
        id: { type: "string", description: `The id of the ${singular} in the API. Give it alone.` },
        ...filter,
      },
    },
    outputs: { description: `A ${singular} as the API shows it, without secrets.`, ...result },
  };
  schema.functions[`uptime:index:get${label}s`] = {
    description: `Finds all ${plural} that the arguments select, without managing them; all of them if nothing is given.`,
    inputs: {
      type: "object",
      properties: {
        ...filter,
        sortBy: {
          type: "string",
          description: `The field that the result is sorted by: ${listed(["id", ...columns])}. Default \`id\`.`,
        },
        sort: { type: "string", description: "`desc` (descending) or `asc` (ascending). Default `desc`." },
      },
    },
    outputs: {
      type: "object",
      properties: {
        [plural]: {
          type: "array",
          items: { $ref: `#/types/${type}` },
          description: `The ${plural} that were found.`,
        },
      },
      required: [plural],
    },
  };
}

/** The API may hold values that a program could not declare, so a result has no choices. */
function resultProperty({ $ref, ...property }) {
  return $ref ? { type: "string", ...property } : property;
}

function descriptionOf(label) {
  const page = readFileSync(join(root, "provider", "engine", "plugin", "examples", `${label}.md`), "utf8");
  return page.trim();
}

function listed(names) {
  return names.map((name) => `\`${name}\``).join(" or ");
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** The built definitions, the only list of them. */
function definitionsBuilt() {
  return createRequire(import.meta.url)(join(root, "dist", "provider", "definitions", "index.js"))
    .definitions;
}

function sourceOf({ singular }) {
  return readFileSync(join(root, "provider", "definitions", `${singular}.ts`), "utf8");
}

function main(args) {
  const path = join(root, file);
  const schema = schemaOf(
    definitionsBuilt(),
    sourceOf,
    JSON.parse(readFileSync(join(root, "package.json"), "utf8")),
  );
  const wanted = `${JSON.stringify(schema, null, 2)}\n`;
  if (wanted === readFileSync(path, "utf8")) return;
  if (args.includes("--check"))
    throw new Error(`${file} does not follow from the declarations in provider/. Run \`npm run docs\`.`);
  writeFileSync(path, wanted);
  console.log(`${file} is written.`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
