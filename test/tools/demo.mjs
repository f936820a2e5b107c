// `npm run demo`: the whole life of a few monitors with the real engine, against an emulator of the API on this machine.
// State, settings and stack live in a temporary folder; nothing is left behind, at the API neither. With `--picture` it
// ends at the preview with drift, and writes it into docs/preview.svg; with `--picture --check` it compares the two.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { URLSearchParams } from "node:url";
import { parseArgs } from "node:util";
import { engineEnv } from "./engine/env.mjs";
import { shows, stable, svgOf } from "./picture.mjs";
import { root, setup } from "./setup.mjs";

const API_KEY = "demo-key";
const picture = "docs/preview.svg";
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

async function demo() {
  const { values: wanted } = parseArgs({
    options: { picture: { type: "boolean" }, check: { type: "boolean" } },
  });
  const { engine } = await step("What the demo needs", () => setup({ log: console.log }));
  const api = await step("An emulator of the API", startEmulator);
  const { pulumi, domain } = await layProject(engine, api);

  await step("The preview says what will be created; nothing is sent yet", async () => {
    await pulumi("preview");
    check((await api.list("monitors")).length === 0, "The preview has created monitors.");
  });
  await step("up creates it", async () => {
    await pulumi("up", "--yes", "--skip-preview");
    check((await api.list("monitors")).length > 0, "The API has no monitor after `up`.");
  });
  await step("A second up has nothing to do", async () => {
    await pulumi("up", "--yes", "--skip-preview", "--expect-no-changes");
    console.log("No changes, as --expect-no-changes has checked.");
  });

  const [declared] = await api.list("monitors");
  const edited = declared.interval === 3600 ? 1800 : 3600;
  await step("Somebody edits a monitor by hand, past Pulumi", () =>
    api.request("PATCH", `/api/v1/monitors/${declared.id}`, { interval: edited }),
  );
  const preview = await step("The drift is seen in the next preview", async () => {
    const output = await pulumi("preview", "--refresh", "--diff");
    check(
      output.includes("interval") && output.includes(String(edited)),
      "The preview doesn't show the edit.",
    );
    return output;
  });
  if (wanted.picture) {
    const text = `$ pulumi preview --refresh --diff\n${stable(preview)}`;
    return step("The picture of it", () => (wanted.check ? compare : draw)(text, engine.version));
  }
  await step("up sets it back", async () => {
    await pulumi("up", "--yes", "--skip-preview", "--refresh");
    const { interval } = await api.show("monitors", declared.id);
    check(
      Number(interval) === Number(declared.interval),
      `The interval is ${interval}, not ${declared.interval}.`,
    );
    console.log(`The API has interval ${interval} again.`);
  });

  const [old] = (await api.list("domains")).filter(({ name }) => name === domain.first);
  check(old, `There is no domain ${domain.first} at the API.`);
  await step("A domain's name can't be changed, so a new name replaces it", async () => {
    await pulumi("config", "set", "domain", domain.second);
    await pulumi("preview", "--diff");
    await pulumi("up", "--yes", "--skip-preview");
    const domains = await api.list("domains");
    check(
      domains.some(({ name }) => name === domain.second),
      `There is no domain ${domain.second} at the API.`,
    );
    check(!domains.some(({ id }) => id === old.id), `The domain ${domain.first} is still there.`);
  });

  await step("destroy deletes it all", () => pulumi("destroy", "--yes", "--skip-preview"));
  await step("What is left at the API", async () => {
    const left = { domains: await api.list("domains"), monitors: await api.list("monitors") };
    console.log(JSON.stringify(left, null, 2));
    check(left.domains.length + left.monitors.length === 0, "Something is left at the API.");
  });
  console.log(`\n${bold("Done.")} Nothing is left.`);
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

/** The project of this repository, seen from a folder of its own: Pulumi puts a stack's settings beside Pulumi.yaml. */
async function layProject(engine, { url }) {
  const at = (name) => join(folder, name);
  const project = at("project");
  const folders = { home: at("home"), backend: at("state"), temporary: at("temporary") };
  for (const path of [project, ...Object.values(folders)]) await mkdir(path);
  await copyFile(join(root, "Pulumi.yaml"), join(project, "Pulumi.yaml"));
  for (const name of ["examples", "node_modules", "package.json"])
    await symlink(join(root, name), join(project, name));

  const env = { ...engineEnv(engine, folders), UPTIME_BASE_URL: url, UPTIME_API_KEY: API_KEY };
  const pulumi = async (...args) => {
    console.log(dim(`$ pulumi ${args.join(" ")}`));
    const how = ["--non-interactive", "--color", colour ? "always" : "never"];
    if (args[0] !== "stack" && args[0] !== "config") how.push("--suppress-progress");
    const child = start("pulumi", [...args, ...how], { cwd: project, env });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stdout.pipe(process.stdout, { end: false });
    const [code] = await once(child, "close");
    check(code === 0, `\`pulumi ${args.join(" ")}\` ended with code ${code}.`);
    return output;
  };
  const domain = { first: "demo.example.com", second: "renamed.example.com" };
  await step("A stack of its own, its state in a temporary folder", async () => {
    console.log(dim(`UPTIME_BASE_URL=${url} UPTIME_API_KEY=${API_KEY}`));
    await pulumi("stack", "init", "demo");
    await pulumi("config", "set", "domain", domain.first);
  });
  return { pulumi, domain };
}

/** Starts the emulator as a process of its own, and answers with a client of it. */
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
