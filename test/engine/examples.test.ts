import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import { startStack, stopStacks } from "../support/stack";

afterEach(stopStacks);

const examples = join(__dirname, "..", "..", "examples");
/** Each project, and what it is written in. Python needs an SDK, so languages.test.ts runs that one. */
const projects = { quickstart: "ts", team: "ts", yaml: "yaml", python: "python" } as const;
const programs = { ts: "index.ts", yaml: "Pulumi.yaml", python: "__main__.py" };

test("each example is a project: manifest, project file, what git ignores, and a page", () => {
  // examples/ci is for projects that exist.
  expect(readdirSync(examples).sort()).toEqual([...Object.keys(projects), "ci"].sort());
  for (const [name, language] of Object.entries(projects)) {
    const files = ["package.json", "Pulumi.yaml", ".gitignore", "README.md", programs[language]];
    if (language === "ts") files.push("tsconfig.json");
    expect(files.filter((file) => !existsSync(join(examples, name, file)))).toEqual([]);
    const { dependencies } = JSON.parse(readFileSync(join(examples, name, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const sdk = language === "ts" ? ["@pulumi/pulumi"] : [];
    expect(Object.keys(dependencies).sort()).toEqual([...sdk, "pulumi-uptime"]);
  }
});

test.each(["quickstart", "team", "yaml"] as const)(
  "examples/%s runs as it is when it is copied",
  async (name) => {
    const language = projects[name];
    const { emulator, workspace } = await startStack({ language, packages: ["@types/node"] });
    for (const file of readdirSync(workspace.project))
      if (file !== "node_modules") rmSync(join(workspace.project, file));
    cpSync(join(examples, name), workspace.project, {
      recursive: true,
      filter: (path) => !path.startsWith(join(examples, name, "node_modules")),
    });
    // A stack belongs to a project, and the copied one has a name of its own.
    await workspace.run(["stack", "init", "dev"]);
    const { code, output } = await workspace.run(["preview"]);
    expect({ code, output }).toEqual({ code: 0, output });
    expect(output).toMatch(/\+ \d+ to create/);
    expect(emulator.writes()).toEqual([]);
  },
);
