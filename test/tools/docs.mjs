// `npm run docs` writes the tables of fields into docs/resources.md; with `--check` it only says whether they are up to date.
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const page = "docs/resources.md";

/** The page with the table of each definition between its markers. */
export function withTables(present, definitions) {
  return definitions.reduce((text, definition) => {
    const [start, end] = [`<!-- fields:${definition.label} -->`, `<!-- /fields:${definition.label} -->`];
    const [before, after] = [text.indexOf(start), text.indexOf(end)];
    if (before < 0 || after < before)
      throw new Error(`${page} has no place for the fields of ${definition.label}: ${start} and ${end}.`);
    const table = tableOf(definition, sentencesOf(sourceOf(definition)));
    // One row a line, as it is: aligned columns would change with every word.
    return `${text.slice(0, before + start.length)}\n\n<!-- prettier-ignore -->\n${table}\n\n${text.slice(after)}`;
  }, present);
}

/** The text above each field of a resource, as an editor shows it. */
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
      if (text) sentences.set(property.name.getText(), text.replace(/\s+/g, " ").trim());
    }
  });
  return sentences;
}

/** A Markdown table of a resource's fields. */
export function tableOf({ label, fields }, sentences) {
  const rows = Object.entries(fields).map(([key, field]) => {
    const sentence = sentences.get(key);
    if (!sentence) throw new Error(`${label}.${key} has no comment that says what it means.`);
    const preset = field.default === undefined ? "" : code(field.default);
    // Where the API's reference says so is of use beside the code, and not twenty times in a table.
    const meaning = sentence.replace(/ \(API reference, section [\d.]+\)$/, "");
    return [code(key), code(field.wire), typeOf(field), preset, remarksOf(field), meaning];
  });
  const head = ["Property", "At the API", "Type", "Default", "", "Meaning"];
  return [head, head.map(() => "---"), ...rows].map(line).join("\n");
}

const types = {
  text: "string",
  hostname: "string",
  url: "string",
  integer: "number",
  choice: "string",
  boolean: "boolean",
  dateTime: "string",
  idList: "(number or string)[]",
  headerList: "{ key, value }[]",
};

function typeOf({ kind, allowed }) {
  return allowed ? allowed.map(code).join(", ") : types[kind];
}

function remarksOf({ required, secret, replace, updateOnly }) {
  const remarks = { required, secret, replaces: replace, "set after create": updateOnly };
  return Object.keys(remarks)
    .filter((remark) => remarks[remark])
    .join(", ");
}

function code(value) {
  return `\`${value}\``;
}

function line(cells) {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`.replace(/ {2,}/g, " ");
}

function sourceOf({ singular }) {
  return readFileSync(join(root, "provider", "definitions", `${singular}.ts`), "utf8");
}

/** The built definitions, the only list of them. */
function definitionsBuilt() {
  return createRequire(import.meta.url)(join(root, "dist", "provider", "definitions", "index.js"))
    .definitions;
}

function main(args) {
  const path = join(root, page);
  const present = readFileSync(path, "utf8");
  const wanted = withTables(present, definitionsBuilt());
  if (wanted === present) return;
  if (args.includes("--check"))
    throw new Error(`${page} does not say what the declarations in provider/ say. Run \`npm run docs\`.`);
  writeFileSync(path, wanted);
  console.log(`${page} is written.`);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
