// `npm run docs` writes the schema of the plugin for other languages, the pages of Pulumi's registry, and the types of its settings
// for TypeScript; with `--check` it only says whether they are up to date.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { built, filled, sentencesOf, sourceOf } from "./docs.mjs";
import { jsonText, readManifest, root, runAsCommand, writeGenerated } from "./shared.mjs";
import { addressOf, hasPublicAddress, ownerOf } from "./package.mjs";
import { downloadUrlOf, registryPageOf, registryPages } from "./registry.mjs";

const schemaFile = "provider/engine/plugin/schema.json";
const argsFile = "provider/sdk/provider-args.ts";

/** What Pulumi calls each type of field. The values of a choice are a type of their own. */
const fieldTypes = {
  text: { type: "string" },
  hostname: { type: "string" },
  url: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  dateTime: { type: "string" },
  idList: { type: "array", items: { type: "integer" } },
  headerList: { type: "array", items: { $ref: "#/types/uptime:index:RequestHeader" } },
};

/** What Pulumi calls each type of setting. */
const settingTypes = {
  url: { type: "string" },
  pairs: { oneOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
  key: { type: "string" },
  accounts: { type: "object", additionalProperties: { $ref: "#/types/uptime:index:Account" } },
  boolean: { type: "boolean" },
  integer: { type: "integer" },
  choice: { type: "string" },
};

/** The schema as Pulumi's registry reads it, which tries to install each package that it names. */
function schemaOf({ definitions, settings }, manifest) {
  const variables = settingProperties(settings);
  const names = packageNamesOf(manifest);
  const schema = {
    name: "uptime",
    displayName: "Uptime",
    description: manifest.description,
    keywords: ["pulumi", "uptime", "monitoring", "domain", "category/monitoring", "kind/native"],
    license: manifest.license,
    publisher: ownerOf(manifest),
    ...linksOf(manifest),
    meta: { moduleFormat: "(.*)" },
    language: {
      // Namespaces: packages in these languages are not published, but generated.
      csharp: { rootNamespace: names.csharp },
      java: { basePackage: names.java },
      nodejs: { packageName: manifest.name },
    },
    // Java's SDK does not compile if one takes a list too. In a stack's configuration all are text.
    config: { variables: mapValues(variables, outputOf) },
    types: sharedTypes(settings),
    provider: {
      description: "A server and an account on it.",
      inputProperties: variables,
    },
    resources: {},
    functions: {},
  };
  for (const definition of definitions) {
    const properties = propertiesOf(definition, sentencesOf(sourceOf(definition)), schema.types);
    schema.resources[`uptime:index:${definition.label}`] = resourceOf(definition, properties, names);
    addFunctions(schema, definition, properties, names);
  }
  return schema;
}

/** The schema in the plugin, from which Pulumi generates SDKs and imported code: of this version, and with the names in these. */
export function pluginSchemaOf(schema, manifest) {
  const names = packageNamesOf(manifest);
  const respectSchemaVersion = true;
  return {
    ...schema,
    version: manifest.version,
    language: {
      csharp: { ...schema.language.csharp, respectSchemaVersion },
      go: { importBasePath: names.go, generateResourceContainerTypes: true, respectSchemaVersion },
      java: schema.language.java,
      nodejs: { packageName: names.nodejs, respectSchemaVersion },
      python: { packageName: names.python, pyproject: { enabled: true }, respectSchemaVersion },
    },
  };
}

/** What a program imports. The names in Go, C# and Java, whose SDKs are generated, follow from the public address. */
export function packageNamesOf(manifest) {
  const { hostname, pathname } = new URL(addressOf(manifest));
  const owner = ownerOf(manifest);
  const repository = pathname.split("/")[2];
  const words = owner.toLowerCase().split("-");
  // No name in C# or Java begins with a digit.
  const first = /^\d/.test(owner) ? "_" : "";
  return {
    nodejs: `${manifest.name}/native`,
    python: "pulumi_uptime",
    go: `${hostname}/${owner}/${repository}/sdk/go/uptime`,
    csharp: first + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(""),
    java: `${hostname.split(".").reverse().join(".")}.${first}${words.join("")}`,
  };
}

/** Without a public address there are no links: an engine would download the plugin from a stranger's. */
export function linksOf(manifest) {
  if (!hasPublicAddress(manifest)) return {};
  const address = addressOf(manifest);
  return {
    homepage: address,
    repository: address,
    logoUrl: `${address}/raw/main/docs/logo.svg`,
    pluginDownloadURL: downloadUrlOf(manifest),
  };
}

function settingProperties({ settingDeclarations, meaningOf }) {
  return mapValues(
    settingDeclarations,
    ({ type, secret, default: preset, defaultsTo, environment }, name) => {
      // The key of an explicit provider with its own address must not be sent to the other address of the environment.
      const except = defaultsTo ? ` (not for an explicit provider with its own \`${defaultsTo}\`)` : "";
      const variable = environment ? `the environment variable \`${environment}\`${except}` : "";
      const value = defaultsTo ?? (Array.isArray(preset) ? undefined : preset);
      const fallback = [variable, value === undefined ? "" : `\`${value}\``].filter(Boolean).join(", or ");
      return {
        ...settingTypes[type],
        description: withDefault(meaningOf(name), fallback),
        // No `defaultInfo` with variables of the environment: an SDK would pass each by itself, and a provider with its own address must
        // not get the other address of the environment. The plugin reads them.
        ...(secret && { secret }),
      };
    },
  );
}

const withDefault = (text, value) => (value ? `${text} Default: ${value}.` : text);

function sharedTypes({ accountSettingNames, settingDeclarations }) {
  const own = accountSettingNames.map((name) => {
    const { type, secret, text, accountDefault } = settingDeclarations[name];
    const description = withDefault(text, accountDefault);
    return [name, { ...settingTypes[type], description, ...(secret && { secret }) }];
  });
  return {
    "uptime:index:Account": {
      type: "object",
      description: "A further account of the same server or of another one.",
      properties: Object.fromEntries(own),
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

/** Type and meaning of each field. The values of a choice become a type of their own, which takes other strings too. */
function propertiesOf({ label, fields }, sentences, shared) {
  return mapValues(fields, (field, key) => {
    const description = sentences.get(key);
    if (field.type !== "choice") return { ...fieldTypes[field.type], description };
    const name = `uptime:index:${label}${capital(key)}`;
    // Without names of their own, because programs that Pulumi generates use those that follow from the values.
    const values = field.allowed.map((value) => ({
      value,
      description: enumDescription(value, description),
    }));
    shared[name] = { type: "string", description, enum: values };
    return { oneOf: [{ type: "string" }, { type: "string", $ref: `#/types/${name}` }], description };
  });
}

/** What the sentence of a field says of one of its values, in parentheses after it; else what the sentence begins with. */
function enumDescription(value, sentence) {
  const [, meaning] = new RegExp(`\`${value}\` \\(([^)]+)\\)`).exec(sentence) ?? [];
  const text = meaning ?? `${sentence.split(":")[0]}: ${value}`;
  return `${capital(text)}.`;
}

function resourceOf(definition, properties, names) {
  const { label, singular, plural, fields } = definition;
  const own = (key) => fields[key].secret && { secret: true };
  const required = Object.keys(fields).filter((key) => fields[key].required);
  const filledIn = Object.keys(fields).filter((key) => fields[key].default !== undefined);
  const account = `The account that the ${singular} belongs to: a name in the setting \`accounts\`. Default: the account of \`apiKey\`.`;
  return {
    description: pageOf(label, names),
    properties: {
      ...mapValues(properties, (property, key) => ({ ...outputOf(property), ...own(key) })),
      account: { type: "string", description: account },
      attributes: attributesOf(singular),
    },
    required: [...required, ...filledIn, "attributes"],
    inputProperties: {
      ...mapValues(properties, (property, key) => ({
        ...property,
        ...own(key),
        ...(fields[key].fixed && { willReplaceOnChanges: true }),
      })),
      account: {
        type: "string",
        description: `${account} Another account replaces the ${singular}.`,
        willReplaceOnChanges: true,
      },
    },
    requiredInputs: required,
    // What `get` takes beside the id.
    stateInputs: { type: "object", properties: { account: { type: "string", description: account } } },
    listInputs: {
      type: "object",
      description: `Which ${plural} \`pulumi do\` lists; all of them if nothing is given.`,
      properties: { account: accountToLookIn, ...searchOf(definition) },
    },
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

const accountToLookIn = {
  type: "string",
  description: "The account to look in. Default: the account of `apiKey`.",
};

/** The API's own search and filters. */
function searchOf({ plural, filters = {}, ...definition }) {
  const columns = built().identityKeys(definition);
  return {
    search: { type: "string", description: "Any string that the API searches for." },
    searchBy: {
      type: "string",
      description: `The field in which the API looks for \`search\`: ${listed(columns)}. Default \`${columns[0]}\`.`,
    },
    ...mapValues(filters, ({ noun }) => ({
      type: "integer",
      description: `Only the ${plural} of the ${noun} with this id.`,
    })),
  };
}

/** `getMonitor` and `getMonitors`, for example. */
function addFunctions(schema, definition, properties, names) {
  const { label, singular, plural, fields } = definition;
  const columns = built().identityKeys(definition);
  const selection = {
    account: accountToLookIn,
    ...Object.fromEntries(
      columns.map((column) => [column, { type: "string", description: `The exact \`${column}\`.` }]),
    ),
    ...searchOf(definition),
  };
  const shown = Object.keys(fields).filter((key) => !fields[key].secret);
  const result = {
    description: `A ${singular} as the API shows it, without secrets.`,
    type: "object",
    properties: {
      id: { type: "string", description: `The id of the ${singular} in the API.` },
      ...Object.fromEntries(shown.map((key) => [key, outputOf(properties[key])])),
      account: { type: "string", description: `The account that the ${singular} belongs to.` },
      attributes: attributesOf(singular),
    },
    required: ["id", "attributes"],
  };
  const type = `uptime:index:${label}Result`;
  schema.types[type] = result;
  const [one, all] = ["one", "all"].map((count) => built().lookupName(definition, count));
  const inPython = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const words = {
    ...names,
    ...{ singular, plural, Plural: capital(plural) },
    // Go calls a function Lookup that would read the resource of its name.
    ...{ one, One: capital(one), OneInGo: `Lookup${label}`, oneInPython: inPython(one) },
    ...{ all, All: capital(all), allInPython: inPython(all) },
  };
  schema.functions[`uptime:index:${one}`] = {
    description: `Finds one ${singular} without managing it, by its id, ${columns.map((column) => `its exact ${column}`).join(", ")} or a search. It is an error if there is none, or more than one.\n\n${pageOf("one", words)}`,
    inputs: {
      type: "object",
      properties: {
        id: { type: "string", description: `The id of the ${singular} in the API. Give it alone.` },
        ...selection,
      },
    },
    outputs: result,
  };
  schema.functions[`uptime:index:${all}`] = {
    description: `Finds all ${plural} that the arguments select, without managing them; all of them if nothing is given.\n\n${pageOf("all", words)}`,
    inputs: {
      type: "object",
      properties: {
        ...selection,
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

/** What a resource, a result or a stack's configuration has is a plain string, whatever an input takes. */
function outputOf({ oneOf, ...property }) {
  return oneOf ? { type: "string", ...property } : property;
}

/** A page of examples, with what the SDKs and the things that it shows are called. */
function pageOf(file, names) {
  const programs = new Map([...examplesIn("programs").matchAll(block)].map(([, ...program]) => program));
  const page = examplesIn(file).replace(block, (whole, language, lines) => {
    const program = programs.get(language);
    return program === undefined ? whole : `\`\`\`${language}\n${inProgram(program, lines)}\n\`\`\``;
  });
  return filled(page.trim(), names);
}

function examplesIn(file) {
  return readFileSync(join(root, "provider", "engine", "plugin", "examples", `${file}.md`), "utf8");
}

const block = /```(\w+)\n([^]*?)\n```/g;

/** The program around the lines of an example. Those that import something stand at its beginning. */
function inProgram(program, lines) {
  const [, imports, others] = /^((?:import .*\n)*)\n*([^]*)$/.exec(lines);
  return program
    .replace("${imports}", () => imports.trim())
    .replace(/^([ \t]*)\$\{lines\}$/m, (_, indent) => others.replace(/^(?=.)/gm, indent));
}

function capital(name) {
  return `${name[0].toUpperCase()}${name.slice(1)}`;
}

function listed(names) {
  return names.map((name) => `\`${name}\``).join(" or ");
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

/** The types of the provider's settings for TypeScript. */
function providerArgsOf({ provider, types }, settings) {
  const interfaceOf = (name, comment, properties) => {
    const lines = Object.entries(properties).map(
      ([key, property]) =>
        `  /** ${property.description}${property.secret ? " Secret." : ""} */\n` +
        `  ${key}?: Input<${typeScriptOf(property, settings[key]?.allowed)}> | undefined;\n`,
    );
    return `/** ${comment} */\nexport interface ${name} {\n${lines.join("")}}\n`;
  };
  const account = types["uptime:index:Account"];
  return [
    '// Written by `npm run docs`.\nimport type { Input } from "@pulumi/pulumi";\n',
    interfaceOf("AccountSettings", account.description, account.properties),
    interfaceOf("ProviderArgs", "The settings of a provider. (docs/settings.md)", provider.inputProperties),
  ].join("\n");
}

function typeScriptOf({ type, items, oneOf }, allowed) {
  if (oneOf) return oneOf.map((one) => typeScriptOf(one)).join(" | ");
  if (allowed) return allowed.map((value) => JSON.stringify(value)).join(" | ");
  if (type === "array") return `Input<${typeScriptOf(items)}>[]`;
  if (type === "object") return "Readonly<Record<string, Input<AccountSettings>>>";
  return type === "integer" ? "number" : type;
}

function main(args) {
  const all = built();
  const manifest = readManifest();
  const schema = schemaOf(all, manifest);
  writeGenerated(schemaFile, () => jsonText(schema), args);
  for (const page of Object.values(registryPages))
    writeGenerated(page, (present) => registryPageOf(page, present, { manifest, schema }), args);
  writeGenerated(argsFile, () => providerArgsOf(schema, all.settings.settingDeclarations), args);
}

runAsCommand(import.meta.url, main);
