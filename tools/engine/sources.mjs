// Where an engine can come from. Each source either answers or throws an error that says why it can't.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { copyFile, cp, mkdir, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isExecutable, run, which } from "./command.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const sdk = join(here, "..", "..", "node_modules", "@pulumi", "pulumi");
const OLDEST = "3.200.0";
const CLI = "pulumi";
const HOST = "pulumi-language-nodejs";
const PLUGIN = "pulumi-resource-pulumi-nodejs";
const CLI_PACKAGE = "github.com/pulumi/pulumi/pkg/v3";
const HOST_PACKAGE = "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs";

const modules = ["cli/go.mod", "cli/go.sum", "host/go.mod", "host/go.sum"].map((name) =>
  readFileSync(join(here, name), "utf8"),
);

/** The engine version that is installed where there is none: the one that tools/engine/cli/go.mod pins. */
export const pinnedVersion = new RegExp(`${CLI_PACKAGE} v(\\S+)`).exec(modules[0])[1];

/** Two clones share an installed engine when all that it is made from is the same. */
export const cacheKey = [
  pinnedVersion,
  process.platform,
  process.arch,
  createHash("sha256").update(modules.join("\0")).digest("hex").slice(0, 12),
].join("-");

/** What has to be installed for the source `go` to work. */
export const goVersion = /^go (\S+)$/m.exec(modules[0])[1];

/** A CLI that the user has installed; its download brings the language hosts with it. */
export async function findOnPath(env) {
  const cli = which(CLI, env.PATH);
  if (!cli) throw new Error(`\`${CLI}\` is not on PATH.`);
  const version = await versionOf(cli, env);
  if (version.localeCompare(OLDEST, "en", { numeric: true }) < 0) {
    throw new Error(`${cli} is version ${version}; at least ${OLDEST} is needed.`);
  }
  const beside = join(dirname(realpathSync(cli)), HOST);
  const host = which(HOST, env.PATH) ?? (isExecutable(beside) ? beside : undefined);
  if (!host) throw new Error(`${cli} is there, but \`${HOST}\` is neither on PATH nor beside it.`);
  const plugin = which(PLUGIN, [env.PATH, dirname(host)].join(delimiter)) ?? join(sdk, PLUGIN);
  return { bin: [...new Set([cli, host, plugin].map((file) => dirname(file)))], version, source: "path" };
}

/** The npm package `pulumi` holds no engine: its command downloads one into PULUMI_HOME when it first runs. */
async function installFromNpm(draft, { env, log }) {
  if (!which("npm", env.PATH)) throw new Error("`npm` is not on PATH.");
  log(`Downloading Pulumi ${pinnedVersion} with the npm package \`pulumi\`.`);
  const work = join(draft, "npm");
  await mkdir(work);
  const quickly = "--ignore-scripts --no-package-lock --no-save --fetch-retries=0 --loglevel=error".split(
    " ",
  );
  const npmEnv = { ...env, PULUMI_HOME: work, PULUMI_SKIP_UPDATE_CHECK: "true" };
  delete npmEnv.PULUMI_VERSION;
  await run("npm", ["install", "--prefix", work, ...quickly, `pulumi@${pinnedVersion}`], {
    cwd: work,
    env: npmEnv,
    timeoutSeconds: 60,
  });
  const downloader = join(work, "node_modules", "pulumi", "run.js");
  await run(process.execPath, [downloader, "version"], { cwd: work, env: npmEnv, timeoutSeconds: 300 });
  await cp(join(work, "versions", pinnedVersion, "bin"), join(draft, "bin"), { recursive: true });
}

/** The same CLI, and the last language host that was a Go module, built from pinned and verified modules. */
async function installFromGo(draft, { env, log }) {
  if (!which("go", env.PATH)) throw new Error("`go` is not on PATH.");
  log(`Building Pulumi ${pinnedVersion} with Go: this takes four to ten minutes, once for this machine.`);
  const versionFlag = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${pinnedVersion}`;
  await goBuild(draft, { module: "host", program: HOST, target: HOST_PACKAGE, ldflags: "-s -w", env });
  log("The language host is built; the CLI is next.");
  await goBuild(draft, {
    module: "cli",
    program: CLI,
    target: `${CLI_PACKAGE}/cmd/pulumi`,
    ldflags: `-s -w ${versionFlag}`,
    env,
  });
}

/** Builds a program of a pinned Go module of this folder into `<draft>/bin`. */
export async function goBuild(draft, { module, program, target, ldflags, env }) {
  // A copy, since Go may write to a module's folder, and a checkout is not ours to write to.
  const source = join(draft, "go", module);
  await cp(join(here, module), source, { recursive: true });
  const flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", ldflags];
  await run("go", ["build", ...flags, "-o", join(draft, "bin", program), target], {
    cwd: source,
    env: { ...env, CGO_ENABLED: "0", GOFLAGS: "", GOWORK: "off" },
    timeoutSeconds: 1800,
  });
}

const fillers = { npm: installFromNpm, go: installFromGo };

/** Puts a whole, working engine into `<draft>/bin`. */
export async function fillFrom(source, draft, { env, log }) {
  await fillers[source](draft, { env, log });
  const bin = join(draft, "bin");
  // The engine warns of a plugin that is elsewhere on PATH, in every preview; beside the CLI it counts as its own.
  if (!isExecutable(join(bin, PLUGIN))) await copyFile(join(sdk, PLUGIN), join(bin, PLUGIN));
  await versionOf(join(bin, CLI), env);
  if (!isExecutable(join(bin, HOST))) throw new Error(`\`${HOST}\` was not in what was installed.`);
  // Only `bin` is kept of all that the installation needed.
  for (const name of ["npm", "go"]) await rm(join(draft, name), { recursive: true, force: true });
}

/** Asked once of each CLI, because the tests look for the engine before each stack. */
const versions = new Map();

function versionOf(cli, env) {
  if (!versions.has(cli)) versions.set(cli, askVersion(cli, env));
  return versions.get(cli);
}

async function askVersion(cli, env) {
  const output = await run(cli, ["version"], {
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    timeoutSeconds: 60,
  });
  const version = /v?(\d+\.\d+\.\d+\S*)/.exec(output)?.[1];
  if (!version) throw new Error(`\`${cli} version\` printed no version, but: ${output.trim().slice(0, 200)}`);
  return version;
}
