import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(__dirname, "..", "..");

/** The rules that the check of imports finds broken in these files, as `rule: file`. */
function violationsIn(files: Record<string, string>): string[] {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-uptime-imports-")));
  try {
    for (const name of [".dependency-cruiser.cjs", "tsconfig.json", "package.json"])
      copyFileSync(join(root, name), join(project, name));
    symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(project, name)), { recursive: true });
      writeFileSync(join(project, name), content);
    }
    const bin = join(root, "node_modules", "dependency-cruiser", "bin", "dependency-cruise.mjs");
    const args = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "provider", "test"];
    const { stdout } = spawnSync(process.execPath, [bin, ...args], { cwd: project, encoding: "utf8" });
    const { summary } = JSON.parse(stdout) as {
      summary: { violations: { from: string; rule: { name: string } }[] };
    };
    return summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`).sort();
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

const allowed = {
  "provider/definitions/field.ts":
    'import type { Input } from "@pulumi/pulumi";\nexport type A = Input<string>;\n',
  "provider/definitions/escapes.ts": 'export { decodeHTML } from "entities";\n',
  "provider/api/client.ts":
    'export { request } from "undici";\nexport type { A } from "../definitions/field";\n',
  "provider/lifecycle/lifecycle.ts": 'export { request } from "../api/client";\n',
  "provider/engine/dynamic.ts":
    'export { request } from "../lifecycle/lifecycle";\nexport { Config } from "@pulumi/pulumi";\n',
  "provider/index.ts": 'export { request } from "./engine/dynamic";\n',
  "provider/cli/main.ts":
    'export { request } from "../engine/dynamic";\nexport const run = () => require("../emulator/cli") as unknown;\n',
  "provider/emulator/cli.ts": 'export { createServer } from "node:http";\n',
  "test/unit/a.test.ts": 'import "../../provider/cli/main";\nimport "fast-check";\n',
};

test("imports that go down the floors break no rule", () => {
  expect(violationsIn(allowed)).toEqual([]);
});

test("an import that goes up, sideways, round in a circle or out of what ships breaks a rule", () => {
  const files = {
    ...allowed,
    "provider/definitions/up.ts": 'export type { request } from "../api/client";\n',
    "provider/definitions/pulumi.ts": 'export { Config } from "@pulumi/pulumi";\n',
    "provider/definitions/zod.ts": 'export { z } from "zod";\n',
    "provider/definitions/undici.ts": 'export const load = () => require("undici") as unknown;\n',
    "provider/api/up.ts": 'export { request } from "../lifecycle/lifecycle";\n',
    "provider/lifecycle/up.ts": 'export { request } from "../engine/dynamic";\n',
    "provider/lifecycle/pulumi.ts":
      'import type { Input } from "@pulumi/pulumi";\nexport type B = Input<string>;\n',
    "provider/engine/up.ts": 'export { run } from "../cli/main";\n',
    "provider/engine/entry.ts": 'export { request } from "../index";\n',
    "provider/sdk/lookups.ts": 'export { run } from "./cli/main";\n',
    "provider/cli/emulator.ts": 'export { other } from "../emulator/other";\n',
    "provider/emulator/other.ts": 'export { request as other } from "../api/client";\n',
    "provider/cli/tests.ts": 'export { x } from "../../test/support/x";\n',
    "test/support/x.ts": "export const x = 1;\n",
    "provider/api/development.ts": 'import "fast-check";\n',
    "provider/api/missing.ts": 'export { y } from "./nowhere";\n',
    "provider/api/here.ts": 'import type { There } from "./there";\nexport type Here = There | 1;\n',
    "provider/api/there.ts": 'import type { Here } from "./here";\nexport type There = Here | 2;\n',
  };
  expect(violationsIn(files)).toEqual([
    "cli-on-floors: provider/cli/emulator.ts",
    "definitions-are-light: provider/definitions/pulumi.ts",
    "definitions-are-light: provider/definitions/undici.ts",
    "definitions-are-light: provider/definitions/zod.ts",
    "emulator-alone: provider/emulator/other.ts",
    "engine-knows-pulumi: provider/lifecycle/pulumi.ts",
    "entries-stand-alone: provider/sdk/lookups.ts",
    "floor-api: provider/api/up.ts",
    "floor-definitions: provider/definitions/up.ts",
    "floor-engine: provider/engine/entry.ts",
    "floor-engine: provider/engine/up.ts",
    "floor-lifecycle: provider/lifecycle/up.ts",
    "no-circle: provider/api/here.ts",
    "resolved: provider/api/missing.ts",
    "ships-its-packages: provider/api/development.ts",
    "ships-no-tests: provider/cli/tests.ts",
  ]);
});
