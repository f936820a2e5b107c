import { parse, stringify } from "yaml";

import { dependency } from "./dependency";
import { jsonText } from "./json";
import type { Project } from "./project";

const compilerOptions = {
  strict: true,
  target: "es2022",
  module: "nodenext",
  moduleResolution: "nodenext",
  noEmit: true,
  skipLibCheck: true,
  forceConsistentCasingInFileNames: true,
};

/** The files of a new project by name, all but the modules that declare its resources. */
export function scaffold({ name }: Pick<Project, "name">, program: string): Map<string, string> {
  const uptime = dependency();
  const manifest = {
    name,
    private: true,
    main: "index.ts",
    dependencies: { "@pulumi/pulumi": "^3.200.0", "pulumi-uptime": uptime },
    devDependencies: { "@types/node": "^22.0.0", typescript: "^5.9.0" },
  };
  return new Map([
    ["Pulumi.yaml", `name: ${yamlText(name)}\ndescription: Domains and uptime monitors\nruntime: nodejs\n`],
    ["package.json", jsonText(manifest)],
    [
      "tsconfig.json",
      jsonText({ compilerOptions, files: ["index.ts"] }).replace(/\[\s+("[\w.]+")\s+\]/g, "[$1]"),
    ],
    [".gitignore", "node_modules/\n"],
    // npm links to a folder otherwise, and a program then has two copies of @pulumi/pulumi.
    ...(uptime.startsWith("file:") ? ([[".npmrc", "install-links=true\n"]] as const) : []),
    ["index.ts", program],
  ]);
}

/** A string in YAML. Pulumi reads YAML with rules of both versions, so what either takes for another type is quoted. */
function yamlText(text: string): string {
  const isText = (["1.1", "1.2"] as const).every((version) => {
    const plain = stringify(text, { version }).trimEnd();
    return plain === text && parse(text, { version }) === text;
  });
  // 1e3 is a number to Pulumi, although YAML 1.1 asks for a point in it.
  return isText && !/^[\d.]+e\d+$/i.test(text) ? text : JSON.stringify(text);
}
