import { once, EventEmitter } from "node:events";

import { blocksOf } from "../support/blocks";
import { programOf, startStack } from "../support/stack";

const program = programOf([
  { kind: "Monitor", name: "site", args: { name: "Site", url: "https://shop.example/", interval: 60 } },
]);

test("the second of two runs at once does nothing, with the error in docs/state-backends.md", async () => {
  const { emulator, workspace } = await startStack({ program });
  // The first run is held by the API until the second has ended.
  const held = new EventEmitter();
  emulator.fault = async ({ method }) => {
    if (method !== "POST") return undefined;
    held.emit("post");
    await once(held, "release");
    return undefined;
  };
  const posted = once(held, "post");
  const first = workspace.start(["up", "--yes", "--skip-preview"]);
  await posted;
  const second = await workspace.run(["up", "--yes", "--skip-preview"]);
  held.emit("release");
  expect(second.code).not.toBe(0);
  const [shown] = blocksOf("docs/state-backends.md").filter(({ language }) => language === "text");
  expect(second.output).toContain(shown?.code.trimEnd());
  expect(await first.done).toMatchObject({ code: 0 });
  emulator.fault = undefined;
  expect(emulator.writes().map(({ method }) => method)).toEqual(["POST"]);
  // The lock is gone, and state is whole.
  await workspace.preview("--refresh", "--expect-no-changes");
});
