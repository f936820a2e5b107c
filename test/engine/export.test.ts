import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { parse, stringify } from "yaml";

import { blocksOf, commandsIn } from "../support/blocks";
import { canary } from "../support/canary.cjs";
import { cli } from "../support/cli";
import { dialectChoices, type Dialect } from "../../provider/emulator";
import { addNasty } from "../support/nasty";
import { isFull, sample } from "../support/size";
import { startEmulator } from "../support/emulator";
import { startStack, type Stack } from "../support/stack";

const options = Object.entries(dialectChoices);

/** At full size every choice of every option, each with others; a small run speaks one mixture. */
const spoken: Partial<Dialect>[] = isFull
  ? Array.from({ length: Math.max(...options.map(([, choices]) => choices.length)) }, (_, index) =>
      Object.fromEntries(options.map(([option, choices]) => [option, choices[index % choices.length]])),
    )
  : [{ paging: "meta", listBrief: true, escapeHtml: true, emptyAs: "absent", headers: "map", ids: "string" }];

/** What the tool prints in the project of a stack. */
async function tool({ emulator, workspace }: Stack, command: string): Promise<string> {
  const args = command.split(" ");
  const { code, stdout, stderr } = await cli(emulator, workspace.project, args, { env: workspace.env });
  if (code !== 0) throw new Error(`Exit code ${code}: ${stderr}`);
  return stdout;
}

/** Runs the commands of NEXT-STEPS.md that set secrets: one and the last word for word, because each takes a while. */
async function setSecrets({ workspace }: Stack): Promise<void> {
  const read = (name: string): string => readFileSync(join(workspace.project, name), "utf8");
  const [first = "", ...others] = read("NEXT-STEPS.md")
    .split("\n")
    .filter((line) => /^node -p |^rm secrets\.json$/.test(line));
  const values = JSON.parse(read("secrets.json")) as Record<string, string>;
  const [key = "", ...rest] = Object.keys(values);
  expect(others).toEqual([...rest.map((other) => first.replaceAll(key, other)), "rm secrets.json"]);
  const script = `${first}\nrm secrets.json`;
  execFileSync("sh", ["-e", "-c", script], { cwd: workspace.project, env: workspace.env });
  await workspace.setConfig(
    Object.fromEntries(rest.map((other) => [other, { value: values[other] ?? "", secret: true }])),
  );
}

/** Where dates have an offset, the provider refuses them; that is another test's. */
const dialects = spoken.filter(({ dates }) => dates !== "+02:00");

// Several runs of the engine, at full size with ten times as many records.
jest.setTimeout(isFull ? 1_800_000 : 300_000);
const records = sample(45, 45, 400);

test.each(dialects)(
  "an exported account is imported by its program, and nothing is written: %j",
  async (dialect) => {
    const stack = await startStack({ language: "ts", emulator: { dialect } });
    const { emulator, workspace } = stack;
    addNasty(emulator, records);
    // As in a folder where nothing is yet.
    for (const file of ["Pulumi.yaml", "package.json", "tsconfig.json", "index.ts"])
      rmSync(join(workspace.project, file));
    // The commands of the page for people who come from Terraform.
    const [exporting = [], up = [], preview = [], ...others] = blocksOf("docs/coming-from.md").flatMap(
      ({ language, code }) => (language === "sh" ? commandsIn(code) : []),
    );
    expect([exporting.slice(0, 3), up[0], preview[0], others]).toEqual([
      ["npx", "--no", "pulumi-uptime"],
      "pulumi",
      "pulumi",
      [],
    ]);
    await tool(stack, `${exporting.slice(3).join(" ")} --secrets secrets.json`);
    await workspace.pulumi("stack", "init", "taken");
    await setSecrets(stack);

    const { output } = await workspace.pulumi(...up.slice(1), "--yes", "--skip-preview");
    expect(output).toMatch(new RegExp(`${records + 4 + 1} created`));
    await workspace.pulumi(...preview.slice(1));
    expect(emulator.writes()).toEqual([]);
    expect(await tool(stack, "drift")).toMatch(/ resources compared, no drift\.\n$/);

    // The stack knows what it has, also where the program no longer has the ids.
    for (const name of ["domains", "monitors"]) {
      const path = join(workspace.project, `${name}.ts`);
      writeFileSync(path, readFileSync(path, "utf8").replace(/import: "\d+", /g, ""));
    }
    expect(JSON.parse(await tool(stack, "export --out . --json"))).toMatchObject({
      resources: [],
      notes: [],
    });
    expect(emulator.writes()).toEqual([]);
  },
);

test("an exported account is imported into YAML that Pulumi generates without secrets, and nothing is written", async () => {
  const stack = await startStack({ language: "yaml", emulator: { dialect: { password: "plain" } } });
  const { emulator, workspace } = stack;
  addNasty(emulator, records);
  // Where a record has the name of another one as a value, Pulumi generates code that refers to that resource.
  emulator.monitors.add({ name: "2nd shop", url: "https://2nd.example/", interval: 300 });
  emulator.monitors.add({
    name: "Front page",
    url: "https://front.example/",
    interval: 300,
    alert_condition: "url_no_text",
    alert_text_lookup: "2nd shop",
  });
  emulator.monitors.add({
    name: "Secret",
    url: "https://secret.example/",
    interval: 300,
    request_headers: [{ key: "X-Token", value: canary("exported-header") }],
    request_auth_username: "bob",
    request_auth_password: canary("exported-password"),
  });
  const theirs = await startEmulator({ firstId: 1000 });
  theirs.monitors.add({ name: "Theirs", url: "https://theirs.example/", interval: 60 });
  const accounts = JSON.stringify({ theirs: { baseUrl: theirs.url, apiKey: theirs.apiKey } });
  await workspace.setConfig({ "uptime:accounts": { value: accounts, secret: true } });

  /** Does what the export's page says, word for word, and returns the program so far. */
  const imported: { resources: Record<string, unknown> } = { resources: {} };
  const importAll = async (flags: string): Promise<void> => {
    const stdout = await tool(stack, `export --out . --json ${flags}`);
    const { files, resources } = JSON.parse(stdout) as { files: string[]; resources: object[] };
    const name = files.at(-1) ?? "";
    const page = readFileSync(join(workspace.project, name), "utf8");
    const [command = "", comment, ...last] = blocksOf(name, page).flatMap(({ code }) =>
      code.trimEnd().split("\n"),
    );
    expect(comment).toBe("# Copy the resources in imported.yaml to Pulumi.yaml, then:");
    expect(last.slice(0, 2)).toEqual(["pulumi preview", "pulumi up"]);
    const { output } = await workspace.pulumi(...command.split(" ").slice(1), "--yes");
    expect(output).toContain(`${resources.length} imported`);
    const file = join(workspace.project, "imported.yaml");
    Object.assign(imported.resources, (parse(readFileSync(file, "utf8")) as typeof imported).resources);
    rmSync(file);
  };
  await importAll("--language yaml");
  await importAll("--language yaml --account theirs");
  expect(imported.resources).toMatchObject({
    theirs: { properties: { name: "Theirs", account: "theirs" } },
  });
  const { secret } = imported.resources as { secret: { properties: Record<string, unknown> } };
  const url = "https://secret.example/";
  expect(secret.properties).toEqual({ name: "Secret", url, interval: 300, requestAuthUsername: "bob" });
  const page = readFileSync(join(workspace.project, "NEXT-STEPS.md"), "utf8");
  expect(page).toContain(
    "`requestHeaders` (`secret-x-token`); `requestAuthPassword`, if it has one (`secret-password`)",
  );

  for (const one of [emulator, theirs]) one.forget();
  await workspace.write(stringify(imported));
  await workspace.up("--expect-no-changes");
  expect(emulator.requests).toEqual([]);
  await workspace.preview("--refresh", "--run-program", "--expect-no-changes");
  expect([...emulator.writes(), ...theirs.writes()]).toEqual([]);
  expect(await tool(stack, "export --out . --language yaml")).toMatch(
    /^Wrote 0 resources here; the stack already manages/,
  );
  const drift = JSON.parse(await tool(stack, "drift --unmanaged --json")) as object;
  const nothing = { drifted: [], errors: [], unmanaged: [] };
  expect(drift).toMatchObject({ checked: emulator.monitors.size + 4 + 1, ...nothing });

  // A later change neither sends nor empties the secrets.
  secret.properties.interval = 60;
  await workspace.write(stringify(imported));
  await workspace.up();
  expect(emulator.monitors.all().at(-1)).toMatchObject({
    interval: 60,
    request_headers: [{ key: "X-Token", value: canary("exported-header") }],
    request_auth_password: canary("exported-password"),
  });
});
