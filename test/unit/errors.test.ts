import * as pulumi from "@pulumi/pulumi";
import dns from "node:dns";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import os from "node:os";
import { join } from "node:path";

import { getMonitor } from "../../provider";
import { readText } from "../../provider/cli/shared/files";
import { monitor } from "../../provider/definitions/monitor";
import { engineUnknown } from "../../provider/common/marks";
import type { Emulator, Fault } from "../../provider/emulator";
import { FrontSession } from "../../provider/engine/front-session";
import { openRunNote } from "../../provider/engine/run-note-file";
import { anchorOf } from "../support/blocks";
import { certificateFor } from "../support/certificate";
import { answer, clock, emulator, failureOf, on, onCreates, settingsOf, withServer } from "../support/server";
import { hosted } from "../support/calls";
import type { Inputs, ModelResource } from "../support/model";
import { startEmulator } from "../support/emulator";
import { newFolder } from "../support/folder";
import { listen } from "../support/http-server";
import { secret } from "../support/marks";
import { home } from "../support/monitors";
import { Program } from "../support/program";
import { isList } from "../support/sent";

const file = join(__dirname, "..", "..", "docs", "errors.md");
const hurried = { ...home, __options: { customTimeouts: { create: "40s" } } };

// A person's own settings must not stand in for the missing ones.
beforeAll(() => {
  for (const name of ["UPTIME_BASE_URL", "UPTIME_MONITORS_BASE_URL", "UPTIME_API_KEY", "PULUMI_RUN_PROGRAM"])
    Reflect.deleteProperty(process.env, name);
});

withServer();

const stack = (settings = {}): ModelResource =>
  new Program("dynamic", { "uptime:timeoutSeconds": "600", ...settings }).resource("monitor", {
    name: "home",
  });

const always =
  (...args: Parameters<typeof answer>) =>
  (): Fault =>
    answer(...args);
const onPost = (fault: Fault) => (request: { method: string }) =>
  request.method === "POST" ? fault : undefined;

/** An operation against a server that answers so. */
function answering(fault: Emulator["fault"], inputs: Inputs = home, config?: Record<string, string>) {
  return () => {
    emulator.fault = fault;
    return stack(config).up(inputs);
  };
}

/** Another resource in state with the same record; a run begins in which neither is known. */
function twinOf(one: ModelResource): ModelResource {
  const other = one.beside({ name: "copy" });
  if (one.state) other.state = { ...one.state, outputs: { ...one.state.outputs, __claim: "0f0f0f0f" } };
  one.nextRun();
  return other;
}

/** An operation on a monitor that exists already, after something has happened to it. */
function later(change: (one: ModelResource) => Promise<unknown>) {
  return async () => {
    const one = stack();
    await one.up(home);
    return change(one);
  };
}

/** A monitor in the state that another key has left. */
function ofAnotherKey(): ModelResource {
  const one = stack();
  const outputs = { ...home, attributes: {}, __key: "0000" };
  one.state = { id: "1", inputs: home, outputs, unfinished: false };
  return one;
}

const lookUp = (args: object): Promise<unknown> => {
  pulumi.runtime.setAllConfig(settingsOf(), ["uptime:apiKey"]);
  return getMonitor(args);
};

const importing = (importId: string) => stack().up({ ...home, importId });

const cases: Record<string, () => Promise<unknown>> = {
  "Settings are missing": () => stack({ "uptime:baseUrl": "", "uptime:apiKey": "" }).up(home),
  "Settings cannot be used": () =>
    stack({ "uptime:baseUrl": "http://uptime.example.com", "uptime:maxRetries": "many" }).up(home),
  "401: the key is not accepted": later(async (one) => {
    const other = stack({ "uptime:apiKey": "old-key" });
    other.state = one.state;
    await other.refresh();
  }),
  "403: the key may not do this": answering(always(403, { message: "This action is unauthorized." })),
  "404 for everything": answering(always(404, "<h1>Not Found</h1>")),
  "The record of an update is gone": later((one) => {
    emulator.monitors.remove(1);
    return one.up({ ...home, interval: 300 });
  }),
  "The record of an update is marked as deleted": later((one) => {
    const marked = answer(200, { id: 1, ...home, deleted_at: "2030-01-01T00:00:00Z" });
    emulator.fault = (request) => (isList(request) ? undefined : marked);
    return one.up({ ...home, interval: 300 });
  }),
  "The server accepts a delete, and the record stays": later((one) => {
    on("DELETE", answer(200, { message: "Down for maintenance" }));
    return one.destroy();
  }),
  "409: a conflict": answering(onPost(answer(409, { message: "Name is taken." }))),
  "422: the API refuses a value": answering(
    onPost(
      answer(422, {
        message: "The given data was invalid.",
        errors: { interval: ["The interval is not in your plan."] },
      }),
    ),
  ),
  "429, and no time left to wait": answering(
    always(429, { message: "Too Many Attempts." }, { "retry-after": "60" }),
    hurried,
  ),
  "429 or 503 for ten minutes": answering(always(429, { message: "Too Many Attempts." })),
  "5xx after all retries": answering(always(500, { message: "Server Error" }), home, {
    "uptime:maxRetries": "1",
  }),
  "Nothing listens at the address": () =>
    stack({ "uptime:baseUrl": "http://127.0.0.1:1", "uptime:maxRetries": "0" }).up(home),
  "The host name does not exist": async () => {
    // What is looked up is not asked of a network.
    const nowhere = (_host: string, _options: object, done: (error: Error) => void): void => {
      done(Object.assign(new Error(), { code: "ENOTFOUND", syscall: "getaddrinfo" }));
    };
    const lookup = jest.spyOn(dns, "lookup").mockImplementation(nowhere as unknown as typeof dns.lookup);
    try {
      return await stack({ "uptime:baseUrl": "https://no.such.host.invalid" }).up(home);
    } finally {
      lookup.mockRestore();
    }
  },
  "The certificate is not trusted": async () => {
    const address = await listen(createSecureServer(certificateFor("localhost")));
    return stack({ "uptime:baseUrl": address.replace("http", "https") }).up(home);
  },
  "The server does not speak https": () =>
    stack({ "uptime:baseUrl": emulator.url.replace("http:", "https:") }).up(home),
  "No response in time": answering(() => ({ kind: "delay", delayMs: 30_000 }), home, {
    "uptime:timeoutSeconds": "20",
    "uptime:maxRetries": "0",
  }),
  "The connection is cut": answering(() => ({ kind: "cut", effect: false }), home, {
    "uptime:maxRetries": "0",
  }),
  "The response is not JSON": answering(always(200, "<!doctype html><title>Log in</title>")),
  "The response is JSON, but not the API's": answering(always(200, { hello: "world" })),
  "A list cannot be read to its end": answering(always(200, { data: [{ id: 1, ...home }], has_more: true })),
  "The address leads elsewhere": answering(always(301, "", { location: "https://www.example.com/" })),
  "State was made with another address": later(async (one) => {
    const moved = await startEmulator();
    const other = stack({ "uptime:baseUrl": moved.url });
    other.state = one.state;
    await other.refresh();
  }),
  "A record is gone, and the list is empty": async () => {
    const first = stack();
    return Promise.all(
      ["1", "2", "3", "4"].map(async (id) => {
        const one = first.beside();
        one.state = { id, inputs: home, outputs: { ...home, attributes: {} }, unfinished: false };
        await one.refresh();
      }),
    );
  },
  "A record is not found, and the list holds it": later((one) => {
    emulator.fault = ({ path }) => (path.endsWith("/1") ? answer(404) : undefined);
    return one.refresh();
  }),
  "Every address answers with 404": later((one) => {
    emulator.fault = always(404, "default backend - 404");
    return one.destroy();
  }),
  "A record is not found with another key": () => ofAnotherKey().refresh(),
  "Another key finds another record": () => {
    emulator.monitors.add({ name: "Other", url: "https://other.example/", interval: 60 });
    return ofAnotherKey().up({ ...home, interval: 300 });
  },
  "Pulumi was interrupted": () => {
    const session = new FrontSession({ clock });
    session.interrupt();
    return hosted(monitor, settingsOf(), session).create(home);
  },
  "The response to an update was lost": later((one) => {
    on("PATCH", { kind: "cut", effect: true });
    return one.up({ ...home, interval: 300 });
  }),
  "The response to a create was lost": answering(
    onPost({ kind: "cut", effect: false, answerDelayMs: 60_000 }),
    hurried,
  ),
  "The response to a create was lost, and there is a new record like it": () => {
    on("POST", () => {
      emulator.monitors.add({ ...home, interval: 900 });
      return { kind: "cut", effect: false };
    });
    return stack().up(home);
  },
  "The response to a create was lost, and the list was empty before": async () => {
    const [one, other] = new Program("dynamic").resources();
    await one.up(home);
    one.nextRun();
    await one.preview(home);
    let isFirst = true;
    emulator.fault = (request) => {
      if (request.method === "POST") return { kind: "cut", effect: true };
      const isEmpty = isFirst && isList(request);
      isFirst &&= !isEmpty;
      return isEmpty ? answer(200, { data: [] }) : undefined;
    };
    return other.up({ ...home, name: "Shop" });
  },
  "A create is accepted, and nothing is there": answering(onPost(answer(200, ""))),
  "A value is accepted, and not stored": () => {
    emulator.dialect = { notStored: ["ssl_alert_days"] };
    return stack().up({ ...home, sslAlertDays: 7 });
  },
  "The id in state belongs to another record": async () => {
    onCreates({ kind: "answer", effect: false, status: 202, body: { id: 1, status: "queued" } });
    const one = stack();
    await failureOf(one.up(home));
    emulator.monitors.add({ ...home, name: "Other", url: "https://other.example/" });
    one.nextRun();
    return one.up(home);
  },
  "The id in state may be that of something else": async () => {
    onCreates({ kind: "answer", effect: false, status: 202, body: { id: 77, status: "queued" } });
    const one = stack();
    await failureOf(one.up(home));
    one.nextRun();
    return one.refresh();
  },
  "No record can be adopted": () => {
    emulator.monitors.add({ ...home, interval: 300 });
    return stack({ "uptime:adoptExisting": "true" }).up(home);
  },
  "An import differs from the record": () => {
    emulator.monitors.add({ ...home, interval: 300, alert_condition: "url_text" });
    return importing("1");
  },
  "An import names no record": () => importing("1"),
  "An import of a secret": () => {
    emulator.monitors.add(home);
    return new Program("plugin").resource().import("1", { ...home, url: secret(home.url) });
  },
  "An import names a record that another resource has": later((one) =>
    one.beside({ name: "copy" }).preview({ ...home, importId: "1" }),
  ),
  "Two resources have one record": later(async (one) => {
    const other = twinOf(one);
    await one.preview(home);
    return other.preview(home);
  }),
  "A record was deleted with another resource": later(async (one) => {
    const other = twinOf(one);
    await one.replace(home);
    return other.preview(home);
  }),
  "An imported resource would be replaced": async () => {
    emulator.monitors.add(home);
    const one = stack();
    await one.up({ ...home, importId: "1" });
    one.nextRun();
    return one.preview({ ...home, importId: "2" });
  },
  "An ignored value would belong to another header": async () => {
    const one = new Program("dynamic").resource("monitor", {
      name: "home",
      ignoreChanges: ["requestHeaders[0].value"],
    });
    const [first, second] = ["X-Probe", "X-Token"].map((key) => ({ key, value: "secret" + key }));
    await one.up({ ...home, requestHeaders: [first, second] });
    return one.preview({ ...home, requestHeaders: [second, first] });
  },
  "The server has given a record's id away": async () => {
    const [old, other] = new Program("dynamic").resources();
    await old.up(home);
    old.nextRun();
    const fields = { ...emulator.monitors.get("1") };
    emulator.monitors.remove(1);
    on("POST", () => {
      emulator.monitors.add(fields);
      return answer(201, { data: fields });
    });
    await other.up(home);
    return old.up({ ...home, interval: 300 });
  },
  "A record to read does not exist": () => new Program("dynamic").providers.monitor.read("urn", "41", {}, {}),
  "A lookup finds nothing": () => lookUp({ name: "Shop" }),
  "A lookup finds several records": () => {
    for (const interval of [60, 300]) emulator.monitors.add({ ...home, interval });
    return lookUp({ name: home.name });
  },
  "A lookup cannot take its arguments": () => lookUp({ nam: "Shop", searchBy: "title" }),
  "An account is not set": () =>
    stack({ "uptime:accounts": '{"eu": {"apiKey": "k"}, "us": {"apiKey": "k"}}' }).up({
      ...home,
      account: "uk",
    }),
  "Others may write the folder of the run": async () => {
    const temporary = newFolder();
    jest.spyOn(os, "tmpdir").mockImplementation(() => temporary);
    mkdirSync(join(temporary, `pulumi-uptime-${process.getuid?.() ?? "user"}`));
    chmodSync(join(temporary, `pulumi-uptime-${process.getuid?.() ?? "user"}`), 0o777);
    emulator.monitors.add(home);
    const surroundings = { runNote: openRunNote("127.0.0.1:4000") };
    const importing = new Program("dynamic", {}, surroundings).resource().up({ ...home, importId: "1" });
    return importing.finally(() => jest.restoreAllMocks());
  },
  "An account has no key": () => stack({ "uptime:accounts": '{"eu": {}}' }).up({ ...home, account: "eu" }),
};

/** What `check` refuses by itself: what the program declares, beside what a right monitor has. */
const refusals: Record<string, Inputs> = {
  "A property is missing": { url: null },
  "A property is empty": { name: "" },
  "A property is misspelt": { intervall: 60 },
  "A value is not one of those that the API takes": { interval: 45 },
  "A number is a string": { interval: "60" },
  "The letter case is wrong": { requestMethod: "get" },
  "A string is a number": { name: 5 },
  "There are spaces around a value": { name: " Home" },
  "A URL has no scheme": { url: "www.shop.example" },
  "A value is secret": { url: secret("www.shop.example") },
  "A boolean is a string": { pause: "yes" },
  "There is no text to look for": { alertCondition: "url_text" },
  "A date does not exist": { maintenanceStartAt: "2030-02-30T22:00:00" },
  "A date has another form": { maintenanceStartAt: "2030-01-31 22:00" },
  "The end is before the start": {
    maintenanceStartAt: "2030-01-31T22:00:00",
    maintenanceEndAt: "2030-01-31T21:00:00",
  },
  "Alert channels are not a list": { alertChannelIds: 7 },
  "An alert channel is a name": { alertChannelIds: ["on call"] },
  "Headers are not a list": { requestHeaders: { "X-Probe": "yes" } },
  "A header is not a pair": { requestHeaders: ["X-Probe"] },
  "A header has another part": { requestHeaders: [{ key: "X", value: "1", name: "Y" }] },
  "A header's value is a number": { requestHeaders: [{ key: "X", value: 1 }] },
  "There are spaces around a header's value": { requestHeaders: [{ key: "X", value: " 1" }] },
  "A header's name has a space": { requestHeaders: [{ key: "X Y", value: "1" }] },
  "A header has two lines": { requestHeaders: [{ key: "X", value: "1\n2" }] },
  "An account is not known in the preview": { account: engineUnknown },
  "An account is empty": { account: "" },
  "The id of an import is not known in the preview": { importId: engineUnknown },
  "The id of an import has spaces": { importId: " 1" },
  "The option import is a property": { importId: "1", __options: {} },
};

/** The same of a domain. */
const domainRefusals: Record<string, Inputs> = {
  "A property does not exist": { colour: "red" },
  "A domain has a scheme": { name: "https://shop.example" },
};

/** The message with what differs from one run to the next in one form. */
function plain(message: string): string {
  return (
    message
      .replace(/^: /gm, "")
      // The digits depend on the port.
      .replace(/\b([0-9a-f]{4})=([0-9a-f]{4})\b/g, (_, one, other) =>
        one === other ? "81d0=81d0" : "3f9c=81d0",
      )
      .replace(/https?:\/\/127\.0\.0\.1:\d+/g, "https://uptime.example.com")
      .replace(/https:\/\/no\.such\.host\.invalid/g, "https://uptime.example.com")
      .replace(/the folder \S+ /, "the folder /tmp/pulumi-uptime-1000 ")
  );
}

const documented = readFileSync(file, "utf8");
/** By heading of the page. */
const messages = new Map<string, string>();
const refused: string[] = [];

test.each(Object.entries(cases))("%s", async (heading, provoke) => {
  const message = await failureOf(provoke());
  expect(message).not.toContain(emulator.apiKey);
  messages.set(heading, plain(message));
});

test.each([
  ...Object.entries(refusals).map(([heading, more]) => [heading, "monitor", { ...home, ...more }] as const),
  ...Object.entries(domainRefusals).map(
    ([heading, more]) => [heading, "domain", { name: "shop.example", ...more }] as const,
  ),
])("%s", async (_, kind, declared) => {
  const message = await failureOf(new Program("dynamic").resource(kind).preview(declared));
  expect(emulator.requests).toEqual([]);
  refused.push(plain(message));
});

test("docs/errors.md says what is printed (UPDATE_DOCS=1 writes it)", () => {
  messages.set("Values that the preview refuses", refused.join("\n"));
  const shown: string[] = [];
  const text = documented.replace(
    /^(## ([^\n]+)\n\n```text\n).*?(?=\n```$)/gms,
    (_, start: string, heading: string) => {
      shown.push(heading);
      return start + (messages.get(heading) ?? "");
    },
  );
  expect(shown.sort()).toEqual([...messages.keys()].sort());
  if (process.env.UPDATE_DOCS === "1") writeFileSync(file, text);
  else expect(documented).toBe(text);
  const headings = [...documented.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);
  const links = headings.map((heading) => `- [${heading}](${anchorOf(heading)})`);
  expect(documented.match(/^- .*$/gm)).toEqual(links);
});

test("an error about a file keeps its cause", () => {
  const folder = newFolder();
  const cause = expect.objectContaining({ code: "EISDIR" }) as unknown;
  expect(() => readText(folder)).toThrow(expect.objectContaining({ cause }) as Error);
});
