import { Session as Inspector } from "node:inspector/promises";
import os from "node:os";
import { join, relative } from "node:path";

import { monitor } from "../../provider/definitions/monitor";
import { openRunNote } from "../../provider/lifecycle/run-note";
import { FrontSession } from "../../provider/engine/front";
import { hosted } from "../support/calls";
import { settingsOf, withServer } from "../support/server";
import { newFolder } from "../support/folder";
import { home } from "../support/monitors";

withServer();
afterEach(() => jest.restoreAllMocks());

/** The modules above the definitions of which a function is called meanwhile. */
async function modulesOf(run: () => Promise<unknown>): Promise<string[]> {
  const inspector = new Inspector();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await run();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  inspector.disconnect();
  const provider = join(__dirname, "..", "..", "provider");
  return result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => relative(provider, url.replace("file://", "")))
    .filter((path) => /^(api|lifecycle|engine)\b/.test(path))
    .sort();
}

test("the path of one create leads through at most 16 modules, from the host's call to its answer", async () => {
  // As in the host, which sends over the network and shares a note with the run's other processes.
  const folder = newFolder();
  jest.spyOn(os, "tmpdir").mockReturnValue(folder);
  const session = new FrontSession({ runNote: openRunNote("127.0.0.1:1") });
  const provider = hosted(monitor, settingsOf(), session);
  // The first one loads what is loaded only when it is needed, and reads the list.
  await provider.create({ ...home, name: "First" });
  const modules = await modulesOf(() => provider.create({ ...home, name: "Second" }));
  expect(modules).toContain("lifecycle/create.ts");
  expect(modules.length > 16 ? modules : []).toEqual([]);
});
