import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { unwrapSecrets, type Properties } from "../../provider/common/marks";
import { monitor } from "../../provider/definitions/monitor";
import { dynamicProvider } from "../../provider/engine/dynamic";
import { canary } from "../support/canary.cjs";
import { newFolder } from "../support/folder";
import { defaults, home } from "../support/monitors";

const before = { ...process.env };
afterEach(() => {
  process.env = { ...before };
});

const owner = "pulumi-nodejs:dynamic/uptime:Monitor::home";
/** Gives the provider a file for its notes. */
function newFile(): string {
  const file = join(newFolder(), "values");
  const settings = { UPTIME_BASE_URL: "http://127.0.0.1:1", UPTIME_API_KEY: canary("key") };
  Object.assign(process.env, settings, { UPTIME_REVIEW_FILE: file });
  return file;
}

/** What the provider notes of a check with this key. */
async function noted(inputs: Properties, key = "a key"): Promise<string | undefined> {
  const file = newFile();
  process.env.UPTIME_REVIEW_KEY = key;
  const news = { ...home, ...inputs, __options: { owner } };
  await dynamicProvider(monitor).check?.({}, news);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

test("a preview notes a keyed hash of each resource's values, by which secrets can be told apart", async () => {
  const [one, two] = [canary("one"), canary("two")];
  const first = await noted({ requestAuthUsername: "u", requestAuthPassword: one });
  expect(JSON.parse(first ?? "")).toEqual({
    urnSuffix: owner,
    hash: expect.stringMatching(/^.{44}$/) as string,
  });
  expect(first).not.toContain(one);
  expect(await noted({ requestAuthPassword: one, requestAuthUsername: "u" })).toBe(first);
  expect(await noted({ requestAuthUsername: "u", requestAuthPassword: two })).not.toBe(first);
  expect(await noted({ requestAuthUsername: "u", requestAuthPassword: one }, "another key")).not.toBe(first);
});

test("a file that cannot be written is an error that names the variable", async () => {
  process.env.UPTIME_REVIEW_FILE = join(newFolder(), "missing", "values");
  process.env.UPTIME_REVIEW_KEY = "a key";
  const news = { ...home, __options: { owner } };
  await expect(dynamicProvider(monitor).check?.({}, news)).rejects.toThrow(
    /^UPTIME_REVIEW_FILE names \/.*\/values, which cannot be written: .*ENOENT/,
  );
});

test("without a key, no value is noted", async () => {
  expect(await noted({})).toBeDefined();
  expect(await noted({}, "")).toBeUndefined();
});

test("a preview notes which properties of a declared resource change, also without a key", async () => {
  const file = newFile();
  const { check, diff } = dynamicProvider(monitor);
  const headers = (value: string) => ({ requestHeaders: [{ key: "Authorization", value }] });
  const olds = { ...home, ...headers(canary("one")) };
  const news = { ...home, interval: 300, ...headers(canary("two")), __options: { owner } };
  // As in a refresh, which asks for a difference before the program has declared anything.
  await diff?.("1", olds, { ...olds, __options: { owner } });
  expect(existsSync(file)).toBe(false);
  // The host removes the marks of secrets.
  const inputs = unwrapSecrets((await check?.({}, news))?.inputs);
  await diff?.("1", { ...olds, ...defaults }, inputs);
  const changed = ["interval", "requestHeaders"];
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ urnSuffix: owner, changed });
});
