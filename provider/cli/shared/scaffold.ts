import { existsSync } from "node:fs";
import { join } from "node:path";

import type { Settings } from "../../api/settings";
import { dependencySpec, packageWord } from "./dependency";
import { readText } from "./files";
import { jsonText } from "./json";
import type { Project } from "./project";
import { minimumPulumi } from "./pulumi-cli";
import { shellWord } from "./quoting";

const devDependencies = { "@types/node": "^22.0.0", typescript: "^5.9.0" };

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
  const index = join(directory, "index.ts");
  return existsSync(index) && readText(index) === sampleProgram;
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

/**
 * The commands between a new project's files and its first preview.
 *
 * @param installing those that install the packages
 */
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
