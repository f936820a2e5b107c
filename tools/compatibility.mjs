// What a release promises to programs: the plugin's schema, and the types of TypeScript. test/corpus keeps those of each release;
// `npm run release:record` writes this version's.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { publishedPaths } from "./declarations.mjs";
import { readJson, readManifest, root, runAsCommand } from "./shared.mjs";

const corpus = join(root, "test", "corpus");
const built = join(root, "dist", "provider");
const entries = ["index", "native"];
const inOrder = (one, other) => one.localeCompare(other, "en", { numeric: true });

/** Whether a version may break what an earlier one promised: docs/upgrading.md, "Version numbers". */
export function mayBreak(earlier, version) {
  const [[oldMajor, oldMinor], [major, minor]] = [earlier, version].map((one) => one.split("."));
  return oldMajor !== major || (major === "0" && oldMinor !== minor);
}

/** What breaks programs of the release before this version. Undefined if none is in the corpus. */
export function breaksSinceLastRelease(version) {
  const [last] = readdirSync(corpus)
    .filter((name) => existsSync(join(corpus, name, "schema.json")) && inOrder(name, version) < 0)
    .sort(inOrder)
    .slice(-1);
  if (last === undefined) return undefined;
  const folder = join(corpus, last);
  const schemas = [join(folder, "schema.json"), "plugin/schema.json"].map(readJson);
  return { last, breaks: [...schemaBreaks(...schemas), ...typeBreaks(join(folder, "types"), built)] };
}

/** Whether the corpus has the schema and the types of this version, as the build has them. */
export function isRecorded(version) {
  const folder = join(corpus, version);
  const recorded = (name) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : "");
  return (
    recorded("schema.json") === schemaToRecord() &&
    typesToRecord().every(([name, path]) => recorded(join("types", name)) === readFileSync(path, "utf8"))
  );
}

function record(version) {
  const folder = join(corpus, version);
  rmSync(join(folder, "types"), { recursive: true, force: true });
  for (const [name, path] of typesToRecord()) {
    mkdirSync(dirname(join(folder, "types", name)), { recursive: true });
    cpSync(path, join(folder, "types", name));
  }
  writeFileSync(join(folder, "schema.json"), schemaToRecord());
}

/** The schema without what a program does not see. */
function schemaToRecord() {
  const schema = readJson("plugin/schema.json");
  const seen = (key, value) => (key === "description" && typeof value === "string" ? undefined : value);
  return `${JSON.stringify(schema, seen, 1)}\n`;
}

const typesToRecord = () => [...publishedPaths(entries)].map((path) => [relative(built, path), path]);

/** What a schema takes away from programs that were written for an earlier one, as sentences. */
export function schemaBreaks(before, after) {
  const breaks = [];
  const say = (path, problem) => breaks.push(`${path} ${problem}.`);
  const typeOf = (property) => JSON.stringify({ ...property, description: undefined });
  /** Properties that a program sets: none may be added that it must set. */
  const inputs = (path, old, now) => {
    properties(path, old.properties, now.properties);
    for (const name of now.required ?? [])
      if (!old.required?.includes(name)) say(`${path}.${name}`, "must be set now");
  };
  /** Properties that a program reads: each that was always there still is. */
  const outputs = (path, old, now) => {
    properties(path, old.properties, now.properties);
    for (const name of old.required ?? [])
      if (now.properties?.[name] && !now.required?.includes(name))
        say(`${path}.${name}`, "may be missing now");
  };
  const properties = (path, old = {}, now = {}) => {
    for (const [name, property] of Object.entries(old))
      if (!now[name]) say(`${path}.${name}`, "is removed");
      else if (typeOf(property) !== typeOf(now[name])) say(`${path}.${name}`, "has another type");
  };
  const each = (part, compare) => {
    for (const [token, old] of Object.entries(before[part] ?? {}))
      if (after[part]?.[token]) compare(token, old, after[part][token]);
      else say(token, "is removed");
  };
  each("resources", (token, old, now) => {
    const [oldInputs, newInputs] = [old, now].map(({ inputProperties, requiredInputs }) => ({
      properties: inputProperties,
      required: requiredInputs,
    }));
    inputs(`An input of ${token}`, oldInputs, newInputs);
    outputs(`An output of ${token}`, old, now);
  });
  each("functions", (token, old, now) => {
    inputs(`An argument of ${token}`, old.inputs ?? {}, now.inputs ?? {});
    outputs(`A result of ${token}`, old.outputs ?? {}, now.outputs ?? {});
  });
  each("types", (token, old, now) => {
    // A type may be used for both.
    inputs(token, old, now);
    outputs(token, old, now);
    for (const { value } of old.enum ?? [])
      if (!now.enum?.some((one) => one.value === value)) say(`The value ${value} of ${token}`, "is removed");
  });
  properties("The configuration", before.config?.variables, after.config?.variables);
  return breaks;
}

/** What the types in a folder take away from programs that were written for those in another one, as the compiler says it. */
export function typeBreaks(before, after) {
  const options = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.CommonJS,
    moduleResolution: ts.ModuleResolutionKind.Node10,
    types: [],
    skipLibCheck: true,
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile;
  // The entries have most files in common.
  const files = new Map();
  host.getSourceFile = (file, target) => {
    if (!files.has(file)) files.set(file, read(file, target));
    return files.get(file);
  };
  const found = entries.flatMap((entry) => {
    const [was, is] = [before, after].map((folder) => join(folder, entry));
    const lines = exportsOf(`${was}.d.ts`, options, host).flatMap(assignmentsOf);
    const program = join(before, "program.ts");
    const imports = `import * as was from ${JSON.stringify(was)}; import * as is from ${JSON.stringify(is)};`;
    files.set(program, ts.createSourceFile(program, [imports, ...lines].join("\n"), options.target));
    const compiled = ts.createProgram([program], options, host);
    const source = compiled.getSourceFile(program);
    return compiled.getSemanticDiagnostics(source).map(({ start, messageText }) => {
      const { line } = source.getLineAndCharacterOfPosition(start);
      const name = /\bwas\.(\w+)/.exec(lines[line - 1])?.[1];
      // The last line says what it is, and those above it where the compiler has met it.
      const [reason] = ts.flattenDiagnosticMessageText(messageText, "\n").split("\n").slice(-1);
      const plain = reason.trim().replace(/import\("[^"]*"\)\./g, "");
      return `${name}: ${plain.replace(/^Type '"(\w+)"' is not assignable to type 'never'/, "$1 is removed")}`;
    });
  });
  return [...new Set(found)];
}

function exportsOf(file, options, host) {
  const program = ts.createProgram([file], options, host);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)));
  return exported.map((symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  );
}

/** Lines that compile if what a program does with an export still does: it writes arguments, and reads everything else. */
function assignmentsOf({ name, flags }) {
  const isRead = flags & ts.SymbolFlags.Class || /Result$|^RequestHeader$/.test(name);
  const [from, to] = isRead ? [`is.${name}`, `was.${name}`] : [`was.${name}`, `is.${name}`];
  return [
    ...(flags & ts.SymbolFlags.Value ? [`export const ${name}: typeof was.${name} = is.${name};`] : []),
    ...(flags & ts.SymbolFlags.Type
      ? [
          `export const ${name}Type = (value: ${from}): ${to} => value;`,
          `export const ${name}Keys = (key: Exclude<keyof was.${name}, keyof is.${name}>): never => key;`,
        ]
      : []),
  ];
}

runAsCommand(import.meta.url, () => {
  const { version } = readManifest();
  record(version);
  console.log(`test/corpus/${version} has the schema and the types of ${version}.`);
});
