import { Session as Inspector } from "node:inspector/promises";
import { join, relative } from "node:path";

import { boolean, text } from "../../provider/definitions/field";
import type { Definition } from "../../provider/definitions/field";
import { monitor } from "../../provider/definitions/monitor";
import { dynamicProvider } from "../../provider/engine/dynamic";
import type { HttpRequest, HttpResponse } from "../../provider/api/transport";
import { Session } from "../../provider/lifecycle/session";
import type { HostedProvider } from "../support/calls";

/** A server that stores what it gets, and a provider that asks it. */
function provider(definition: Definition): { hosted: HostedProvider; requests: HttpRequest[] } {
  const requests: HttpRequest[] = [];
  const records: Record<string, unknown>[] = [];
  const transport = (request: HttpRequest): Promise<HttpResponse> => {
    requests.push(request);
    const { method, url, body } = request;
    const fields = Object.fromEntries(new URLSearchParams(body ?? ""));
    const id = Number(/\d+$/.exec(url.pathname)?.[0] ?? records.length + 1);
    const record = { ...records[id - 1], ...fields, id };
    if (method !== "GET") records[id - 1] = record;
    const answer = method === "GET" ? { data: [...records].reverse() } : { data: record };
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(answer)) });
  };
  const hosted = dynamicProvider(definition, new Session({ transport })) as HostedProvider;
  const config = { "uptime:baseUrl": "https://a.example", "uptime:apiKey": "key" } as Record<string, string>;
  void hosted.configure({ config: { get: (key: string) => config[key] } } as never);
  return { hosted, requests };
}

test("a field that no update changes is not in the update that follows a create", async () => {
  const { hosted, requests } = provider({
    label: "Job",
    singular: "job",
    plural: "jobs",
    baseUrl: "baseUrl",
    fields: {
      name: text("name", { required: true, replace: true }),
      muted: boolean("is_muted", { updateOnly: true }),
    },
    rules: [],
  });
  const declared = { name: "Nightly", muted: true };
  expect(await hosted.create(declared)).toMatchObject({ id: "1", outs: declared });
  const writes = requests.filter(({ method }) => method !== "GET");
  expect(writes.map(({ method, body }) => `${method} ${body}`)).toEqual([
    "POST name=Nightly",
    "PATCH is_muted=1",
  ]);
});

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

test("the path of one create leads through at most 17 modules, from the host's call to its answer", async () => {
  const { hosted } = provider(monitor);
  const monitors = ["First", "Second"].map((name) => ({ name, url: "https://b.example", interval: 60 }));
  const [first, second] = monitors.map((inputs) => () => hosted.create(inputs));
  // The first one loads what is loaded only when it is needed, and reads the list.
  await first?.();
  const modules = await modulesOf(async () => second?.());
  expect(modules).toContain("lifecycle/create.ts");
  expect(modules.length > 17 ? modules : []).toEqual([]);
});
