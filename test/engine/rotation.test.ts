import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Emulator } from "../../provider/emulator";
import { blocksOf, commandsIn } from "../support/blocks";
import { home } from "../support/monitors";
import { startStack } from "../support/stack";
import type { Workspace } from "../support/workspace";

const [oldKey, newKey] = ["old-key", "new-key"];
const monitor = (front: string, name: string): string =>
  `new (require("${front}").Monitor)("${name}", ${JSON.stringify({ ...home, name, url: `https://${name}.example/` })});`;
const program = [monitor("pulumi-uptime", "dynamic"), monitor("pulumi-uptime/native", "plugin")].join("\n");
const fingerprints = async (workspace: Workspace): Promise<unknown[]> =>
  Object.values(await workspace.resources()).map(({ outputs }) => outputs?.__key);

/** From now on the server accepts these keys, all of one account. */
function accept(emulator: Emulator, ...keys: string[]): void {
  emulator.fault = ({ headers }) => {
    const key = headers.authorization?.replace("Bearer ", "") ?? "";
    emulator.apiKey = keys.includes(key) ? key : "none";
    return undefined;
  };
}

async function start() {
  const { emulator, workspace } = await startStack({
    program,
    config: { "uptime:apiKey": { value: oldKey, secret: true } },
  });
  accept(emulator, oldKey);
  await workspace.up();
  accept(emulator, oldKey, newKey);
  return { emulator, workspace, before: await fingerprints(workspace) };
}

/** Runs the commands of a page's section; a key is typed in where one asks for it. */
async function follow(workspace: Workspace, page: string, section: string): Promise<void> {
  const text = readFileSync(join(__dirname, "..", "..", "docs", page), "utf8");
  const [, part = ""] = text.split(`## ${section}\n`);
  const [block] = blocksOf(page, part.split("\n## ")[0]);
  for (const [command, ...args] of commandsIn(block?.code ?? "")) {
    expect(command).toBe("pulumi");
    if (args[0] === "up") args.push("--yes", "--skip-preview");
    const { code, output } = await workspace.run(args, { stdin: newKey });
    expect([args, code, output]).toEqual([args, 0, output]);
  }
}

test("after a new key as the page describes it, records that were deleted by hand are found gone", async () => {
  const { emulator, workspace, before } = await start();
  await follow(workspace, "settings.md", "Change (rotate) the key");
  const after = await fingerprints(workspace);
  for (const [index, one] of before.entries()) expect(after[index]).not.toBe(one);

  accept(emulator, newKey);
  emulator.monitors.clear();
  await workspace.up("--refresh", "--run-program");
  expect(emulator.monitors.all()).toHaveLength(2);
});

test("after a new key without that refresh, a later one works, or uptime:sameAccount", async () => {
  const { emulator, workspace, before } = await start();
  await workspace.setConfig({ "uptime:apiKey": { value: newKey, secret: true } });
  await workspace.up();
  expect(await fingerprints(workspace)).toEqual(before);
  accept(emulator, newKey);

  const records = emulator.monitors.all();
  emulator.monitors.clear();
  const refused = await workspace.failed("up", "--refresh", "--run-program");
  expect(Object.keys(await workspace.resources())).toHaveLength(2);

  const [, pairs = ""] = /`pulumi config set uptime:sameAccount (\S+)`/.exec(refused) ?? [];
  await workspace.setConfig({ "uptime:sameAccount": pairs });
  await workspace.up("--refresh", "--run-program");
  expect(emulator.monitors.all()).toHaveLength(records.length);
  expect(await fingerprints(workspace)).not.toEqual(before);
});
