import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { startStack, stopStacks } from "../support/stack";

afterEach(stopStacks);

const examples = join(__dirname, "..", "..", "examples");
/** The projects in TypeScript; other languages have their own tests. */
const projects = readdirSync(examples).filter((name) => existsSync(join(examples, name, "index.ts")));

test("each example is a project: manifest, project file, compiler settings, what git ignores, and a page", () => {
  expect(projects).toEqual(expect.arrayContaining(["quickstart", "team"]));
  for (const name of projects) {
    const files = ["package.json", "Pulumi.yaml", "tsconfig.json", ".gitignore", "README.md"];
    expect(files.filter((file) => !existsSync(join(examples, name, file)))).toEqual([]);
    const { dependencies } = JSON.parse(readFileSync(join(examples, name, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    expect(Object.keys(dependencies).sort()).toEqual(["@pulumi/pulumi", "pulumi-uptime"]);
  }
});

test.each(projects)("examples/%s runs as it is when it is copied", async (name) => {
  const { emulator, workspace } = await startStack({ language: "ts", packages: ["@types/node"] });
  for (const file of ["package.json", "Pulumi.yaml", "tsconfig.json", "index.ts"])
    rmSync(join(workspace.project, file));
  cpSync(join(examples, name), workspace.project, {
    recursive: true,
    filter: (path) => !path.startsWith(join(examples, name, "node_modules")),
  });
  // A stack belongs to a project, and the copied one has a name of its own.
  await workspace.run(["stack", "init", "dev"]);
  const { code, output } = await workspace.run(["preview"]);
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(output).toMatch(/\+ \d+ to create/);
  expect(emulator.writes()).toEqual([]);
});
