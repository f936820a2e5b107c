import { once, EventEmitter } from "node:events";

import { blocksOf } from "../support/blocks";
import { monitorOf, programOf, startStack, writesTo } from "../support/stack";

test("the second of two runs at once does nothing, with the error in docs/state-backends.md", async () => {
  const { emulator, workspace } = await startStack({ program: programOf([monitorOf("home")]) });
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
  const second = await workspace.failed("up");
  held.emit("release");
  const [shown] = blocksOf("docs/state-backends.md").filter(({ language }) => language === "text");
  expect(second).toContain(shown?.code.trimEnd());
  expect(await first.done).toMatchObject({ code: 0 });
  emulator.fault = undefined;
  expect(writesTo(emulator)).toEqual(["POST /api/v1/monitors"]);
  // The lock is gone, and state is whole.
  await workspace.preview("--refresh", "--expect-no-changes");
});
