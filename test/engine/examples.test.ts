import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { startStack, stopStacks } from "../support/stack";

afterEach(stopStacks);

const repository = join(__dirname, "..", "..");
const examples = join(repository, "examples");
/** Each project, and what it is written in. Python needs an SDK, so languages.test.ts runs that one. */
const projects = { quickstart: "ts", team: "ts", fleet: "ts", yaml: "yaml", python: "python" } as const;
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

test("`pulumi up` in a clone that is built runs the quickstart, and git ignores its stacks", async () => {
  const { emulator, workspace } = await startStack({ language: "ts" });
  const clone = workspace.project;
  for (const file of readdirSync(clone)) rmSync(join(clone, file), { recursive: true });
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();
  for (const file of git("ls-files").split("\n"))
    if (existsSync(join(repository, file))) cpSync(join(repository, file), join(clone, file));
  symlinkSync(join(repository, "dist"), join(clone, "dist"));
  // What `npm ci` leaves, in which the package itself is a link to the clone.
  const modules = join(repository, "node_modules");
  mkdirSync(join(clone, "node_modules"));
  for (const name of readdirSync(modules))
    symlinkSync(name === "pulumi-uptime" ? ".." : join(modules, name), join(clone, "node_modules", name));

  await workspace.run(["stack", "init", "dev"]);
  await workspace.up();
  expect(emulator.domains.all()).toMatchObject([{ name: "shop.example" }]);
  expect(
    emulator.monitors
      .all()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["Checkout", "Home page"]);
  const stackFile = "Pulumi.dev.yaml";
  expect(readdirSync(clone)).toContain(stackFile);
  expect(git("check-ignore", stackFile)).toBe(stackFile);
});
