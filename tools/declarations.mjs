// Part of the build: of the declarations that the compiler writes, only those are published that the package's types consist of.
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { root } from "./main.mjs";

const built = join(root, "dist", "provider");
const published = new Set();

publish(join(built, "index.d.ts"));
publish(join(built, "native.d.ts"));
publish(join(built, "provider.d.ts"));
for (const name of readdirSync(built, { recursive: true, encoding: "utf8" }))
  if (name.endsWith(".d.ts") && !published.has(join(built, name))) rmSync(join(built, name));

/** Notes a declaration, and all that it imports. */
function publish(path) {
  if (published.has(path)) return;
  published.add(path);
  for (const { fileName } of ts.preProcessFile(readFileSync(path, "utf8")).importedFiles)
    if (fileName.startsWith(".")) publish(join(dirname(path), `${fileName}.d.ts`));
}
