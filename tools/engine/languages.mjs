// Language hosts and SDK generators that only some tests need, beside the engine.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { chmod, copyFile, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheRoot, install, readInstalled } from "./cache.mjs";
import { run, which, withProgress } from "./command.mjs";
import { ensureEngine } from "./install.mjs";
import { goBuild } from "./sources.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const SDK = "github.com/pulumi/pulumi/sdk/v3";

const codegen = { module: "codegen", target: "." };

/** What makes each language work: programs of Go modules in this folder. The hosts for Python and Go cannot generate SDKs. */
const languages = {
  yaml: [{ module: "codegen", target: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml" }],
  python: [{ module: "hosts", target: `${SDK}/python/cmd/pulumi-language-python` }, codegen],
  go: [{ module: "hosts", target: `${SDK}/go/pulumi-language-go` }, codegen],
  java: [
    { module: "codegen", target: "github.com/pulumi/pulumi-java/pkg/cmd/pulumi-language-java" },
    codegen,
  ],
  // Its language host is no Go module that can be had, so its SDK is only compiled.
  csharp: [codegen],
};

/**
 * An engine that runs programs in a language: the user's own if it can, else one that is installed once for this machine.
 * @param {keyof languages} language
 * @param {import("./install.mjs").Options} [options]
 * @returns {Promise<import("./install.mjs").Engine>}
 */
export async function ensureLanguage(language, { log = () => undefined, env = process.env } = {}) {
  const programs = languages[language];
  if (!programs)
    throw new Error(`No language ${language} is known here, only ${Object.keys(languages).join(", ")}.`);
  const engine = await ensureEngine({ log, env });
  const path = [...engine.bin, env.PATH].join(delimiter);
  if (programs.every((program) => which(nameOf(program), path))) return engine;
  const folder = join(cacheRoot(env), `${language}-${keyOf(engine, programs)}`);
  const earlier = await readInstalled(folder);
  if (earlier) return earlier;
  log(`Building what Pulumi needs for ${language} with Go: this takes some minutes, once for this machine.`);
  const build = async (draft) => {
    for (const program of programs)
      await goBuild(draft, { ...program, program: nameOf(program), ldflags: "-s -w", env });
    if (language === "python") await copyPythonRunner(draft, env);
    await rm(join(draft, "go"), { recursive: true, force: true });
    // The engine warns of a host that is elsewhere on PATH, in every preview; beside the CLI it counts as its own.
    for (const bin of engine.bin)
      for (const name of readdirSync(bin))
        if (name.startsWith("pulumi")) await copyFile(join(bin, name), join(draft, "bin", name));
  };
  const installed = { version: engine.version, source: "go" };
  return install(folder, installed, (draft) => withProgress(log, () => build(draft)));
}

function nameOf({ module, target }) {
  return target === "." ? `pulumi-uptime-${module}` : target.split("/").at(-1);
}

function keyOf({ version }, programs) {
  const hash = createHash("sha256").update(version);
  for (const { module } of programs)
    for (const name of readdirSync(join(here, module)).sort())
      hash.update(readFileSync(join(here, module, name)));
  return [version, process.platform, process.arch, hash.digest("hex").slice(0, 12)].join("-");
}

/** The host runs programs through a script that is beside its source. */
async function copyPythonRunner(draft, env) {
  const cwd = join(draft, "go", "hosts");
  const output = await run("go", ["list", "-m", "-f", "{{.Dir}}", SDK], { cwd, env, timeoutSeconds: 300 });
  const name = "pulumi-language-python-exec";
  await copyFile(join(output.trim(), "python", "cmd", name), join(draft, "bin", name));
  await chmod(join(draft, "bin", name), 0o755);
}
