// Which part may import which, so that nobody has to remember it. `npm run check` runs it.

// Which folders each layer may import beside itself.
const layers = {
  // What both sides of the engine share.
  common: [],
  definitions: ["common"],
  api: ["common", "definitions"],
  lifecycle: ["common", "definitions", "api"],
  // What runs in Pulumi's host of providers, and in the plugin.
  engine: ["common", "definitions", "api", "lifecycle"],
  // What runs in the program.
  sdk: ["common", "definitions"],
};
// What stands on all of them. Neither imports the other.
const tops = { entries: "^provider/[^/]+$", cli: "^provider/cli/" };
const folder = (name) => `^provider/${name}/`;
// The first lookup of a program loads it, because it sends requests: it may import every layer.
const lookups = "^provider/sdk/lookup-in-process\\.ts$";
const own = "^(provider|test|tools|examples)/";

const layerRules = Object.entries(layers).map(([layer, below]) => ({
  name: `layer-${layer}`,
  comment: `provider/${layer} imports only ${[...below, layer].join(", ")}.`,
  severity: "error",
  from: { path: folder(layer), pathNot: lookups },
  to: { path: own, pathNot: [...below, layer].map(folder) },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: "lookups-import-layers",
      comment: "A lookup of a program imports neither a command nor the emulator.",
      severity: "error",
      from: { path: lookups },
      to: { path: own, pathNot: Object.keys(layers).map(folder) },
    },
    {
      name: "definitions-are-light",
      comment: "The two lowest layers load neither Pulumi, zod nor undici; types of Pulumi's are fine.",
      severity: "error",
      from: { path: [folder("common"), folder("definitions")] },
      to: { path: "(^|node_modules/)(@pulumi/pulumi|zod|undici)(/|$)", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "engine-knows-pulumi",
      comment:
        "Below the engine's layer nothing imports a package of Pulumi's, although the lifecycle knows its terms.",
      severity: "error",
      from: { path: [folder("api"), folder("lifecycle")] },
      to: { path: "(^|node_modules/)@pulumi/" },
    },
    {
      name: "entries-stand-alone",
      comment: "What a program imports loads neither the command line nor the emulator.",
      severity: "error",
      from: { path: tops.entries },
      to: { path: [tops.cli, folder("emulator")] },
    },
    {
      name: "cli-on-layers",
      comment:
        "The command line stands on the layers, and starts the emulator; it imports neither an entry point nor what runs in programs.",
      severity: "error",
      from: { path: tops.cli },
      to: {
        path: [tops.entries, folder("sdk"), folder("emulator")],
        pathNot: "^provider/emulator/index\\.ts$",
      },
    },
    {
      name: "commands-apart",
      comment:
        "A subcommand imports only its own folder or file and what all share; commands.ts starts them.",
      severity: "error",
      from: { path: "^provider/cli/([^/]+)", pathNot: "^provider/cli/(commands|main)\\.ts$" },
      to: { path: tops.cli, pathNot: ["^provider/cli/shared/", "^provider/cli/$1(/|$)"] },
    },
    {
      name: "emulator-alone",
      comment: "The emulator shares nothing with the provider, so that a mistake in one shows in the other.",
      severity: "error",
      from: { path: folder("emulator") },
      to: { path: own, pathNot: folder("emulator") },
    },
    {
      name: "ships-no-tests",
      comment: "Nothing that ships imports the tests or the examples.",
      severity: "error",
      from: { path: "^provider/" },
      to: { path: "^(test|tools|examples)/" },
    },
    {
      name: "ships-its-packages",
      comment:
        "What ships imports only packages that are installed with it. The plugin and what talks to the engine ship bundled.",
      severity: "error",
      from: { path: "^provider/", pathNot: "^provider/engine/(plugin/|engine-log\\.ts)" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        dependencyTypesNot: ["npm", "npm-peer", "type-only"],
      },
    },
    {
      name: "resolved",
      comment: "Every import leads to a file, or no rule would hold for it.",
      severity: "error",
      from: { path: "^provider/" },
      to: { couldNotResolve: true },
    },
    {
      name: "no-circle",
      comment: "No circle of imports, not even of types: each file can be read on its own.",
      severity: "error",
      from: { path: "^(provider|test|tools)/" },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    // Imports of types count too.
    tsPreCompilationDeps: true,
  },
};
