import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { delimiter, join } from "node:path";

import { canary } from "../support/canary.cjs";
import type { Result } from "../support/processes";
import { namesIn, startStack, yamlDomain, yamlMonitor, yamlOf, type Stack } from "../support/stack";
import { compileExample, copyExample, type Workspace } from "../support/workspace";

const repository = join(__dirname, "..", "..");
const examples = join(repository, "examples");
/** Each project, and what it is written in. Python needs an SDK, so languages.test.ts runs that one. */
const projects = { quickstart: "ts", team: "ts", fleet: "ts", yaml: "yaml", python: "python" } as const;
const programs = { ts: "index.ts", yaml: "Pulumi.yaml", python: "__main__.py" };

test("each example has a manifest, a project file, a .gitignore and a page", () => {
  // examples/ci and examples/policy are for projects that exist.
  expect(fs.readdirSync(examples).sort()).toEqual([...Object.keys(projects), "ci", "policy"].sort());
  for (const [name, language] of Object.entries(projects)) {
    const files = ["package.json", "Pulumi.yaml", ".gitignore", "README.md", programs[language]];
    if (language === "ts") files.push("tsconfig.json");
    expect(files.filter((file) => !fs.existsSync(join(examples, name, file)))).toEqual([]);
    const { dependencies } = JSON.parse(fs.readFileSync(join(examples, name, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const sdk = language === "ts" ? ["@pulumi/pulumi"] : [];
    expect(Object.keys(dependencies).sort()).toEqual([...sdk, "pulumi-uptime"]);
  }
});

/** A preview with examples/policy, which reports what it refuses. */
async function previewWithPolicies(
  workspace: Workspace,
  settings: Record<string, unknown> = {},
): Promise<Result & { refused: Record<string, string[]> }> {
  const { which } = await import("../../tools/engine/command.mjs");
  const folder = join(workspace.project, "policy");
  await copyExample("policy", folder);
  // test/package/policy.test.ts runs it as it is.
  await compileExample(folder);
  fs.symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  fs.writeFileSync(join(folder, "config.json"), JSON.stringify(settings));
  let { PATH = "" } = workspace.env;
  if (!which("pulumi-analyzer-policy", PATH)) {
    // The language host that is a Go module cannot start packs. The SDK's own runner can, as the analyzer of another runtime.
    const runner = join(repository, "node_modules", "@pulumi", "pulumi", "cmd", "run-policy-pack");
    const bin = join(folder, "bin");
    fs.mkdirSync(bin);
    const script = `#!/bin/sh\nexec ${process.execPath} ${runner} "$@"\n`;
    fs.writeFileSync(join(bin, "pulumi-analyzer-policy-runner"), script, { mode: 0o755 });
    const pack = join(folder, "PulumiPolicy.yaml");
    fs.writeFileSync(pack, fs.readFileSync(pack, "utf8").replace("runtime: nodejs", "runtime: runner"));
    PATH = [bin, PATH].join(delimiter);
  }
  const options = ["--policy-pack", folder, "--policy-pack-config", join(folder, "config.json")];
  const result = await workspace.run(["preview", ...options], { env: { PATH } });
  const refused: Record<string, string[]> = {};
  for (const [, policy = "", name = ""] of result.output.matchAll(
    /- \[mandatory\] {2}(\S+) {2}\(\S+: (.*)\)$/gm,
  ))
    (refused[name] ??= []).push(policy);
  return { ...result, refused };
}

/** A copy of an example, with a stack: that belongs to a project, and the copy's has a name of its own. */
async function startCopy(name: keyof typeof projects): Promise<Stack> {
  const stack = await startStack({ language: projects[name], packages: ["@types/node"] });
  await stack.workspace.clear();
  await copyExample(name, stack.workspace.project);
  await stack.workspace.initStack("dev");
  return stack;
}

const create = /^ +\+ {2}\S*uptime\S*:Monitor \S.* create/m;

/** What examples/policy refuses of each example, by resource, where no interval is too long. */
const refusedOf = {
  quickstart: { home: ["monitor-alerts"], shop: ["domain-protected"] },
  team: {},
  yaml: { checkout: ["monitor-alerts"], domain: ["domain-protected"], home: ["monitor-alerts"] },
};

test.each(Object.keys(refusedOf) as (keyof typeof refusedOf)[])(
  "a copy of examples/%s runs, and examples/policy reports its violations",
  async (name) => {
    const { workspace } = await startCopy(name);
    const settings = { "monitor-interval": { maxInterval: 3600 } };
    const { code, output, refused } = await previewWithPolicies(workspace, settings);
    expect(refused).toEqual(refusedOf[name]);
    expect({ code, output }).toEqual({
      code: Object.keys(refused).length > 0 ? 1 : 0,
      output: expect.stringMatching(create) as string,
    });
  },
);

test("examples/policy refuses long intervals, no alerts, secrets over http and unprotected domains, but nothing unknown", async () => {
  const monitor = (more: object) => yamlMonitor({ interval: 900, alertChannelIds: [1], ...more });
  const requestHeaders = [{ key: "X-Probe", value: canary("policy-header") }];
  const basic = { requestAuthUsername: "probe", requestAuthPassword: canary("policy-password") };
  const secrets = { ...basic, requestHeaders };
  const { workspace } = await startStack({
    language: "yaml",
    program: yamlOf({
      kept: monitor(secrets),
      unknown: monitor({ alertChannelIds: "${kept.attributes.alert_channels}" }),
      rare: monitor({ interval: 1800 }),
      silent: monitor({ alertChannelIds: [] }),
      plain: monitor({ url: "HTTP://example.com/", ...secrets }),
      open: monitor({ url: "http://example.com/", requestMethod: "HEAD" }),
      guarded: yamlDomain("a.example", { protect: true }),
      loose: yamlDomain("b.example"),
    }),
  });
  const { code, output, refused } = await previewWithPolicies(workspace);
  expect({ code, refused, output }).toEqual({
    code: 1,
    refused: {
      rare: ["monitor-interval"],
      silent: ["monitor-alerts"],
      plain: ["monitor-https", "monitor-https"],
      loose: ["domain-protected"],
    },
    output,
  });
  expect(output).toContain("interval is 1800, and may be 900 at most.");
  expect(output).toContain("can't run policy 'monitor-alerts'");
});

test("`pulumi up` in a built clone runs the quickstart, and git ignores its stacks", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  const clone = workspace.project;
  for (const file of fs.readdirSync(clone)) fs.rmSync(join(clone, file), { recursive: true });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();
  for (const file of git("ls-files").split("\n"))
    if (fs.existsSync(join(repository, file))) fs.cpSync(join(repository, file), join(clone, file));
  fs.symlinkSync(join(repository, "dist"), join(clone, "dist"));
  // What `npm ci` leaves, in which the package itself is a link to the clone.
  const modules = join(repository, "node_modules");
  fs.mkdirSync(join(clone, "node_modules"));
  for (const name of fs.readdirSync(modules))
    fs.symlinkSync(name === "pulumi-uptime" ? ".." : join(modules, name), join(clone, "node_modules", name));

  await workspace.initStack("dev");
  await workspace.up();
  expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
  expect(namesIn(emulator.monitors)).toEqual(["Checkout", "Home page"]);
  const stackFile = "Pulumi.dev.yaml";
  expect(fs.readdirSync(clone)).toContain(stackFile);
  expect(git("check-ignore", stackFile)).toBe(stackFile);
});
