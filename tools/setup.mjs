// What a fresh clone needs before anything else here works: packages, the build, and an engine. Each only when missing.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import canaries from "../test/support/canary.cjs";
import { withProgress } from "./engine/command.mjs";
import { enginePath } from "./engine/env.mjs";
import { ensureEngine } from "./engine/install.mjs";
import { readJson, readManifest, root, runAsCommand } from "./shared.mjs";

const { LeakWatch } = canaries;
const built = join(root, "dist", "provider", "index.js");
const plugin = join(root, "plugin", "provider.cjs");
const stamp = join(root, "dist", ".sources");

/** Throws if this version of Node.js runs neither the tools nor the package. */
function assertNode() {
  const { node: version } = process.versions;
  const least = readManifest().engines.node.replace(">=", "");
  if (version.localeCompare(least, "en", { numeric: true }) < 0)
    throw new Error(`Node.js ${version} is too old: install ${least} or later.`);
}

/** Installs what the lockfile says, unless that is there. */
export async function installPackages({ log }) {
  if (packagesAreInstalled()) return;
  log("Installing packages (npm ci), which may take some minutes.");
  // Also where NODE_ENV is "production": the tests and the build are made of development packages.
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  await withProgress(log, () => runStep("npm", args));
}

/** Makes the clone ready and returns the engine, and the environment in which it is on PATH. */
export async function setup({ log }) {
  assertNode();
  await installPackages({ log });
  const sources = hashOfSources();
  if (!isBuiltFrom(sources)) {
    log("Building (npm run build).");
    rmSync(stamp, { force: true });
    await withProgress(log, () => runStep("npm", ["run", "--silent", "build"]));
    writeFileSync(stamp, sources);
  }
  const engine = await ensureEngine({ log });
  log(`Pulumi ${engine.version} (${engine.source}).`);
  return { engine, env: { ...process.env, PATH: enginePath(engine, process.env.PATH) } };
}

/** Runs a program with its output shown; rejects when it fails, and when it prints what a test keeps secret. */
export function runStep(command, args, { env = process.env } = {}) {
  return new Promise((resolve, reject) => {
    // The command writes into a pipe, where it would find no terminal.
    const color = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
    const stdio = ["inherit", "pipe", "pipe"];
    const child = spawn(command, args, { cwd: root, env: { ...color, ...env }, stdio });
    const leaks = new Set();
    for (const name of ["stdout", "stderr"]) {
      const watch = new LeakWatch();
      child[name].setEncoding("utf8").on("data", (text) => {
        process[name].write(text);
        watch.add(text);
        for (const leak of watch.leaks) leaks.add(leak);
      });
    }
    child.on("error", (error) => reject(new Error(`\`${command}\` could not be started: ${error.message}`)));
    child.on("close", (code, signal) => {
      const line = [command, ...args].join(" ");
      if (leaks.size > 0) reject(new Error(`\`${line}\` printed secrets: ${[...leaks].join(", ")}.`));
      else if (code === 0) resolve();
      else reject(new Error(`\`${line}\` ended with ${signal ?? `code ${code}`}.`));
    });
  });
}

// npm keeps a record of what is installed. File times tell nothing after a clone or a checkout.
function packagesAreInstalled() {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = readLock("package-lock.json");
  const present = readLock(record);
  // A package for another platform is in the lockfile only.
  const missing = [...wanted].some(([path, { optional, text }]) => {
    const found = present.get(path);
    return found ? found.text !== text : !optional;
  });
  return !missing && [...present.keys()].every((path) => wanted.has(path));
}

function readLock(file) {
  const { packages } = readJson(file);
  const entries = Object.entries(packages).filter(([path]) => path.startsWith("node_modules/"));
  return new Map(
    entries.map(([path, { version, integrity, link, optional, devOptional }]) => [
      path,
      { optional: Boolean(optional || devOptional), text: JSON.stringify({ version, integrity, link }) },
    ]),
  );
}

function isBuiltFrom(sources) {
  if (![built, plugin, stamp].every((file) => existsSync(file))) return false;
  // A build by hand is newer than the stamp, and may be of other sources.
  return readFileSync(stamp, "utf8") === sources && statSync(built).mtimeMs <= statSync(stamp).mtimeMs;
}

/** Of the files that `npm run build` reads, or compares with what it would write. */
function hashOfSources() {
  const filesIn = (folder, recursive) =>
    readdirSync(join(root, folder), { recursive, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  const paths = [
    ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"],
    join(".github", "node-versions.json"),
    ...filesIn("provider", true),
    ...filesIn("tools", false),
    ...filesIn("docs", false),
  ];
  const hash = createHash("sha256");
  for (const path of paths.sort()) hash.update(`${path}\0${readFileSync(join(root, path), "utf8")}\0`);
  return hash.digest("hex");
}

runAsCommand(import.meta.url, () => setup({ log: console.log }));
