// `node tools/compile.mjs`: compiles the SDK in C# that Pulumi generates from the plugin's schema, and the schema's examples. No test
// runs a program in this language. Needs `npm run build`, Go and .NET.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./engine/command.mjs";
import { ensureLanguage } from "./engine/languages.mjs";
import { readJson, root, runAsCommand } from "./shared.mjs";

const schemaFile = join(root, "plugin", "schema.json");
const timeoutSeconds = 900;

/** Compiles a program beside the SDK. */
async function compile(cwd, name, code, sdk) {
  mkdirSync(cwd);
  writeFileSync(join(cwd, "Program.cs"), code);
  writeFileSync(
    join(cwd, `${name}.csproj`),
    `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net8.0</TargetFramework>
    <Nullable>enable</Nullable>
  </PropertyGroup>
  <ItemGroup>
    <ProjectReference Include="../sdk/${sdk}" />
  </ItemGroup>
</Project>
`,
  );
  // The generator could not download a logo, so the SDK cannot be packed.
  await run("dotnet", ["build", "-p:GeneratePackageOnBuild=false"], { cwd, timeoutSeconds });
}

runAsCommand(import.meta.url, async () => {
  const { resources, functions } = readJson(schemaFile);
  const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-csharp-"));
  try {
    const { bin } = await ensureLanguage("csharp", { log: console.error });
    const generator = join(bin[0], "pulumi-uptime-codegen");
    await run(generator, [schemaFile, "csharp", join(folder, "sdk")], { timeoutSeconds });
    const sdk = readdirSync(join(folder, "sdk")).find((name) => name.endsWith(".csproj"));
    for (const [token, { description }] of Object.entries({ ...resources, ...functions })) {
      const [, code] = /```csharp\n([^]*?)```/.exec(description) ?? [];
      if (code === undefined) throw new Error(`${token} has no example in C#.`);
      const name = token.split(":").at(-1);
      await compile(join(folder, name), name, code, sdk);
      console.log(`${token} compiles.`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
