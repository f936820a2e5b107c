import type { ModelStack } from "../support/model";
import { destroyAll, fronts, Program, refreshAll, times, type Front } from "../support/program";
import { storedIds } from "../support/sent";
import { failureOf, withServer } from "../support/server";
import { home } from "../support/monitors";

withServer();

/** Two resources that were both created, and of which state says that they have one and the same record. */
async function twins(front: Front): Promise<[ModelStack, ModelStack, Program]> {
  const program = new Program(front);
  const [one, two] = [program.resource(), program.resource()];
  await one.up(home);
  two.state = structuredClone(one.state);
  program.nextRun();
  return [one, two, program];
}

async function refreshed(...all: ModelStack[]): Promise<void> {
  expect(await refreshAll(all)).toEqual(times(all.length, "there"));
}

describe.each(fronts)("two resources in state with one record (%s)", (front) => {
  test.each([false, true])(
    "one that leaves the program does not delete the record of the other; refreshed before: %j",
    async (isRefreshed) => {
      const [one, two, program] = await twins(front);
      if (isRefreshed) await refreshed(one, two);
      await one.up(home);
      expect(await destroyAll([two])).toEqual(["deleted"]);
      expect(storedIds()).toEqual(["1"]);
      program.nextRun();
      expect(await one.up(home)).toBe("same");
      program.nextRun();
      expect(await destroyAll([one])).toEqual(["deleted"]);
      expect(storedIds()).toEqual([]);
    },
  );

  test.each([false, true])("are destroyed with the record; refreshed before: %j", async (isRefreshed) => {
    const [one, two] = await twins(front);
    if (isRefreshed) await refreshed(one, two);
    expect(await destroyAll([one, two], 1)).toEqual(["deleted", "deleted"]);
    expect(storedIds()).toEqual([]);
  });
});

test.each(fronts)("a resource whose record no other has is deleted with it (%s)", async (front) => {
  const [one] = await twins(front);
  await refreshed(one);
  expect(await destroyAll([one])).toEqual(["deleted"]);
  expect(storedIds()).toEqual([]);
});

test("two resources of the program with one record are an error of the plugin that names both", async () => {
  const [one, two] = await twins("plugin");
  await one.preview(home);
  expect(await failureOf(two.preview(home))).toMatch(/resource-\d+.*resource-\d+/);
});
