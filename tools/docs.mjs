// `npm run docs` writes what the definitions say into one page per resource and those of the API and the settings; with `--check`
// it only compares.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import ts from "typescript";
import { between, root, runAsCommand, writeGenerated } from "./main.mjs";

/** The path of a resource's page. */
const pathOf = ({ singular }) => `docs/${singular}.md`;

/**
 * A resource's page: the present one with its generated parts renewed, or a new one for a resource that has none.
 * Everything outside the markers is written by hand and stays.
 * @returns {string}
 */
export function pageOf(definition, { source = sourceOf(definition), present = newPage(definition) } = {}) {
  return withParts(pathOf(definition), present, {
    arguments: argumentsOf(definition, sentencesOf(source)),
    outputs: outputsOf(definition),
    import: importOf(definition),
    get: getOf(definition),
    lookups: lookupsOf(definition),
  });
}

/** The page of the settings, with the entries of all settings renewed. */
function settingsPageOf(declared, present) {
  return withParts(settingsPath, present, { settings: settingsOf(declared) });
}

const settingsPath = "docs/settings.md";

/** The page of the API, with the fields of all resources renewed. */
export function apiPageOf(all, present) {
  return withParts(apiPath, present, { fields: all.map(wireFieldsOf).join("\n\n") });
}

const apiPath = "docs/api.md";

/** A page with its generated parts renewed. */
function withParts(path, present, parts) {
  return Object.entries(parts).reduce(
    (text, [name, part]) => between(path, text, `generated:${name}`, part.trim()),
    present,
  );
}

/**
 * The comment above each field of a resource, as an editor shows it, without the page that it names.
 * @returns {Map<string, string>}
 */
export function sentencesOf(source) {
  const sentences = new Map();
  const file = ts.createSourceFile("resource.ts", source, ts.ScriptTarget.Latest, true);
  ts.forEachChild(file, (statement) => {
    if (!ts.isVariableStatement(statement)) return;
    const fields = statement.declarationList.declarations.find(({ name }) =>
      name.getText().endsWith("Fields"),
    );
    if (!fields?.initializer || !ts.isObjectLiteralExpression(fields.initializer)) return;
    for (const property of fields.initializer.properties) {
      const [comment] = ts.getJSDocCommentsAndTags(property).filter(ts.isJSDoc);
      const text = ts.getTextOfJSDocComment(comment?.comment);
      const words = text?.replace(/\s+/g, " ").replace(/ \(docs\/\w+\.md\)$/, "");
      if (words) sentences.set(property.name.getText(), words);
    }
  });
  return sentences;
}

function argumentsOf({ label, singular, fields }, sentences) {
  const entries = Object.entries(fields).map(([key, field]) => {
    const sentence = sentences.get(key);
    if (!sentence) throw new Error(`${label}.${key} has no comment that says what it means.`);
    // The default has a place of its own here.
    const meaning = sentence.replace(field.default === undefined ? "" : / Default \S+\.$/, "");
    const facts = [typeOf(field), ...remarksOf(key, field, singular)].join(" · ");
    return [`### ${key}`, facts, meaning, ...exampleValueOf(key, field, meaning)].join("\n\n");
  });
  return [...entries, accountOf(singular)].join("\n\n");
}

/** An argument with a value, unless its comment has an example or its type suggests none. */
function exampleValueOf(key, field, meaning) {
  if (field.type === "text" || /for example/i.test(meaning)) return [];
  const chosen = field.allowed?.find((value) => value !== field.default && value !== 0);
  const value = JSON.stringify(chosen ?? sampleOf(key, field))
    .replaceAll(",", ", ")
    .replace(/"(\w+)":/g, "$1: ")
    .replaceAll("{", "{ ")
    .replaceAll("}", " }")
    .replaceAll('"…"', 'config.requireSecret("token")');
  return [`Example: ${code(`${key}: ${value}`)}`];
}

function settingsOf({ settings, meaningOf }) {
  const entries = Object.entries(settings).map(([name, setting]) => {
    const facts = [setting.required ? "required" : `default ${defaultOf(setting)}`];
    if (setting.secret) facts.push("secret");
    if (setting.environment) facts.push(`environment ${code(setting.environment)}`);
    if (setting.type === "accounts") facts.push(`environment ${code(`${settings.apiKey.environment}_NAME`)}`);
    const meaning = [meaningOf(name), setting.details ?? ""].join(" ").trim();
    return `### uptime:${name}\n\n${facts.join(" · ")}\n\n${meaning}`;
  });
  return entries.join("\n\n");
}

function defaultOf({ default: preset, defaultsTo }) {
  if (defaultsTo) return code(`uptime:${defaultsTo}`);
  return preset === undefined || Array.isArray(preset) ? "none" : code(preset);
}

function accountOf(singular) {
  return `### account

string · a change replaces the ${singular}

The account that the ${singular} belongs to: a name in the setting
[\`uptime:accounts\`](settings.md#several-accounts). It must be known in the preview. Default: the account of
\`uptime:apiKey\`.`;
}

/** The fields of a resource as forms and records have them. */
function wireFieldsOf({ label, fields }) {
  const entries = Object.values(fields).map((field) => {
    const remarks = [
      [field.required, "required on create"],
      [field.default !== undefined, `default ${code(wireValueOf(field.default))}`],
      [field.replace, "not in an update"],
      [field.updateOnly, "in an update only"],
    ];
    const facts = [wireFormOf(field), ...remarks.flatMap(([applies, remark]) => (applies ? [remark] : []))];
    return `- ${code(field.wire)}: ${facts.join("; ")}`;
  });
  return `### ${label}\n\n${entries.join("\n")}`;
}

const wireValueOf = (value) => (typeof value === "boolean" ? Number(value) : value);

/** What a form may have under a field's name. */
function wireFormOf({ type, wire, allowed }) {
  if (allowed) return [allowed.slice(0, -1).map(code).join(", "), code(allowed.at(-1))].join(" or ");
  const forms = {
    boolean: "`0` or `1`",
    dateTime: "date and time such as `2030-01-31T22:00:00`",
    idList: `ids, each sent as ${code(`${wire}[]`)}`,
    headerList: `pairs, sent as ${code(`${wire}[0][key]`)} and ${code(`${wire}[0][value]`)}, the next with \`1\``,
    url: "URL",
  };
  return forms[type] ?? "string";
}

const types = {
  text: "string",
  hostname: "string",
  url: "string",
  integer: "number",
  choice: "string",
  boolean: "boolean",
  dateTime: "string",
  idList: "list of numbers or numeric strings",
  headerList: "list of `{ key, value }`",
};

function typeOf({ type }) {
  if (!(type in types)) throw new Error(`tools/docs.mjs has no word for the type ${type}.`);
  return types[type];
}

function remarksOf(key, field, singular) {
  const remarks = [
    [field.required, "required"],
    [field.default !== undefined, `default \`${field.default}\``],
    [field.secret, "secret"],
    [field.replace, `a change replaces the ${singular}`],
    [field.updateOnly, "set by an update after the create"],
    [field.wire !== key, `\`${field.wire}\` in the API`],
  ];
  return remarks.flatMap(([applies, remark]) => (applies ? [remark] : []));
}

function outputsOf({ singular, fields }) {
  const optional = Object.values(fields).some(
    ({ required, default: preset }) => !required && preset === undefined,
  );
  return `Every argument is also an output, under the same name.${
    optional ? " An optional field that you have never declared is an output of `undefined`." : ""
  }

### id

string

The ${singular}'s id in the API.

### attributes

object

Every other field that the API's record shows, known to this version or not, under the API's own names and with
unchanged values; fields that are null are left out. It is what the record showed at the last write, import or adoption:
see [Current values](drift.md#current-values).`;
}

function importOf(definition) {
  const { singular } = definition;
  return `The option \`import\` adopts an existing ${singular} by its id. Nothing is created, and the preview refuses arguments that
differ from the record. [Importing](adopting.md#a-few-records) has the details, and
[\`pulumi-uptime export\`](adopting.md#a-whole-account) writes such declarations for you.

\`\`\`ts
${exampleOf(definition, "imported", '{ import: "123" }')}
\`\`\`

The command \`pulumi import\` does not work with dynamic resources; see [Limits](../README.md#limits).`;
}

function getOf({ label, singular }) {
  return `\`${label}.get(name, id, state?, options?)\` reads a ${singular} without managing it. Every field is an output, with its current
value. Of \`state\`, only \`account\` is used; options such as \`parent\` are the fourth argument.

\`\`\`ts
const existing = ${label}.get("existing", "123");
const inEurope = ${label}.get("in-europe", "456", { account: "eu" });
\`\`\``;
}

function lookupsOf(definition) {
  const { singular, plural } = definition;
  const [one, all] = ["one", "all"].map((count) => built().lookupName(definition, count));
  const exact = built().columnsOf(definition);
  return `\`${one}\` finds one ${singular}, and \`${all}\` finds several, without managing them. They also run in a preview, and
always return current values.

\`\`\`ts
const one = await ${one}({ ${exact[0] ?? "id"}: "${exact[0] === undefined ? "123" : "shop.example"}" });
const several = await ${all}({ search: "shop", sortBy: "id", sort: "asc" });
const later = ${one}Output({ id: one.id }); // an Output, which takes inputs and options such as parent
\`\`\`

- \`${one}\` takes \`id\` alone, or any of ${[...exact.map((key) => `exact ${code(key)}`), "`search` with `searchBy`"].join(", ")}.
  It is an error if no ${singular} matches, or more than one.
- \`${all}\` takes the same without \`id\`, and also \`sortBy\` and \`sort\`. Without arguments it returns all ${plural}.
- Both take \`account\`. [Lookups](resources.md#lookups) has the rest.`;
}

/** The least that declares a resource, its required arguments, laid out as prettier does. */
function exampleOf({ label, fields }, name, options) {
  const values = Object.entries(fields).filter(([, { required }]) => required);
  const lines = values.map(([key, field]) => `${key}: ${JSON.stringify(sampleOf(key, field))}`);
  if (lines.length < 2)
    return `new ${label}("${name}", { ${lines.join("")} }${options ? `, ${options}` : ""});`;
  const args = (indent) => ["{", ...lines.map((line) => `  ${line},`), "}"].join(`\n${indent}`);
  if (!options) return `new ${label}("${name}", ${args("")});`;
  return `new ${label}(\n  "${name}",\n  ${args("  ")},\n  ${options},\n);`;
}

function sampleOf(key, { type, allowed }) {
  if (allowed) return allowed[0];
  const samples = {
    text: "Home page",
    hostname: "shop.example",
    url: "https://www.shop.example/",
    boolean: true,
    dateTime: "2030-01-31T22:00:00",
    idList: [1],
    headerList: [{ key: "X-Token", value: "…" }],
  };
  return samples[type] ?? key;
}

/** The page of a resource that has none yet. */
function newPage(definition) {
  const { label, singular } = definition;
  const generated = (name) => `<!-- generated:${name} -->\n<!-- /generated:${name} -->`;
  return `# ${label}

A ${singular} in the API.

## Example

\`\`\`ts
import { ${label} } from "pulumi-uptime";

${exampleOf(definition, "example")}
\`\`\`

## Arguments

${generated("arguments")}

## Outputs

${generated("outputs")}

## Import

${generated("import")}

## ${label}.get

${generated("get")}

## Lookups

${generated("lookups")}
`;
}

function code(value) {
  return `\`${value}\``;
}

/** The declaration of a resource. */
export function sourceOf({ singular }) {
  return readFileSync(join(root, "provider", "definitions", `${singular}.ts`), "utf8");
}

/** What the build has of provider/definitions, the only list of resources and settings. */
export function built() {
  const load = createRequire(import.meta.url);
  const folder = join(root, "dist", "provider", "definitions");
  const [all, { lookupName }, { columnsOf }, settings] = ["index", "pulumi", "field", "settings"].map(
    (name) => load(join(folder, `${name}.js`)),
  );
  return { definitions: all.definitions, columnsOf, lookupName, settings };
}

function main(args) {
  const { definitions, settings } = built();
  for (const definition of definitions)
    writeGenerated(pathOf(definition), (present) => pageOf(definition, { present }), args);
  writeGenerated(apiPath, (present) => apiPageOf(definitions, present), args);
  writeGenerated(settingsPath, (present) => settingsPageOf(settings, present), args);
}

runAsCommand(import.meta.url, main);
