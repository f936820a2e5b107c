import { execSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import * as z from "zod/mini";

import type { Settings } from "../../api/settings";
import { ownPackage, packageAbove } from "../../common/package";
import { assertFree, explainFailure, textIfThere, writeNewFile } from "./files";
import { jsonText, parseAs } from "./json";
import type { Project } from "./project";
import { minimumPulumi } from "./pulumi-cli";
import { shellWord } from "./quoting";

const installedManifest = z.object({ dependencies: z.object({ "pulumi-uptime": z.string() }) });

/** How a project depends on this package: by its version or, if it did not come from a registry, by a file of the project. */
export function dependencySpec(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  const modules = dirname(folder);
  const manifest = textIfThere(join(dirname(modules), "package.json")) ?? "";
  const source = parseAs(installedManifest, manifest)?.dependencies["pulumi-uptime"];
  const isInstalled = basename(modules) === "node_modules";
  return isInstalled && !source?.startsWith("file:") ? `^${version}` : `file:pulumi-uptime-${version}.tgz`;
}

const devDependencies = { "@types/node": "^22.0.0", typescript: "^5.9.0" };

/** This package as a word of a command that installs it: its name or, if it did not come from a registry, a file that npm packs. */
export function packageWord(): string {
  if (!dependencySpec().startsWith("file:")) return "pulumi-uptime";
  return `$(npm pack --silent --ignore-scripts ${shellWord(ownPackage().folder)})`;
}

/** The commands that add the dependencies of a program to a package that is there already. */
export function addCommands(): string[] {
  const development = Object.entries(devDependencies).map(([name, range]) => shellWord(`${name}@${range}`));
  return [
    `npm install ${shellWord(`@pulumi/pulumi@^${minimumPulumi}`)} ${packageWord()}`,
    `npm install --save-dev ${development.join(" ")}`,
  ];
}

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

export const sampleProgram = `import { Monitor } from "pulumi-uptime";

const home = new Monitor("home", {
  name: "Home page",
  url: "https://example.com/",
  interval: 300,
  pause: false,
});

export const homeId = home.id;
`;

/** Whether the program is still the sample that `init` wrote. */
export function isSampleIn({ directory }: Project): boolean {
  return textIfThere(join(directory, "index.ts")) === sampleProgram;
}

/**
 * The files of a new project by name, all but the modules that declare its resources.
 *
 * @param secretFiles further files that git must not take
 */
export function scaffold(
  { name, files }: Project,
  program: string,
  secretFiles: readonly string[] = [],
): Map<string, string> {
  // Files with secrets, the first two under the names that help and docs use. Git gives some characters a meaning.
  const hidden = [
    "secrets.json",
    "state.json",
    ...secretFiles.map((path) => path.replace(/[\\*?[#!]| $/g, "\\$&")),
  ];
  const manifest = {
    name,
    private: true,
    main: "index.ts",
    scripts,
    dependencies: { "@pulumi/pulumi": `^${minimumPulumi}`, "pulumi-uptime": dependencySpec() },
    devDependencies,
  };
  return new Map([
    // In quotes, because Pulumi would read a name such as 2024 or yes as another type.
    [
      "Pulumi.yaml",
      [
        `name: ${JSON.stringify(name)}`,
        "description: Domains and uptime monitors",
        "runtime: nodejs",
        // A package that is there already has another main file.
        ...(files.has("package.json") ? ["main: index.ts"] : []),
        "",
      ].join("\n"),
    ],
    ["package.json", jsonText(manifest)],
    [
      "tsconfig.json",
      jsonText({ compilerOptions, files: ["index.ts"] }).replace(/\[\s+("[\w.]+")\s+\]/g, "[$1]"),
    ],
    [".gitignore", [...new Set(["node_modules/", ...hidden]), ""].join("\n")],
    ["index.ts", program],
  ]);
}

/** The file with this package that the package.json of a new project names; none if it names a version. */
export function packageFiles(files: ReadonlyMap<string, string>): string[] {
  const source = dependencySpec();
  return files.has("package.json") && source.startsWith("file:") ? [source.slice("file:".length)] : [];
}

/** Writes files by name, none of which may exist, and the file of this package if the project needs it. */
export function writeProject(directory: string, files: ReadonlyMap<string, string>): void {
  const packed = packageFiles(files);
  for (const name of [...files.keys(), ...packed]) assertFree(join(directory, name));
  // Packing may fail, and then there must not be half a project.
  if (packed.length > 0) {
    explainFailure(`${directory} cannot be written`, () => mkdirSync(directory, { recursive: true }));
    const { folder } = ownPackage();
    // On Windows, npm is a script that only a shell starts. No path is on its command line, so none needs quotes.
    const env = { ...process.env, npm_config_pack_destination: directory };
    explainFailure(`${folder} cannot be packed`, () =>
      execSync("npm pack --ignore-scripts --loglevel=error", { cwd: folder, env, stdio: "pipe" }),
    );
  }
  for (const [name, content] of files) writeNewFile(join(directory, name), content);
}

/** The commands between a new project's files and its first preview. */
export function startCommands(settings?: Settings, installing = ["npm install"]): string[] {
  return [
    ...installing,
    "export PULUMI_RUN_PROGRAM=true",
    "pulumi stack init dev",
    ...settingCommands(settings),
    "npx --no pulumi-uptime doctor",
  ];
}

/** The commands that set the server's address and the key. */
export function settingCommands({ baseUrl, monitorsBaseUrl, allowHttp }: Partial<Settings> = {}): string[] {
  const set = (name: string, value: string): string => `pulumi config set uptime:${name} ${shellWord(value)}`;
  const hasOwnMonitors = monitorsBaseUrl !== undefined && monitorsBaseUrl.url !== baseUrl?.url;
  return [
    set("baseUrl", baseUrl?.url ?? "https://uptime.example.com"),
    ...(hasOwnMonitors ? [set("monitorsBaseUrl", monitorsBaseUrl.url)] : []),
    ...(allowHttp ? [set("allowHttp", "true")] : []),
    setSecret("uptime:apiKey"),
  ];
}

/** The command that sets a secret, for which it asks. */
export const setSecret = (key: string): string => `pulumi config set --secret ${shellWord(key)}`;
