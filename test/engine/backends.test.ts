import { once, EventEmitter } from "node:events";
import { blocksOf } from "../support/blocks";
import { Postgres } from "../support/postgres";
import { isFull } from "../support/size";
import { programOf, startStack, stopStacks } from "../support/stack";

let postgres: Postgres | undefined;
beforeAll(async () => {
  if (isFull) postgres = await Postgres.start();
});
afterEach(stopStacks);
afterAll(() => postgres?.stop());

const program = (interval: number) =>
  programOf([
    {
      kind: "Monitor",
      name: "site",
      args: {
        name: "Site",
        url: "https://shop.example/",
        interval,
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

/** The same on each backend; PostgreSQL, which must be installed, at full size only. */
test.each(isFull ? ["local files", "PostgreSQL"] : ["local files"])(
  "state in %s: of two runs at once, the second says that the stack is locked, and does nothing",
  async (backend) => {
    const env: Record<string, string> =
      backend === "PostgreSQL" && postgres ? { PULUMI_BACKEND_URL: postgres.url } : {};
    const { emulator, workspace } = await startStack({ program: program(60) });
    const run = async (...args: string[]) => {
      const result = await workspace.run(args, { env });
      if (postgres) expect(result.output).not.toContain(postgres.password);
      return result;
    };
    if (backend === "PostgreSQL")
      expect(await run("stack", "init", workspace.stack)).toMatchObject({ code: 0 });

    // The first run is held by the API until the second has ended.
    const held = new EventEmitter();
    emulator.fault = async ({ method }) => {
      if (method !== "POST") return undefined;
      held.emit("post");
      await once(held, "release");
      return undefined;
    };
    const posted = once(held, "post");
    const first = workspace.start(["up", "--yes", "--skip-preview"], { env });
    await posted;
    const second = await run("up", "--yes", "--skip-preview");
    held.emit("release");
    expect(second.code).not.toBe(0);
    expect(second.output).toMatch(shown(first.child.pid ?? 0));
    expect(await first.done).toMatchObject({ code: 0 });
    emulator.fault = undefined;
    expect(emulator.writes().map(({ method }) => method)).toEqual(["POST"]);

    // The lock is gone, state is whole and shared, and nothing secret is readable in it.
    expect(await run("preview", "--refresh", "--expect-no-changes")).toMatchObject({ code: 0 });
    const exported = await run("stack", "export");
    expect(exported.stdout).toContain('"name": "Site"');
    expect(exported.stdout).not.toContain("canary-0815");
    if (backend === "PostgreSQL") {
      await workspace.write(program(300));
      emulator.monitors.edit(1, { interval: 900 });
      const drift = await run("preview", "--refresh", "--diff");
      expect(drift.output).toMatch(/interval +: 60 => 900[^]*interval +: 900 => 300/);
      expect(await run("up", "--yes", "--skip-preview", "--refresh")).toMatchObject({ code: 0 });
      expect(emulator.monitors.all()).toMatchObject([{ interval: 300 }]);
      expect(await run("destroy", "--yes", "--skip-preview")).toMatchObject({ code: 0 });
      expect(emulator.monitors.all()).toEqual([]);
    }
  },
  isFull ? 600_000 : 120_000,
);
