// Where an engine can come from. Each source either answers or throws an error that says why it can't.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { copyFile, cp, rm, writeFile } from "node:fs/promises";
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

const modules = ["cli/go.mod", "cli/go.sum", "hosts/go.mod", "hosts/go.sum"].map((name) =>
  readFileSync(join(here, name), "utf8"),
);

/** The engine version that is installed where there is none: the one that tools/engine/cli/go.mod pins. */
export const pinnedVersion = new RegExp(`${CLI_PACKAGE} v(\\S+)`).exec(modules[0])[1];

const digest = createHash("sha256").update(modules.join("\0")).digest("hex").slice(0, 12);
/** Two clones share an installed engine when all that it is made from is the same. */
export const cacheKey = [pinnedVersion, process.platform, process.arch, digest].join("-");

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

/** The SHA-256 of what Pulumi publishes of that version, by platform, as its Homebrew formula of that version has them. */
const downloads = {
  "darwin-x64": "8aa1615ed737022949d4050bf183ab37bce1f9cecb88877bc6636db82604e348",
  "darwin-arm64": "dbd289ce3069cf567683252082e226aef533775f546df7286f64f3f36f5fda28",
  "linux-x64": "8916fd36ccc96adbd45ca679194b685e3b767d94502ae05610878a6d9870b8f3",
  "linux-arm64": "deb4bf0d05b4cbaf3adcf82ffa44039ad0ebf039e33338ead8136877a437b4e5",
};
/** The CLI with its language hosts, as Pulumi publishes it. */
async function installFromDownload(draft, { log }) {
  const platform = `${process.platform}-${process.arch}`;
  const sha256 = downloads[platform];
  if (!sha256) throw new Error(`No download for ${platform} is known here.`);
  log(`Downloading Pulumi ${pinnedVersion}.`);
  const name = `pulumi-v${pinnedVersion}-${platform}.tar.gz`;
  const url = `https://github.com/pulumi/pulumi/releases/download/v${pinnedVersion}/${name}`;
  const archive = join(draft, name);
  await writeFile(archive, await download(url, sha256));
  await run("tar", ["-xzf", archive, "-C", join(draft, "bin"), "--strip-components=1"], {
    timeoutSeconds: 120,
  });
  await rm(archive);
}

/** What an address has; throws unless it has this hash. */
export async function download(url, sha256) {
  // Not installed yet when this module is loaded; unlike that of Node.js 20, its `fetch` knows the variables for proxies.
  const { EnvHttpProxyAgent, fetch } = await import("undici");
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const response = await fetch(url, { dispatcher });
    if (!response.ok) throw new Error(`it responded with ${response.status}`);
    const content = Buffer.from(await response.arrayBuffer());
    const found = createHash("sha256").update(content).digest("hex");
    if (found !== sha256) throw new Error(`its SHA-256 is ${found}, not ${sha256}`);
    return content;
  } catch (error) {
    const reason = error.cause?.message ?? error.message;
    throw new Error(`${url} could not be downloaded: ${reason}.`, { cause: error });
  } finally {
    await dispatcher.close();
  }
}

/** The same CLI, and the last language host that was a Go module, built from modules whose hashes are in go.sum. */
async function installFromGo(draft, { env, log }) {
  if (!which("go", env.PATH)) throw new Error("`go` is not on PATH.");
  log(`Building Pulumi ${pinnedVersion} with Go: this takes four to ten minutes, once for this machine.`);
  const versionFlag = `-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v${pinnedVersion}`;
  await goBuild(draft, { module: "hosts", program: HOST, target: HOST_PACKAGE, ldflags: "-s -w", env });
  log("The language host is built; the CLI is next.");
  const target = `${CLI_PACKAGE}/cmd/pulumi`;
  await goBuild(draft, { module: "cli", program: CLI, target, ldflags: `-s -w ${versionFlag}`, env });
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

const fillers = { download: installFromDownload, go: installFromGo };

/** Puts a whole, working engine into `<draft>/bin`. */
export async function fillFrom(source, draft, { env, log }) {
  await fillers[source](draft, { env, log });
  const bin = join(draft, "bin");
  // The engine warns of a plugin that is elsewhere on PATH, in every preview; beside the CLI it counts as its own.
  if (!isExecutable(join(bin, PLUGIN))) await copyFile(join(sdk, PLUGIN), join(bin, PLUGIN));
  await versionOf(join(bin, CLI), env);
  if (!isExecutable(join(bin, HOST))) throw new Error(`\`${HOST}\` was not in what was installed.`);
  // Only `bin` is kept of all that the installation needed.
  await rm(join(draft, "go"), { recursive: true, force: true });
}

/** Asked once of each CLI, because the tests look for the engine before each stack. */
const versions = new Map();

function versionOf(cli, env) {
  if (!versions.has(cli)) versions.set(cli, askVersion(cli, env));
  return versions.get(cli);
}

async function askVersion(cli, env) {
  const quiet = { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const output = await run(cli, ["version"], { env: quiet, timeoutSeconds: 60 });
  const version = /v?(\d+\.\d+\.\d+\S*)/.exec(output)?.[1];
  if (!version) throw new Error(`\`${cli} version\` printed no version, but: ${output.trim().slice(0, 200)}`);
  return version;
}
