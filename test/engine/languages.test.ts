import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

import ts from "typescript";
import { parse } from "yaml";

import type { Emulator } from "../../provider/emulator";
import { cli } from "../support/cli";
import { canary } from "../support/canary.cjs";
import { lay } from "../support/installs";
import { examplesIn, schemaFile } from "../support/schema-examples";
import { isFull } from "../support/size";
import { changedIn, diffsIn, recordOf, startStack, yamlMonitor, yamlOf } from "../support/stack";
import type { Stack, YamlResource } from "../support/stack";
import { copyExample } from "../support/workspace";

const run = promisify(execFile);
const root = join(__dirname, "..", "..");
const program = (options = {}) => yamlOf({ home: yamlMonitor({}, options) });

/** Without the line that says where the plugin is. */
async function removePath(file: string): Promise<void> {
  await writeFile(file, (await readFile(file, "utf8")).replace(/^plugins: .*\n/m, ""));
}

/** What the schema's examples look up. */
function addFound({ domains, monitors }: Emulator): void {
  domains.add({ name: "shop.example" });
  monitors.add({ name: "shop.example", url: "https://shop.example/", interval: 60 });
}

test("Pulumi accepts the schema, which has the package's version", async () => {
  const { workspace } = await startStack({ language: "yaml" });
  await workspace.pulumi("schema", "check", schemaFile);
  const plugin = join(root, "plugin", "pulumi-resource-uptime");
  const { stdout } = await workspace.pulumi("package", "get-schema", plugin);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const { resources, functions } = JSON.parse(await readFile(schemaFile, "utf8")) as Record<string, unknown>;
  expect(JSON.parse(stdout)).toMatchObject({ version, resources, functions });
});

test("the schema's examples in YAML can be previewed", async () => {
  const { emulator, workspace } = await startStack({ language: "yaml" });
  addFound(emulator);
  const resources: Record<string, YamlResource> = {};
  const [variables, outputs] = [{}, {}];
  for (const [name, code] of examplesIn("yaml")) {
    // Each finds something, so it needs a name of its own here.
    const example = parse(code.replaceAll("found", name)) as Record<
      string,
      Record<string, unknown> | undefined
    >;
    Object.assign(resources, example.resources);
    Object.assign(variables, example.variables);
    for (const [key, value] of Object.entries(example.outputs ?? {}))
      Object.assign(outputs, { [name + key]: value });
  }
  await workspace.write(yamlOf(resources, { variables, outputs }));
  expect((await workspace.preview()).output).toContain("+ 3 to create");
});

test("an SDK from the schema's file adds nothing to Pulumi.yaml that Pulumi would look for in its registry", async () => {
  const { workspace } = await startStack({ language: "yaml", program: program() });
  const file = join(workspace.project, "Pulumi.yaml");
  const before = await readFile(file, "utf8");
  await workspace.pulumi("package", "add", schemaFile);
  expect(await readdir(join(workspace.project, "sdks"))).toEqual(["uptime"]);
  expect(await readFile(file, "utf8")).toBe(before);
  await workspace.pulumi("install", "--no-plugins");
});

test("the installed plugin is found by its version, and a missing one is named", async () => {
  const { emulator, workspace } = await startStack({ language: "yaml", program: program() });
  const file = join(workspace.project, "Pulumi.yaml");
  await removePath(file);
  const unknown = "no resource plugin 'pulumi-resource-uptime' found";
  expect(await workspace.failed("preview")).toContain(unknown);

  const installed = await cli(emulator, workspace.project, ["plugin", "install"], {
    env: workspace.env,
  });
  expect(installed).toMatchObject({ code: 0, stderr: "" });
  expect(installed.stdout).toContain("Installed the plugin uptime");
  await workspace.up();
  expect(emulator.monitors.all()).toHaveLength(1);

  await workspace.write(program({ version: "99.0.0" }));
  await removePath(file);
  const other = `${unknown} in the workspace at version v99.0.0`;
  expect(await workspace.failed("preview")).toContain(other);
});

/** Programs in a language, from nothing to nothing, with the SDK that Pulumi generates from the schema. */
async function liveThrough({ emulator, workspace }: Stack, programOf: (interval: number) => string) {
  const accounts = { eu: { baseUrl: emulator.url, apiKey: emulator.apiKey } };
  await workspace.setConfig({ "uptime:accounts": { value: JSON.stringify(accounts), secret: true } });
  await workspace.write(programOf(60));
  await workspace.preview();
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([
    { name: "Home", interval: 60, alert_condition: "url_text", alert_channel_ids: [1, 2] },
  ]);
  expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
  expect(await workspace.outputs()).toMatchObject({ id: "1", found: 1 });
  await workspace.preview("--expect-no-changes");
  await workspace.write(programOf(300));
  expect(changedIn(diffsIn((await workspace.preview("--diff")).output).home)).toEqual(["interval"]);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ interval: 300 }]);
  expect(await workspace.outputs()).toMatchObject({ seen: "Home" });
  emulator.monitors.edit(1, { interval: 900 });
  await workspace.refresh();
  expect((await workspace.resources()).home?.inputs).toMatchObject({ interval: 900 });
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ interval: 300 }]);
  await workspace.destroy();
  expect([...emulator.monitors.all(), ...emulator.domains.all()]).toEqual([]);
}

/** Writes the SDK of a language into a folder, as `pulumi package add` does with a language host that can. */
async function generate(bin: readonly string[], language: string, folder: string): Promise<void> {
  await run(join(bin[0] ?? "", "pulumi-uptime-codegen"), [schemaFile, language, folder]);
}

/** A project in Python, with the SDK installed as `pulumi package add` and `pulumi install` do. */
async function startPython(): Promise<Stack> {
  const { ensureLanguage } = await import("../../tools/engine/languages.mjs");
  const { bin } = await ensureLanguage("python", { log: console.warn });
  const tools = join(root, "node_modules", ".cache", "pulumi-uptime-python");
  const stack = await startStack({ language: "python" });
  const { workspace } = stack;
  workspace.env.PATH = [join(tools, "bin"), ...bin, process.env.PATH].join(delimiter);
  await rm(tools, { recursive: true, force: true });
  await run("python3", ["-m", "venv", tools]);
  const sdk = join(workspace.project, "sdks", "uptime");
  await generate(bin, "python", sdk);
  const requirements = join(root, "examples", "python", "requirements.txt");
  await run(join(tools, "bin", "pip"), ["install", "--quiet", "-r", requirements, sdk]);
  return stack;
}

/** A project in Go with the SDK, the SDK's module, and what brings the modules that a program needs. */
async function startGo(): Promise<{ stack: Stack; module: string; tidy: () => Promise<unknown> }> {
  const { ensureLanguage } = await import("../../tools/engine/languages.mjs");
  const { bin } = await ensureLanguage("go", { log: console.warn });
  const stack = await startStack({ language: "go" });
  const { workspace } = stack;
  const sdk = join(workspace.project, "sdk");
  await generate(bin, "go", sdk);
  const module = /^module (\S+)$/m.exec(await readFile(join(sdk, "go.mod"), "utf8"))?.[1] ?? "";
  await writeFile(
    join(workspace.project, "go.mod"),
    `module workspace\n\ngo 1.25\n\nrequire (\n\t${module} v0.0.0\n\tgithub.com/pulumi/pulumi/sdk/v3 v3.250.0\n)\n\n` +
      `replace ${module} => ./sdk\n`,
  );
  const env = { ...process.env, GOFLAGS: "" };
  return { stack, module, tidy: () => run("go", ["mod", "tidy"], { cwd: workspace.project, env }) };
}

/** A project in Java that Maven builds, with the SDK's sources beside its own and the dependencies that the SDK names. */
async function startJava(): Promise<{ stack: Stack; addPackage: string }> {
  const { ensureLanguage } = await import("../../tools/engine/languages.mjs");
  const { bin } = await ensureLanguage("java", { log: console.warn });
  const stack = await startStack({ language: "java" });
  const { project } = stack.workspace;
  const sdk = join(project, "sdk");
  await run(join(bin[0] ?? "", "pulumi-uptime-codegen"), [schemaFile, "java", sdk]);
  await cp(join(sdk, "src"), join(project, "src"), { recursive: true });
  const gradle = await readFile(join(sdk, "build.gradle"), "utf8");
  const group = /^group = "(.*)"$/m.exec(gradle)?.[1] ?? "";
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const dependencies = [...gradle.matchAll(/implementation\("(.+):(.+):(.+)"\)/g)].map(
    ([, group = "", artifact = "", version = ""]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
  );
  // The SDK's own build, which is Gradle's, writes the two resources too.
  const resources = join("src", "main", "resources", ...group.split("."), "uptime");
  lay(project, {
    [join(resources, "version.txt")]: version,
    [join(resources, "plugin.json")]: { resource: true, name: "uptime", version },
    "pom.xml": `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>workspace</groupId><artifactId>workspace</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>${dependencies.join("")}</dependencies>
  <build><plugins><plugin>
    <groupId>org.codehaus.mojo</groupId><artifactId>exec-maven-plugin</artifactId><version>3.5.0</version>
    <configuration><mainClass>App</mainClass></configuration>
  </plugin></plugins></build>
</project>
`,
  });
  return { stack, addPackage: `${group}.uptime` };
}

if (isFull) {
  test("a program in YAML uses a component that is written in TypeScript", async () => {
    const { emulator, workspace } = await startStack({ language: "yaml" });
    const folder = join(workspace.project, "watched");
    const source = `import * as pulumi from "@pulumi/pulumi";
import { componentProviderHost } from "@pulumi/pulumi/provider/experimental";
import { Monitor } from "pulumi-uptime/native";

export interface WatchedArgs {
  url: pulumi.Input<string>;
}

export class Watched extends pulumi.ComponentResource {
  public readonly interval: pulumi.Output<number>;

  constructor(name: string, args: WatchedArgs, options?: pulumi.ComponentResourceOptions) {
    super("watched:index:Watched", name, {}, options);
    this.interval = new Monitor(name, { name, url: args.url, interval: 60 }, { parent: this }).interval;
    this.registerOutputs({ interval: this.interval });
  }
}

void componentProviderHost({ name: "watched", components: [Watched] });
`;
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS };
    lay(folder, {
      "package.json": { name: "watched", version: "1.0.0", main: "index.js" },
      // Pulumi reads the component's inputs and outputs from its types.
      "tsconfig.json": { compilerOptions: { strict: true, skipLibCheck: true } },
      "index.ts": source,
      "index.js": ts.transpileModule(source, { compilerOptions }).outputText,
      // The engine's own way to start the package needs a newer language host than the one in a Go module.
      "pulumi-resource-watched": `#!/bin/sh\nexec node "\${0%/*}/index.js" "$@"\n`,
    });
    await chmod(join(folder, "pulumi-resource-watched"), 0o755);
    await symlink(join(workspace.project, "node_modules"), join(folder, "node_modules"));

    const programOf = (url: string) =>
      yamlOf(
        { shop: { type: "watched:index:Watched", properties: { url } } },
        { packages: { watched: "./watched" }, outputs: { interval: "${shop.interval}" } },
      );
    await workspace.write(programOf("https://shop.example/"));
    await workspace.up();
    expect(emulator.monitors.all()).toMatchObject([{ name: "shop", url: "https://shop.example/" }]);
    expect(await workspace.outputs()).toEqual({ interval: 60 });
    await workspace.up("--refresh", "--expect-no-changes");
    await workspace.write(programOf("https://www.shop.example/"));
    await workspace.up();
    expect(emulator.monitors.all()).toMatchObject([{ url: "https://www.shop.example/" }]);
    await workspace.destroy();
    expect(emulator.monitors.all()).toEqual([]);
  });

  test("a program in Python creates, updates, refreshes and destroys, and the schema's examples can be previewed", async () => {
    const stack = await startPython();
    await liveThrough(
      stack,
      (interval) => `import pulumi
import pulumi_uptime as uptime

home = uptime.Monitor("home", name="Home", url="https://example.com/", interval=${interval},
    alert_condition=uptime.MonitorAlertCondition.URL_TEXT, alert_text_lookup="ok", alert_channel_ids=[1, 2],
    request_headers=[uptime.RequestHeaderArgs(key="X-Probe", value="${canary("python-header")}")])
uptime.Domain("shop", name="shop.example")
pulumi.export("id", home.id)
pulumi.export("seen", uptime.Monitor.get("seen", home.id, account="eu").name)
pulumi.export("found", uptime.get_monitors_output(name=home.name).monitors.apply(len))
`,
    );
    addFound(stack.emulator);
    await stack.workspace.write([...examplesIn("python").values()].join("\n"));
    expect((await stack.workspace.preview()).output).toContain("+ 3 to create");
  });

  test("a copy of examples/python runs", async () => {
    const { emulator, workspace } = await startPython();
    await copyExample("python", workspace.project);
    // A stack belongs to a project, and the copied one has a name of its own.
    await workspace.pulumi("stack", "init", "dev");
    expect((await workspace.preview()).output).toContain("+ 4 to create");
    await workspace.up();
    expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
    expect(emulator.monitors.size).toBe(2);
    const text = { alert_condition: "url_no_text", alert_text_lookup: "Pay now" };
    expect(recordOf(emulator.monitors, "Checkout")).toMatchObject({ interval: 60, ...text });
    expect(recordOf(emulator.monitors, "Home page")).toMatchObject({ interval: 300, ssl_alert_days: 14 });
    await workspace.preview("--expect-no-changes");
    await workspace.destroy();
    expect(emulator.monitors.all()).toEqual([]);
  });

  test("a program in Go creates, updates, refreshes and destroys", async () => {
    const { stack, module, tidy } = await startGo();
    const goProgram = (interval: number) => `package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"${module}/uptime"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		home, err := uptime.NewMonitor(ctx, "home", &uptime.MonitorArgs{
			Name: pulumi.String("Home"), Url: pulumi.String("https://example.com/"), Interval: pulumi.Int(${interval}),
			AlertCondition: uptime.MonitorAlertCondition_Url_text, AlertTextLookup: pulumi.String("ok"),
			AlertChannelIds: pulumi.IntArray{pulumi.Int(1), pulumi.Int(2)},
			RequestHeaders: uptime.RequestHeaderArray{
				uptime.RequestHeaderArgs{Key: pulumi.String("X-Probe"), Value: pulumi.String("${canary("go-header")}")},
			},
		})
		if err != nil {
			return err
		}
		if _, err := uptime.NewDomain(ctx, "shop", &uptime.DomainArgs{Name: pulumi.String("shop.example")}); err != nil {
			return err
		}
		ctx.Export("id", home.ID())
		seen, err := uptime.GetMonitor(ctx, "seen", home.ID(), &uptime.MonitorState{Account: pulumi.String("eu")})
		if err != nil {
			return err
		}
		ctx.Export("seen", seen.Name)
		found := uptime.GetMonitorsOutput(ctx, uptime.GetMonitorsOutputArgs{Name: home.Name.ToStringPtrOutput()})
		ctx.Export("found", found.Monitors().ApplyT(func(all []uptime.MonitorResult) int { return len(all) }))
		return nil
	})
}
`;
    await stack.workspace.write(goProgram(60));
    for (const [name, code] of examplesIn("go")) {
      await mkdir(join(stack.workspace.project, name));
      await writeFile(join(stack.workspace.project, name, "main.go"), code);
    }
    await tidy();
    // The schema's examples compile.
    await run("go", ["vet", "./..."], { cwd: stack.workspace.project, env: { ...process.env, GOFLAGS: "" } });
    await liveThrough(stack, goProgram);
  });

  test("a program in Java creates, updates, refreshes and destroys, also in an account of a provider whose key is secret, and the schema's examples compile", async () => {
    const { stack, addPackage } = await startJava();
    await liveThrough(
      stack,
      (interval) => `import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import com.pulumi.resources.CustomResourceOptions;
import ${addPackage}.*;
import ${addPackage}.inputs.*;

public class App {
  public static void main(String[] args) {
    Pulumi.run(ctx -> {
      // A known secret key is in the provider's inputs as JSON text with a mark.
      var key = Output.ofSecret(System.getenv("UPTIME_API_KEY"));
      var provider = new Provider("own", ProviderArgs.builder().timeoutSeconds(20).maxRetries(3)
          .accounts(java.util.Map.of("own", AccountArgs.builder().apiKey(key).build())).build());
      var home = new Monitor("home", MonitorArgs.builder()
          .name("Home").url("https://example.com/").interval(${interval})
          .alertCondition("url_text").alertTextLookup("ok").alertChannelIds(1, 2).account("own")
          .requestHeaders(RequestHeaderArgs.builder().key("X-Probe").value("${canary("java-header")}").build())
          .build(), CustomResourceOptions.builder().provider(provider).build());
      new Domain("shop", DomainArgs.builder().name("shop.example").build());
      ctx.export("id", home.id());
      // Without a known id, Java's SDK registers a new resource.
      if (${interval} == 300) {
        var inEurope = MonitorState.builder().account("eu").build();
        ctx.export("seen", Monitor.get("seen", Output.of("1"), inEurope, CustomResourceOptions.Empty).name());
      }
      var found = UptimeFunctions.getMonitors(GetMonitorsArgs.builder().name(home.name()).build());
      ctx.export("found", found.applyValue(result -> result.monitors().size()));
    });
  }
}
`,
    );
    const { project: cwd } = stack.workspace;
    await run("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], { cwd });
    for (const [name, code] of examplesIn("java")) {
      lay(cwd, { [join(name, "App.java")]: code });
      const classes = ["lib/*", join("target", "classes")].join(delimiter);
      await run("javac", ["-d", join(name, "classes"), "-cp", classes, join(name, "App.java")], { cwd });
    }
  });
}
