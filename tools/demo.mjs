// `npm run demo`: the README's program from create to destroy, on the real engine, against an emulator of the API on this
// machine. State and settings are in a temporary folder that is removed at the end. With `--yaml`, the program is that of
// examples/yaml, on the provider plugin. With `--docs`, the demo ends with the comment on a pull request, and writes it into
// README.md and the preview with drift into docs/drift.md; with `--docs --check`, it compares them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { newProject } from "./engine/env.mjs";
import { ensureLanguage } from "./engine/languages.mjs";
import { between, root } from "./shared.mjs";
import { setup } from "./setup.mjs";

const API_KEY = "demo-key";
const addedMonitor =
  'new Monitor("checkout", { name: "Checkout", url: "https://www.shop.example/checkout", interval: 300 });\n';

/** The program: what it is called, how it is laid into a folder, and how the domain that it declares gets another name. */
const programs = {
  typescript: {
    title: "the README's program",
    file: "index.ts",
    lay: layReadme,
    newName: (name) => [`name: "${name}"`, `name: "renamed-${name}"`],
  },
  yaml: {
    title: "the program of examples/yaml",
    file: "Pulumi.yaml",
    lay: (project) => cp(join(root, "examples", "yaml"), project, { recursive: true }),
    newName: () => ["name: ${site}", "name: renamed-${site}"],
  },
};

const boolean = { type: "boolean" };
let wanted;

const children = new Set();
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, endChildren);
let folder;
let api;
try {
  ({ values: wanted } = parseArgs({ options: { yaml: boolean, docs: boolean, check: boolean } }));
  await demo(wanted.yaml && !wanted.docs ? programs.yaml : programs.typescript);
} catch (error) {
  console.error(`\nThe demo failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  endChildren();
  await Promise.all([...children].map((child) => once(child, "close")));
  await api?.stop();
  if (folder) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function demo(program) {
  say("Set up what is missing");
  const { engine: installed } = await setup({ log: console.log });
  const engine = wanted.yaml ? await ensureLanguage("yaml", { log: console.log }) : installed;
  say("Start an emulator of the API");
  // The build is there only after the set-up.
  const { Emulator } = createRequire(import.meta.url)("../dist/provider/emulator/index.js");
  api = await Emulator.start({ apiKey: API_KEY });
  console.log(`Emulator at ${api.url} with API key ${API_KEY}`);
  say(`Create a project with ${program.title}, and a stack`);
  const { pulumi, uptime, edit } = await layProject(engine, program);

  if (!wanted.docs) {
    say("The preview shows what will be created; nothing is sent yet");
    await pulumi("preview");
    check(api.monitors.size === 0, "The preview created monitors.");
  }
  say("pulumi up creates it");
  await pulumi("up", "--yes", "--skip-preview");
  const [declared] = api.monitors.all();
  check(declared, "The API has no monitor after `up`.");
  if (!wanted.docs) {
    say("A second pulumi up has nothing to do");
    await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
  }

  say("Somebody edits the monitor by hand, outside Pulumi");
  const edited = declared.interval === 3600 ? 1800 : 3600;
  api.monitors.edit(declared.id, { interval: edited });
  console.log(`The API has interval ${edited} instead of ${declared.interval}.`);
  say("The next preview shows the drift");
  const look = ["preview", "--refresh", "--run-program", "--diff"];
  const preview = await pulumi(...look);
  check(/interval/.test(preview) && preview.includes(String(edited)), "The preview does not show the edit.");
  if (wanted.docs) {
    await showIn("docs/drift.md", "preview", ["```text", preview.trimEnd(), "```"]);
    say("A pull request changes the monitor and adds another");
    await edit("  sslAlertDays: 14,\n});", `  sslAlertDays: 30,\n});\n\n${addedMonitor}`);
    const [, ...comment] = (await writeComment({ pulumi, uptime })).trim().split("\n\n");
    return showIn(
      "README.md",
      "comment",
      comment
        .join("\n\n")
        .replace(/http:\/\/127\.0\.0\.1:\d+/g, "https://uptime.example.com")
        .split("\n")
        .map((line) => `> ${line}`.trimEnd()),
    );
  }

  say("pulumi up changes it back");
  await pulumi("up", "--yes", "--skip-preview", "--refresh", "--run-program");
  const { interval } = api.monitors.get(declared.id);
  check(Number(interval) === Number(declared.interval), `The interval is ${interval}.`);
  console.log(`The API has interval ${interval} again.`);

  say("The API cannot rename a domain, so a new name replaces it");
  const [old] = api.domains.all();
  await edit(...program.newName(old.name));
  await pulumi("preview", "--diff");
  await pulumi("up", "--yes", "--skip-preview");
  const names = api.domains.all().map(({ name }) => name);
  check(names.join() === `renamed-${old.name}`, `The API has the domains ${names.join(", ")}.`);

  say("pulumi destroy deletes everything");
  await pulumi("destroy", "--yes", "--skip-preview");
  const left = [...api.domains.all(), ...api.monitors.all()];
  check(left.length === 0, `Something is left in the API: ${JSON.stringify(left)}.`);
  console.log(
    [
      "",
      "Done. Nothing is left in the API, and the temporary folder is removed. Next:",
      `- Use this Pulumi ${engine.version}: export PATH="${engine.bin.join(":")}:$PATH"`,
      "- Start an emulator in another terminal, in this folder: npx --no pulumi-uptime emulator --port 8080",
      `- Create a project of your own (${wanted.yaml ? "docs/installation-configuration.md" : "README.md, First use"}). The emulator's address is`,
      "  http://127.0.0.1:8080, its key emulator-key.",
    ].join("\n"),
  );
}

/** The comment on a pull request with the program as it is now, by the commands of docs/ci.md. */
async function writeComment({ pulumi, uptime }) {
  const at = (name) => join(folder, name);
  await writeFile(at("drift.json"), await uptime(2, "drift", "--json"));
  await writeFile(at("preview.json"), await pulumi("preview", "--json", "--show-replacement-steps"));
  const files = ["--preview", at("preview.json"), "--drift", at("drift.json")];
  const comment = await uptime(0, "comment", ...files, "--title", "prod");
  return comment.replaceAll(api.url, "https://uptime.example.com");
}

/** Writes what was printed into its place on a page, or sees that it is there. */
async function showIn(page, marker, lines) {
  const path = join(root, page);
  const present = await readFile(path, "utf8");
  const ignored = (mark) => `<!-- prettier-ignore-${mark} -->`;
  const shown = between(page, present, marker, [ignored("start"), ...lines, ignored("end")].join("\n"));
  if (!wanted.check) await writeFile(path, shown);
  else
    check(
      isDeepStrictEqual(changesIn(present), changesIn(shown)),
      `${page} shows something else. Run \`npm run demo -- --docs\`.`,
    );
  console.log(`${page} shows what is printed.`);
}

/** The lines of a page that show a change: what is around them, another version of the engine may say in other words. */
function changesIn(text) {
  return text.match(/^[> ]*[~+!|-] .*$/gm)?.map((line) => line.replace(/\s+/g, " "));
}

/** A project with the program that the README begins with. */
async function layReadme(project) {
  const [, source] = /^```ts\n(.*?)^```$/ms.exec(await readFile(join(root, "README.md"), "utf8")) ?? [];
  check(source, "README.md has no program.");
  await writeFile(join(project, "index.ts"), source);
  await writeFile(join(project, "package.json"), '{ "name": "monitoring", "main": "index.ts" }\n');
  await writeFile(join(project, "Pulumi.yaml"), "name: monitoring\nruntime: nodejs\n");
}

async function layProject(engine, { file, lay }) {
  const made = await newProject(engine, "demo");
  const { project } = made;
  folder = made.folder;
  await lay(project);
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  const main = join(project, file);
  console.log((await readFile(main, "utf8")).trimEnd());
  console.log(`UPTIME_BASE_URL=${api.url} UPTIME_API_KEY=${API_KEY}`);

  const env = {
    ...made.env,
    ...{ UPTIME_BASE_URL: api.url, UPTIME_API_KEY: API_KEY },
    // A test checks the types of the README's program; here each command would.
    PULUMI_NODEJS_TRANSPILE_ONLY: "true",
  };
  const run = async (expected, name, args, command, commandArgs) => {
    console.log(`$ ${name} ${args.join(" ")}`);
    const child = spawn(command, commandArgs, { cwd: project, env, stdio: ["ignore", "pipe", "inherit"] });
    children.add(child);
    child.on("close", () => children.delete(child));
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    if (!args.includes("--json")) child.stdout.pipe(process.stdout, { end: false });
    const [code] = await once(child, "close");
    check(code === expected, `\`${name} ${args.join(" ")}\` ended with code ${code}.`);
    return output;
  };
  const pulumi = (...args) => {
    const how = ["--non-interactive", "--color", "never"];
    if (args[0] !== "stack") how.push("--suppress-progress");
    return run(0, "pulumi", args, "pulumi", [...args, ...how]);
  };
  const uptime = (expected, ...args) =>
    run(expected, "pulumi-uptime", args, process.execPath, [
      join(root, "dist", "provider", "cli", "main.js"),
      ...args,
    ]);
  const edit = async (before, after) => {
    const source = await readFile(main, "utf8");
    check(source.includes(before), `The program has no ${before}.`);
    console.log(`${file}: ${before} becomes ${after}`);
    await writeFile(main, source.replace(before, after));
  };
  await pulumi("stack", "init", "demo");
  return { pulumi, uptime, edit };
}

function endChildren() {
  for (const child of children) child.kill("SIGTERM");
}

function say(caption) {
  console.log(`\n── ${caption}`);
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}
