// Jest loads TypeScript, and the ES modules that run before anything is installed, as CommonJS with source maps.
const { createHash } = require("node:crypto");
const { readFileSync } = require("node:fs");
const { version } = require("typescript/package.json");

const self = readFileSync(__filename, "utf8");

module.exports = {
  getCacheKey: (source, fileName) =>
    createHash("sha256").update([self, version, fileName, source].join("\0")).digest("hex"),
  process(source, fileName) {
    // Loaded for a file that is not in jest's cache, because that takes a third of a second.
    const ts = require("typescript");
    const compilerOptions = {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
      inlineSourceMap: true,
      inlineSources: true,
    };
    const { outputText } = ts.transpileModule(source, { fileName: `${fileName}.ts`, compilerOptions });
    return {
      code: outputText.replaceAll("import.meta.url", 'require("node:url").pathToFileURL(__filename).href'),
    };
  },
};
