import { createServer, type IncomingHttpHeaders } from "node:http";
import { readdirSync } from "node:fs";

import { canary, leaksIn } from "../support/canary.cjs";
import { cli, type Outcome } from "../support/cli";
import { listen } from "../support/http-server";
import { imports, startStack, writesTo, type Stack } from "../support/stack";

/** Runs `try` in the project of a stack. */
function tryIn({ emulator, workspace }: Stack, ...args: string[]): Promise<Outcome> {
  return cli(emulator, workspace.project, ["try", ...args], {
    env: { ...workspace.env, UPTIME_API_KEY: emulator.apiKey },
  });
}

const rowsIn = ({ stdout }: Outcome): string[] =>
  stdout
    .split("\n")
    .filter((line) => /^Monitor \S+ {2,}/.test(line) && !line.startsWith("Monitor  "))
    .map((line) => line.replace(/ {2,}/g, " "))
    .filter((line) => !line.endsWith("Result Why"))
    .sort();

test("tries what a preview would create or change, in both fronts, and what the stack has, and prints no secret", async () => {
  const received: Record<string, IncomingHttpHeaders> = {};
  const site = await listen(
    createServer(({ url = "", headers }, response) => {
      received[url] = headers;
      response.writeHead(url.includes("missing") ? 404 : 200).end("Welcome");
    }),
  );
  const stack = await startStack({
    program: `${imports} new Monitor("kept", site("Kept", { url: "${site}/kept" }));
      new Monitor("changed", site("Changed", { url: "${site}/before" }));`,
  });
  const { emulator, workspace } = stack;
  await workspace.up();
  const secretPath = canary("try-path");
  const headers = `[{ key: "X-Probe", value: ${JSON.stringify(canary("try-header"))} }]`;
  await workspace.write(
    `${imports} const native = require("pulumi-uptime/native");
     new Monitor("kept", site("Kept", { url: "${site}/kept" }));
     new Monitor("changed", site("Changed", { url: "${site}/missing" }));
     new Monitor("hidden", site("Hidden", { url: pulumi.secret("${site}/${secretPath}/missing") }));
     new Monitor("headers", site("Headers", { url: "${site}/headers", requestHeaders: ${headers} }));
     new native.Monitor("plugin", site("Plugin", { url: "${site}/plugin", requestHeaders: ${headers},
       alertCondition: "url_no_text", alertTextLookup: "Goodbye" }));
     new native.Monitor("paused", site("Paused", { url: "${site}/paused", pause: true }));
     const made = new Domain("made", { name: "made.example" });
     new Monitor("late", site("Late", { url: pulumi.interpolate\`${site}/\${made.id}\` }));
     new Monitor("post", site("Post", { url: "${site}/post", requestMethod: "POST" }));`,
  );
  const [state, files] = [await workspace.stateText(), readdirSync(workspace.project)];
  emulator.forget();
  const planned = await tryIn(stack);
  expect([planned.code, planned.stderr]).toEqual([2, ""]);
  expect(rowsIn(planned)).toEqual([
    "Monitor changed alerts status 404",
    "Monitor hidden alerts status 404",
    "Monitor late skipped url is not known before `pulumi up`",
    "Monitor paused skipped paused",
    'Monitor plugin alerts the response does not contain "Goodbye"',
    "Monitor post skipped POST is only sent with --any-method",
  ]);
  expect(planned.stdout).toContain("4 monitors tried, 3 would alert at once, 3 skipped.\n");
  expect(Object.keys(received).sort()).toEqual(
    ["/headers", "/missing", "/plugin", `/${secretPath}/missing`].sort(),
  );
  for (const path of ["/headers", "/plugin"])
    expect(received[path]).toMatchObject({ "x-probe": canary("try-header") });
  const json = await tryIn(stack, "--json");
  expect(leaksIn(planned.stdout + json.stdout + json.stderr)).toEqual([]);
  expect(json.stdout).not.toContain("/hidden");
  expect(writesTo(emulator)).toEqual([]);
  expect(await workspace.stateText()).toBe(state);
  expect(readdirSync(workspace.project)).toEqual(files);

  await workspace.up();
  const made = await tryIn(stack, "--state");
  expect(made.code).toBe(2);
  expect(made.stdout).toContain("6 monitors tried, 3 would alert at once, 2 skipped.\n");
  expect(leaksIn(made.stdout)).toEqual([]);

  await workspace.write(`${imports} new Monitor("bad", site("Bad", { url: "nowhere" }));`);
  const failed = await tryIn(stack);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toMatch(/^The preview failed, so nothing was tried: .*url must be an absolute URL/);
});
