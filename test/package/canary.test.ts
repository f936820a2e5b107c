import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { canary, leaksIn, LeakWatch } from "../support/canary.cjs";
import { defaultApiKey } from "../../provider/emulator";

test("a secret is found in a text, by its name, and the emulator's key too", () => {
  expect(leaksIn(`{"password": "${canary("password")}"} Bearer ${defaultApiKey}`)).toEqual([
    "password",
    "key",
  ]);
  expect(leaksIn("a canary, a key and an emulator")).toEqual([]);
});

test("a secret is found in pieces, wherever they are cut", () => {
  const text = `before ${canary("name")} after`;
  for (let cut = 0; cut < text.length; cut++) {
    const watch = new LeakWatch();
    watch.add(text.slice(0, cut));
    watch.add(text.slice(cut));
    expect([...watch.leaks]).toContain("name");
  }
});

describe("a step of `npm test`", () => {
  /** Runs a step that prints these on both streams, and returns what is seen of it. */
  function step(stdout: string, stderr: string): { status: number | null; stdout: string; stderr: string } {
    const printing = `process.stdout.write(process.env.FIRST); process.stderr.write(process.env.SECOND);`;
    const script = `
      import { runStep } from "./tools/setup.mjs";
      await runStep(process.execPath, ["-e", ${JSON.stringify(printing)}]).catch((error) => {
        console.log(error.message);
        process.exitCode = 3;
      });`;
    const env = { ...process.env, FIRST: stdout, SECOND: stderr };
    const args = ["--input-type=module", "-e", script];
    return spawnSync(process.execPath, args, { cwd: join(__dirname, "..", ".."), env, encoding: "utf8" });
  }

  test.each([
    ["its output", `x ${canary("printed")} y`, ""],
    ["its errors", "", `x ${canary("printed")} y`],
  ])("fails where a secret is in %s, though it ends well", (_where, first, second) => {
    const { status, stdout } = step(first, second);
    expect(stdout).toMatch(/printed secrets: printed\.$/m);
    expect(status).toBe(3);
  });

  test("shows what it prints, and ends well where that is no secret", () => {
    expect(step("all is", "well")).toMatchObject({ status: 0, stdout: "all is", stderr: "well" });
  });
});
