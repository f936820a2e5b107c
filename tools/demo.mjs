// `npm run demo`: the README's program from create to destroy, on the real engine, against an emulator of the API on this
// machine. State and settings are in a temporary folder that is removed at the end. With `--yaml`, the program is that of
// examples/yaml, on the provider plugin. With `--picture`, the demo ends at the preview with drift and draws
// docs/preview.svg; with `--picture --check`, it compares the two.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { clearInterval, setInterval } from "node:timers";
import { URLSearchParams } from "node:url";
import { parseArgs } from "node:util";
import { cacheRoot } from "./engine/cache.mjs";
import { engineEnv } from "./engine/env.mjs";
import { ensureLanguage } from "./engine/languages.mjs";
import { shows, stable, svgOf } from "./picture.mjs";
import { root, setup } from "./setup.mjs";

const API_KEY = "demo-key";
const picture = "docs/preview.svg";

/** The program: what it is called, how it is laid into a folder, and how the domain that it declares gets another name. */
const programs = {
  typescript: { title: "the README's program", file: "index.ts", lay: layReadme, newName: renamedLiteral },
  yaml: {
    title: "the program of examples/yaml",
    file: "Pulumi.yaml",
    lay: (project) => cp(join(root, "examples", "yaml"), project, { recursive: true }),
    newName: () => ["name: ${site}", "name: renamed-${site}"],
  },
};
/** Whoever waits wants to know that something happens. */
const patience = 5_000;
const colour = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR;
const bold = (text) => (colour ? `\u001b[1m${text}\u001b[0m` : text);
const dim = (text) => (colour ? `\u001b[2m${text}\u001b[0m` : text);

const children = new Set();
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    interrupted = true;
    endChildren();
  });
}

const wanted = options();
const folder = await mkdtemp(join(tmpdir(), "pulumi-uptime-demo-"));
try {
  await demo();
} catch (error) {
  console.error(`\n${interrupted ? "Interrupted." : `The demo failed: ${error.message}`}`);
  process.exitCode = interrupted ? 130 : 1;
} finally {
  endChildren();
  await Promise.all([...children].map((child) => once(child, "close")));
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Ends the process if they are not understood. */
function options() {
  const boolean = { type: "boolean" };
  try {
    const { values } = parseArgs({ options: { yaml: boolean, picture: boolean, check: boolean } });
    check(!values.check || values.picture, "--check compares the picture, so it needs --picture.");
    check(!values.yaml || !values.picture, "--picture is of the README's program, so it excludes --yaml.");
    return values;
  } catch (error) {
    console.error(`${error.message}\nThe options are --yaml, or --picture with or without --check.`);
    return process.exit(2);
  }
}

async function demo() {
  const program = wanted.yaml ? programs.yaml : programs.typescript;
  const { engine, isBuilt } = await step("Set up what is missing", prepare);
  const api = await step("Start an emulator of the API", startEmulator);
  const { pulumi, edit } = await layProject(engine, api, program);

  await step("The preview shows what will be created; nothing is sent yet", async () => {
    await pulumi("preview");
    check((await api.list("monitors")).length === 0, "The preview created monitors.");
  });
  await step("pulumi up creates it", async () => {
    await pulumi("up", "--yes", "--skip-preview");
    check((await api.list("monitors")).length > 0, "The API has no monitor after `up`.");
  });
  await step("A second pulumi up has nothing to do", async () => {
    await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
    console.log("No changes; --expect-no-changes would have failed.");
  });

  const [declared] = await api.list("monitors");
  const edited = declared.interval === 3600 ? 1800 : 3600;
  await step("Somebody edits the monitor by hand, outside Pulumi", () =>
    api.request("PATCH", `/api/v1/monitors/${declared.id}`, { interval: edited }),
  );
  const look = ["preview", "--refresh", "--run-program", "--diff"];
  const preview = await step("The next preview shows the drift", async () => {
    const output = await pulumi(...look);
    check(
      output.includes("interval") && output.includes(String(edited)),
      "The preview does not show the edit.",
    );
    return output;
  });
  if (wanted.picture) {
    const text = `$ pulumi ${look.join(" ")}\n${stable(preview)}`;
    return step(wanted.check ? "Compare the picture" : "Draw the picture", () =>
      (wanted.check ? compare : draw)(text, engine.version),
    );
  }
  await step("pulumi up changes it back", async () => {
    await pulumi("up", "--yes", "--skip-preview", "--refresh", "--run-program");
    const { interval } = await api.show("monitors", declared.id);
    check(
      Number(interval) === Number(declared.interval),
      `The interval is ${interval}, not ${declared.interval}.`,
    );
    console.log(`The API has interval ${interval} again.`);
  });

  const [old] = await api.list("domains");
  check(old, "The API has no domain after `up`.");
  await step("The API cannot rename a domain, so a new name replaces it", async () => {
    const renamed = `renamed-${old.name}`;
    await edit(...program.newName(old.name));
    await pulumi("preview", "--diff");
    await pulumi("up", "--yes", "--skip-preview");
    const domains = await api.list("domains");
    check(
      domains.some(({ name }) => name === renamed),
      `The API has no domain ${renamed}.`,
    );
    check(!domains.some(({ id }) => id === old.id), `The domain ${old.name} is still there.`);
  });

  await step("pulumi destroy deletes everything", () => pulumi("destroy", "--yes", "--skip-preview"));
  await step("What is left in the API", async () => {
    const left = { domains: await api.list("domains"), monitors: await api.list("monitors") };
    console.log(JSON.stringify(left, null, 2));
    check(left.domains.length + left.monitors.length === 0, "Something is left in the API.");
  });
  console.log(`\n${bold("Done.")} Nothing is left in the API, and the temporary folder is removed.`);
  console.log(nextSteps(engine, isBuilt));
}

/** Makes the clone ready. Says every few seconds what it waits for: building an engine takes minutes. */
async function prepare() {
  let doing = "Checking what is here.";
  let since = Date.now();
  let isBuilt = false;
  const log = (text) => {
    console.log(text);
    doing = text;
    since = Date.now();
    isBuilt ||= text.includes("with Go");
  };
  const ticker = setInterval(() => {
    console.log(dim(`   ${Math.round((Date.now() - since) / 1000)} s: ${doing}`));
  }, patience);
  try {
    const { engine } = await setup({ log });
    return { engine: wanted.yaml ? await ensureLanguage("yaml", { log }) : engine, isBuilt };
  } finally {
    clearInterval(ticker);
  }
}

function nextSteps(engine, isBuilt) {
  const isOurs = engine.source !== "path";
  return [
    "",
    bold("Next:"),
    isOurs
      ? `- Use this Pulumi ${engine.version}: export PATH="${engine.bin.join(":")}:$PATH"`
      : `- This was the Pulumi ${engine.version} on your PATH.`,
    "- Start an emulator in another terminal: npx pulumi-uptime emulator --port 8080",
    `- Create a project of your own (${wanted.yaml ? "docs/languages.md" : "README.md, First use"}), and point it there:`,
    "    export UPTIME_BASE_URL=http://127.0.0.1:8080 UPTIME_API_KEY=emulator-key",
    "    pulumi up",
    ...(isOurs ? [`- Remove the engine when you no longer need it: rm -r ${cacheRoot(process.env)}`] : []),
    ...(isBuilt
      ? ["- Building it filled Go's caches. Empty them, for all your Go projects: go clean -cache -modcache"]
      : []),
  ].join("\n");
}

async function draw(text, version) {
  await writeFile(join(root, picture), svgOf(text, version));
  console.log(`${picture} is written.`);
}

async function compare(text, version) {
  const isRight = shows(await readFile(join(root, picture), "utf8"), text, version);
  check(isRight, `${picture} shows something else. Run \`npm run demo -- --picture\`.`);
  console.log(`${picture} shows what is printed.`);
}

/** A project with the program that the README begins with. */
async function layReadme(project) {
  const [, source] = /^```ts\n(.*?)^```$/ms.exec(await readFile(join(root, "README.md"), "utf8")) ?? [];
  check(source, "README.md has no program.");
  await writeFile(join(project, "index.ts"), source);
  await writeFile(
    join(project, "package.json"),
    JSON.stringify({ name: "monitoring", private: true, main: "index.ts" }),
  );
  await writeFile(join(project, "Pulumi.yaml"), "name: monitoring\nruntime: nodejs\n");
}

function renamedLiteral(name) {
  return [`name: "${name}"`, `name: "renamed-${name}"`];
}

async function layProject(engine, { url }, { title, file, lay }) {
  const project = join(folder, "project");
  const folders = {
    home: join(folder, "home"),
    backend: join(folder, "state"),
    temporary: join(folder, "temporary"),
  };
  for (const path of [project, ...Object.values(folders)]) await mkdir(path);
  await lay(project);
  await symlink(join(root, "node_modules"), join(project, "node_modules"));
  const main = join(project, file);
  const edit = async (before, after) => {
    const source = await readFile(main, "utf8");
    check(source.includes(before), `The program has no ${before}.`);
    console.log(dim(`${file}: ${before} becomes ${after}`));
    await writeFile(main, source.replace(before, after));
  };

  const env = { ...engineEnv(engine, folders), UPTIME_BASE_URL: url, UPTIME_API_KEY: API_KEY };
  const pulumi = async (...args) => {
    console.log(dim(`$ pulumi ${args.join(" ")}`));
    const how = ["--non-interactive", "--color", colour ? "always" : "never"];
    if (args[0] !== "stack") how.push("--suppress-progress");
    const child = start("pulumi", [...args, ...how], { cwd: project, env });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stdout.pipe(process.stdout, { end: false });
    const [code] = await once(child, "close");
    check(code === 0, `\`pulumi ${args.join(" ")}\` ended with code ${code}.`);
    return output;
  };
  await step(`Create a project with ${title}, and a stack`, async () => {
    console.log(dim((await readFile(main, "utf8")).trimEnd()));
    console.log(dim(`UPTIME_BASE_URL=${url} UPTIME_API_KEY=${API_KEY}`));
    await pulumi("stack", "init", "demo");
  });
  return { pulumi, edit };
}

/** Starts the emulator as a process of its own, and returns a client of it. */
async function startEmulator() {
  const cli = join(root, "dist", "provider", "emulator", "cli.js");
  const child = start(process.execPath, [cli, "--port", "0", "--api-key", API_KEY]);
  let url;
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    url = /http:\/\/\S+/.exec(line)?.[0];
    if (url) break;
  }
  check(url, "The emulator did not start.");
  const request = async (method, path, fields) => {
    const body = fields && new URLSearchParams(fields);
    if (body) console.log(dim(`${method} ${url}${path}  ${body}`));
    const headers = { Accept: "application/json", Authorization: `Bearer ${API_KEY}` };
    const response = await fetch(url + path, { method, headers, body });
    check(response.ok, `${method} ${path} was answered ${response.status}: ${await response.clone().text()}`);
    return response.json();
  };
  const unwrap = (answer) => answer.data ?? answer;
  return {
    url,
    request,
    list: async (what) => unwrap(await request("GET", `/api/v1/${what}?sort=asc&per_page=100`)),
    show: async (what, id) => unwrap(await request("GET", `/api/v1/${what}/${id}`)),
  };
}

function start(command, args, options) {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  child.on("close", () => children.delete(child));
  return child;
}

function endChildren() {
  for (const child of children) child.kill("SIGTERM");
}

async function step(caption, action) {
  check(!interrupted, "Interrupted.");
  console.log(`\n${bold(`── ${caption}`)}`);
  const started = Date.now();
  const result = await action();
  console.log(dim(`   ${((Date.now() - started) / 1000).toFixed(1)} s`));
  return result;
}

function check(condition, message) {
  if (!condition) throw new Error(message);
}
