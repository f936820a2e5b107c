// `node tools/compile.mjs csharp` or `java`: compiles the SDK that Pulumi generates from the plugin's schema, and the schema's examples,
// in a language of which no test runs a program. Needs `npm run build`, Go, and .NET or a JDK with Maven.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { run } from "./engine/command.mjs";
import { ensureLanguage } from "./engine/languages.mjs";
import { root, runAsCommand } from "./main.mjs";

const schemaFile = join(root, "plugin", "schema.json");
const timeoutSeconds = 900;

/** How each language compiles an SDK, and returns what compiles an example beside it. */
const compilers = {
  async csharp(folder) {
    const project = readdirSync(join(folder, "sdk")).find((name) => name.endsWith(".csproj"));
    return async (name, code) => {
      lay(join(folder, name, "Program.cs"), code);
      lay(
        join(folder, name, `${name}.csproj`),
        `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net8.0</TargetFramework>
    <Nullable>enable</Nullable>
  </PropertyGroup>
  <ItemGroup>
    <ProjectReference Include="../sdk/${project}" />
  </ItemGroup>
</Project>
`,
      );
      // The generator could not download a logo, so the SDK cannot be packed.
      await run("dotnet", ["build", "-p:GeneratePackageOnBuild=false"], {
        cwd: join(folder, name),
        timeoutSeconds,
      });
    };
  },
  async java(folder) {
    const gradle = readFileSync(join(folder, "sdk", "build.gradle"), "utf8");
    const dependencies = [...gradle.matchAll(/implementation\("(.+):(.+):(.+)"\)/g)].map(
      ([, group, artifact, version]) =>
        `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
    );
    lay(
      join(folder, "pom.xml"),
      `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>uptime</groupId>
  <artifactId>examples</artifactId>
  <version>1</version>
  <dependencies>${dependencies.join("")}</dependencies>
</project>
`,
    );
    const copy = ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"];
    await run("mvn", copy, { cwd: folder, timeoutSeconds });
    const compile = (target, classpath, files) =>
      run("javac", ["-nowarn", "-d", target, "-cp", classpath.join(delimiter), ...files], {
        cwd: folder,
        timeoutSeconds,
      });
    const sources = readdirSync(join(folder, "sdk"), { recursive: true }).filter((name) =>
      name.endsWith(".java"),
    );
    await compile(
      "classes",
      ["lib/*"],
      sources.map((name) => join("sdk", name)),
    );
    return (name, code) => {
      lay(join(folder, name, "App.java"), code);
      return compile(join(name, "classes"), ["lib/*", "classes"], [join(name, "App.java")]);
    };
  },
};

function lay(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

runAsCommand(import.meta.url, async ([language]) => {
  if (!(language in compilers)) throw new Error(`Name a language: ${Object.keys(compilers).join(" or ")}.`);
  const { resources, functions } = JSON.parse(readFileSync(schemaFile, "utf8"));
  const folder = mkdtempSync(join(tmpdir(), `pulumi-uptime-${language}-`));
  try {
    const { bin } = await ensureLanguage("untested", { log: console.error });
    const generator = join(bin[0], "pulumi-uptime-untested");
    await run(generator, [schemaFile, language, join(folder, "sdk")], { timeoutSeconds });
    const compile = await compilers[language](folder);
    for (const [token, { description }] of Object.entries({ ...resources, ...functions })) {
      const [, code] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(description) ?? [];
      if (code === undefined) throw new Error(`${token} has no example in ${language}.`);
      await compile(token.split(":").at(-1), code);
      console.log(`${token} compiles.`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
