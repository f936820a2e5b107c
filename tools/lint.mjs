// Checks types and lint rules with one TypeScript program, because most of the time goes into making it.
import { join } from "node:path";
import { ESLint } from "eslint";
import ts from "typescript";
import { root, runAsCommand } from "./shared.mjs";

runAsCommand(import.meta.url, async () => {
  const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.json"), {}, ts.sys);
  const program = ts.createProgram(fileNames, options);
  const host = ts.createCompilerHost(options);
  const types = ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), host);
  const parserOptions = { projectService: false, programs: [program] };
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: { files: ["**/*.ts"], languageOptions: { parserOptions } },
  });
  const { format } = await eslint.loadFormatter();
  const rules = await format(await eslint.lintFiles(["."]));
  if (types || rules) throw new Error([types, rules].join("\n"));
});
