import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Properties } from "../../provider/common/marks";
import { monitor } from "../../provider/definitions/monitor";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { canary } from "../support/canary.cjs";
import { newFolder } from "../support/folder";
import { home } from "../support/monitors";

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

const owner = "pulumi-nodejs:dynamic/uptime:Monitor::home";
/** What the provider notes of a check with this key. */
async function noted(inputs: Properties, key = "a key"): Promise<string | undefined> {
  const file = join(newFolder(), "values");
  Object.assign(process.env, {
    UPTIME_BASE_URL: "http://127.0.0.1:1",
    UPTIME_API_KEY: canary("key"),
    UPTIME_REVIEW_FILE: file,
    UPTIME_REVIEW_KEY: key,
  });
  const news = { ...home, ...inputs, __options: { owner } };
  await dynamicProvider(monitor).check?.({}, news);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

test("a preview notes a keyed hash of each resource's values, by which secrets can be told apart", async () => {
  const [one, two] = [canary("one"), canary("two")];
  const first = await noted({ requestAuthUsername: "u", requestAuthPassword: one });
  expect(JSON.parse(first ?? "")).toEqual({ name: owner, hash: expect.stringMatching(/^.{44}$/) as string });
  expect(first).not.toContain(one);
  expect(await noted({ requestAuthPassword: one, requestAuthUsername: "u" })).toBe(first);
  expect(await noted({ requestAuthUsername: "u", requestAuthPassword: two })).not.toBe(first);
  expect(await noted({ requestAuthUsername: "u", requestAuthPassword: one }, "another key")).not.toBe(first);
});

test("without a key, nothing is noted", async () => {
  expect(await noted({})).toBeDefined();
  expect(await noted({}, "")).toBeUndefined();
});
