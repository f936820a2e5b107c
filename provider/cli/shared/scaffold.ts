import { dependency } from "./dependency";
import { jsonText } from "./json";
import { minimumPulumi } from "./pulumi-cli";
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

/** Pulumi's commands as they should run, with the program. */
const scripts = {
  preview: "pulumi preview --refresh --run-program --diff",
  up: "pulumi up --refresh --run-program",
  destroy: "pulumi destroy --run-program",
  drift: "pulumi-uptime drift",
};

/** What exports write with secrets in it, under the names that help and docs use. */
const usualSecretFiles = ["secrets.json", "state.json"];

/** The program of a new project. An export replaces it if nobody has changed it. */
export const sampleProgram = `import { Monitor } from "pulumi-uptime";

const home = new Monitor("home", {
  name: "Home page",
  url: "https://example.com/",
  interval: 300,
});

export const homeId = home.id;
`;

/**
 * The files of a new project by name, all but the modules that declare its resources.
 * @param more.uptime the dependency that gives the project this package
 * @param more.secretFiles what else git must not take
 */
export function scaffold(
  { name }: Pick<Project, "name">,
  program: string,
  {
    uptime = dependency(),
    secretFiles = [],
  }: { readonly uptime?: string; readonly secretFiles?: readonly string[] } = {},
): Map<string, string> {
  const manifest = {
    name,
    private: true,
    main: "index.ts",
    scripts,
    dependencies: { "@pulumi/pulumi": `^${minimumPulumi}`, "pulumi-uptime": uptime },
    devDependencies: { "@types/node": "^22.0.0", typescript: "^5.9.0" },
  };
  return new Map([
    // In quotes, because Pulumi would read a name such as 2024 or yes as another type.
    [
      "Pulumi.yaml",
      `name: ${JSON.stringify(name)}\ndescription: Domains and uptime monitors\nruntime: nodejs\n`,
    ],
    ["package.json", jsonText(manifest)],
    [
      "tsconfig.json",
      jsonText({ compilerOptions, files: ["index.ts"] }).replace(/\[\s+("[\w.]+")\s+\]/g, "[$1]"),
    ],
    [".gitignore", [...new Set(["node_modules/", ...usualSecretFiles, ...secretFiles]), ""].join("\n")],
    // npm links to a folder otherwise, and a program then has two copies of @pulumi/pulumi.
    ...(uptime.startsWith("file:") && !uptime.endsWith(".tgz")
      ? ([[".npmrc", "install-links=true\n"]] as const)
      : []),
    ["index.ts", program],
  ]);
}
