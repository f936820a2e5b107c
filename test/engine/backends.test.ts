import { once, EventEmitter } from "node:events";
import { blocksOf } from "../support/blocks";
import { programOf, startStack, stopStacks } from "../support/stack";

afterEach(stopStacks);

const program = programOf([
  {
    kind: "Monitor",
    name: "site",
    args: {
      name: "Site",
      url: "https://shop.example/",
      interval: 60,
      requestHeaders: [{ key: "X-Token", value: "canary-0815" }],
    },
  },
]);

/** What docs/state-backends.md shows, with another place, person and time. */
function shown(pid: number): RegExp {
  const [block] = blocksOf("docs/state-backends.md").filter(({ language }) => language === "text");
  const text = (block?.code ?? "").trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const parts = [
    [String.raw`postgres://\*\*\*\*:\*\*\*\*@db\.example\.com:5432/pulumi/`, String.raw`\S+/`],
    ["…", String.raw`\S+`],
    ["ci@runner-7", String.raw`\S+@\S+`],
    ["4711", String(pid)],
    ["2026-03-02T09:14:33Z", String.raw`\d{4}-\d\d-\d\dT[\d:]+\S*`],
  ] as const;
  return new RegExp(
    parts.reduce((pattern, [example, real]) => {
      expect(pattern).toContain(example);
      return pattern.replace(example, real);
    }, text),
  );
}

test("of two runs at once, the second says that the stack is locked, and does nothing", async () => {
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
  expect(second.output).toMatch(shown(first.child.pid ?? 0));
  expect(await first.done).toMatchObject({ code: 0 });
  emulator.fault = undefined;
  expect(emulator.writes().map(({ method }) => method)).toEqual(["POST"]);
  // The lock is gone, and state is whole.
  await workspace.preview("--refresh", "--expect-no-changes");
});
