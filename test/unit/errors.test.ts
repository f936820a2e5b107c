import dns from "node:dns";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { unknownValue } from "../../provider/definitions/marks";
import type { Emulator, Fault } from "../../provider/emulator";
import { FrontSession } from "../../provider/engine/front";
import { anchorOf } from "../support/blocks";
import { certificateFor } from "../support/certificate";
import { answer, clock, emulator, failureOf, settingsOf, withServer } from "../support/server";
import { dynamicProcess, ModelStack } from "../support/model";
import type { Inputs } from "../support/model";
import { startEmulator } from "../support/emulator";
import { home } from "../support/monitors";

const file = join(__dirname, "..", "..", "docs", "errors.md");
const hurried = { ...home, __options: { customTimeouts: { create: "40s" } } };

// A person's own settings must not stand in for the missing ones.
beforeAll(() => {
  for (const name of ["UPTIME_BASE_URL", "UPTIME_MONITORS_BASE_URL", "UPTIME_API_KEY"])
    Reflect.deleteProperty(process.env, name);
});

withServer();

function stack(config: Record<string, string> = {}): ModelStack {
  const all = settingsOf({ "uptime:timeoutSeconds": "600", ...config });
  return new ModelStack("monitor", all, { name: "home" }, clock);
}

interface Case {
  /** What a person would call it. */
  readonly cause: string;
  readonly todo: string;
  /** Makes it happen; the error is what it rejects with. */
  readonly provoke: () => Promise<unknown>;
}

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

/** An operation on a monitor that exists already, after something has happened to it. */
function later(change: (one: ModelStack) => Promise<unknown>) {
  return async () => {
    const one = stack();
    await one.up(home);
    return change(one);
  };
}

/** A monitor in the state that another key has left. */
function ofAnotherKey(): ModelStack {
  const one = stack();
  const outputs = { ...home, attributes: {}, __key: "0000" };
  one.state = { id: "1", inputs: home, outputs, unfinished: false };
  return one;
}

const importing = (importId: string) => stack().up({ ...home, importId });

const adoptIt =
  "Set `uptime:adoptExisting` for the next `pulumi up`; see [Adopting](adopting.md#a-program-that-already-declares-them).";

const cases: Case[] = [
  {
    cause: "Settings are missing",
    todo: "Set them in the stack's configuration or in the environment; see [Settings](settings.md).",
    provoke: () => stack({ "uptime:baseUrl": "", "uptime:apiKey": "" }).up(home),
  },
  {
    cause: "Settings cannot be used",
    todo: "Correct the settings that are named.",
    provoke: () =>
      stack({ "uptime:baseUrl": "http://uptime.example.com", "uptime:maxRetries": "many" }).up(home),
  },
  {
    cause: "401: the key is not accepted",
    todo: "Set a key that the server accepts. If you have already changed it, [run the program](drift.md#run-the-program-with-every-refresh).",
    provoke: later(async (one) => {
      const other = stack({ "uptime:apiKey": "old-key" });
      other.state = one.state;
      await other.refresh();
    }),
  },
  {
    cause: "403: the key may not do this",
    todo: "Give the key's account the permission, or set another key.",
    provoke: answering(always(403, { message: "This action is unauthorized." })),
  },
  {
    cause: "404 for everything",
    todo: "Correct the address: something other than the API responds there.",
    provoke: answering(always(404, "<h1>Not Found</h1>")),
  },
  {
    cause: "The record of an update is gone",
    todo: "Run `pulumi up --refresh --run-program`.",
    provoke: later((one) => {
      emulator.monitors.remove(1);
      return one.up({ ...home, interval: 300 });
    }),
  },
  {
    cause: "409: a conflict",
    todo: "Resolve the conflict that the API names.",
    provoke: answering(onPost(answer(409, { message: "Name is taken." }))),
  },
  {
    cause: "422: the API refuses a value",
    todo: "Correct the property that is named.",
    provoke: answering(
      onPost(
        answer(422, {
          message: "The given data was invalid.",
          errors: { interval: ["The interval is not in your plan."] },
        }),
      ),
    ),
  },
  {
    cause: "429, and no time left to wait",
    todo: "Set `uptime:requestsPerMinute`, or give the operation more time with `customTimeouts`.",
    provoke: answering(always(429, { message: "Too Many Attempts." }, { "retry-after": "60" }), hurried),
  },
  {
    cause: "429 or 503 for ten minutes",
    todo: "Set `uptime:requestsPerMinute`, or run the command again later.",
    provoke: answering(always(429, { message: "Too Many Attempts." })),
  },
  {
    cause: "5xx after all retries",
    todo: "Check the server, and rerun the command once it has recovered.",
    provoke: answering(always(500, { message: "Server Error" }), home, { "uptime:maxRetries": "1" }),
  },
  {
    cause: "Nothing listens at the address",
    todo: "Correct the address, or start the server.",
    provoke: () => stack({ "uptime:baseUrl": "http://127.0.0.1:1", "uptime:maxRetries": "0" }).up(home),
  },
  {
    cause: "The host name does not exist",
    todo: "Correct the address.",
    provoke: async () => {
      // What is looked up is not asked of a network.
      const nowhere = (_host: string, _options: object, done: (error: Error) => void): void => {
        done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }));
      };
      const lookup = jest.spyOn(dns, "lookup").mockImplementation(nowhere as unknown as typeof dns.lookup);
      try {
        return await stack({ "uptime:baseUrl": "https://no.such.host.invalid" }).up(home);
      } finally {
        lookup.mockRestore();
      }
    },
  },
  {
    cause: "The certificate is not trusted",
    todo: "Renew the certificate. If a certificate authority of your own issued it, name the file with that authority's certificate in `NODE_EXTRA_CA_CERTS`.",
    provoke: async () => {
      const server = createSecureServer(certificateFor("localhost"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      try {
        return await stack({ "uptime:baseUrl": `https://127.0.0.1:${port}` }).up(home);
      } finally {
        server.close();
      }
    },
  },
  {
    cause: "The server does not speak https",
    todo: "Correct the address. For a server without a certificate, see [`uptime:allowHttp`](settings.md).",
    provoke: () => stack({ "uptime:baseUrl": emulator.url.replace("http:", "https:") }).up(home),
  },
  {
    cause: "No answer in time",
    todo: "Check the server. If it is slow, raise `uptime:timeoutSeconds`.",
    provoke: answering(() => ({ kind: "delay", delayMs: 30_000 }), home, {
      "uptime:timeoutSeconds": "20",
      "uptime:maxRetries": "0",
    }),
  },
  {
    cause: "The connection is cut",
    todo: "Check the network and proxies, and rerun the command.",
    provoke: answering(() => ({ kind: "cut", effect: false }), home, { "uptime:maxRetries": "0" }),
  },
  {
    cause: "The answer is not JSON",
    todo: "Correct the address: a web page responds there.",
    provoke: answering(always(200, "<!doctype html><title>Log in</title>")),
  },
  {
    cause: "The answer is JSON, but not the API's",
    todo: "Correct the address.",
    provoke: answering(always(200, { hello: "world" })),
  },
  {
    cause: "The address leads elsewhere",
    todo: "Set the address that it redirects to.",
    provoke: answering(always(301, "", { location: "https://www.example.com/" })),
  },
  {
    cause: "State was made with another address",
    todo: "If you have already corrected the address, [run the program](drift.md#run-the-program-with-every-refresh). If the server has moved, set `uptime:movedFrom`. Otherwise change the address back.",
    provoke: later(async (one) => {
      const moved = await startEmulator();
      const other = stack({ "uptime:baseUrl": moved.url });
      other.state = one.state;
      await other.refresh();
    }),
  },
  {
    cause: "A record is gone, and the list is empty",
    todo: "Set the key of the stack's account. If it is set, and the records were deleted, set `uptime:sameAccount`; see [Drift](drift.md#what-was-deleted-by-hand).",
    provoke: async () => {
      const first = stack();
      return Promise.all(
        ["1", "2", "3", "4"].map(async (id) => {
          const one = first.beside();
          one.state = { id, inputs: home, outputs: { ...home, attributes: {} }, unfinished: false };
          await one.refresh();
        }),
      );
    },
  },
  {
    cause: "A record is not found, and the list holds it",
    todo: "Run the command again. If the record no longer exists, delete the resource; see [Drift](drift.md#what-was-deleted-by-hand).",
    provoke: later((one) => {
      emulator.fault = ({ path }) => (path.endsWith("/1") ? answer(404) : undefined);
      return one.refresh();
    }),
  },
  {
    cause: "A record is not found with another key",
    todo: "Set the key of the stack's account. If the present key belongs to it, set `uptime:sameAccount`; see [Drift](drift.md#what-was-deleted-by-hand).",
    provoke: () => ofAnotherKey().refresh(),
  },
  {
    cause: "Another key finds another record",
    todo: "Set the key of the stack's account. If the present key belongs to it, set `uptime:sameAccount`.",
    provoke: () => {
      emulator.monitors.add({ name: "Other", url: "https://other.example/", interval: 60 });
      return ofAnotherKey().up({ ...home, interval: 300 });
    },
  },
  {
    cause: "Pulumi was interrupted",
    todo: "Run the command again.",
    provoke: () => {
      const session = new FrontSession({ clock });
      session.interrupt();
      return new ModelStack("monitor", settingsOf(), {}, clock, dynamicProcess(session)).up(home);
    },
  },
  {
    cause: "The answer to a create was lost",
    todo: adoptIt,
    provoke: answering(onPost({ kind: "cut", effect: false, answerDelayMs: 60_000 }), hurried),
  },
  {
    cause: "The answer to a create was lost, and there is a new record like it",
    todo: `If the record that is named is yours, make it as you declare it, or delete it. ${adoptIt}`,
    provoke: () => {
      emulator.fault = (request) => {
        if (request.method !== "POST") return undefined;
        emulator.monitors.add({ ...home, interval: 900 });
        return { kind: "cut", effect: false };
      };
      return stack().up(home);
    },
  },
  {
    cause: "A create is accepted, and nothing is there",
    todo: adoptIt,
    provoke: answering(onPost(answer(200, ""))),
  },
  {
    cause: "A value is accepted, and not stored",
    todo: "Declare what the server stores. The resource is in state, and the next `pulumi up` continues with it.",
    provoke: () => {
      emulator.dialect = { notStored: ["ssl_alert_days"] };
      return stack().up({ ...home, sslAlertDays: 7 });
    },
  },
  {
    cause: "No record can be adopted",
    todo: "Do one of these; see [Adopting](adopting.md#a-program-that-already-declares-them).",
    provoke: () => {
      emulator.monitors.add({ ...home, interval: 300 });
      return stack({ "uptime:adoptExisting": "true" }).up(home);
    },
  },
  {
    cause: "An import differs from the record",
    todo: "Declare the record's values, or change the record first.",
    provoke: () => {
      emulator.monitors.add({ ...home, interval: 300, alert_condition: "url_text" });
      return importing("1");
    },
  },
  {
    cause: "An import names no record",
    todo: "Correct the id. If the resource was replaced or deleted since its import, remove the option.",
    provoke: () => importing("1"),
  },
  {
    cause: "An import names a record that another resource has",
    todo: "Remove the option, or one of the two resources. After a rename in the program, use `aliases`.",
    provoke: later((one) => one.beside({ name: "copy" }).preview({ ...home, importId: "1" })),
  },
  {
    cause: "Two resources import one record",
    todo: "Keep the option in one of them only.",
    provoke: async () => {
      emulator.monitors.add(home);
      const first = stack();
      const declared = { ...home, importId: "1" };
      await first.preview(declared);
      return first.beside({ name: "copy" }).preview(declared);
    },
  },
  {
    cause: "An account is not set",
    todo: "Correct the name, or add the account to `uptime:accounts`.",
    provoke: () =>
      stack({ "uptime:accounts": '{"eu": {"apiKey": "k"}, "us": {"apiKey": "k"}}' }).up({
        ...home,
        account: "uk",
      }),
  },
  {
    cause: "An account has no key",
    todo: "Add the key, or set the environment variable.",
    provoke: () => stack({ "uptime:accounts": '{"eu": {}}' }).up({ ...home, account: "eu" }),
  },
];

interface Refusal {
  /** What a person would call it. */
  readonly cause: string;
  readonly kind?: "domain";
  /** What the program declares, beside what a right monitor or domain has. */
  readonly declared: Inputs;
}

/** What `check` refuses by itself. */
const refusals: Refusal[] = [
  { cause: "A property is missing", declared: { url: null } },
  { cause: "A property is empty", declared: { name: "" } },
  { cause: "A property is misspelt", declared: { intervall: 60 } },
  { cause: "A property does not exist", kind: "domain", declared: { colour: "red" } },
  { cause: "A value is not one of those that the API takes", declared: { interval: 45 } },
  { cause: "A number is a string", declared: { interval: "60" } },
  { cause: "The letter case is wrong", declared: { requestMethod: "get" } },
  { cause: "A string is a number", declared: { name: 5 } },
  { cause: "There are spaces around a value", declared: { name: " Home" } },
  { cause: "A URL has no scheme", declared: { url: "www.shop.example" } },
  { cause: "A domain has a scheme", kind: "domain", declared: { name: "https://shop.example" } },
  { cause: "A boolean is a string", declared: { pause: "yes" } },
  { cause: "There is no text to look for", declared: { alertCondition: "url_text" } },
  { cause: "A date does not exist", declared: { maintenanceStartAt: "2030-02-30T22:00:00" } },
  {
    cause: "The end is before the start",
    declared: { maintenanceStartAt: "2030-01-31T22:00:00", maintenanceEndAt: "2030-01-31T21:00:00" },
  },
  { cause: "Alert channels are not a list", declared: { alertChannelIds: 7 } },
  { cause: "An alert channel is a name", declared: { alertChannelIds: ["on call"] } },
  { cause: "Headers are not a list", declared: { requestHeaders: { "X-Probe": "yes" } } },
  { cause: "A header is not a pair", declared: { requestHeaders: ["X-Probe"] } },
  {
    cause: "A header has another part",
    declared: { requestHeaders: [{ key: "X", value: "1", name: "Y" }] },
  },
  { cause: "A header's value is a number", declared: { requestHeaders: [{ key: "X", value: 1 }] } },
  {
    cause: "There are spaces around a header's value",
    declared: { requestHeaders: [{ key: "X", value: " 1" }] },
  },
  { cause: "A header's name has a space", declared: { requestHeaders: [{ key: "X Y", value: "1" }] } },
  { cause: "A header has two lines", declared: { requestHeaders: [{ key: "X", value: "1\n2" }] } },
  { cause: "An account is not known in the preview", declared: { account: unknownValue } },
  { cause: "An account is empty", declared: { account: "" } },
  { cause: "The id of an import is not known in the preview", declared: { importId: unknownValue } },
  { cause: "The id of an import has spaces", declared: { importId: " 1" } },
  { cause: "The option import is a property", declared: { importId: "1", __options: {} } },
];

/** The message with what differs from one run to the next in one form. */
function plain(message: string): string {
  return message
    .replace(/^: /gm, "")
    .replace(/https?:\/\/127\.0\.0\.1:\d+/g, "https://uptime.example.com")
    .replace(/https:\/\/no\.such\.host\.invalid/g, "https://uptime.example.com");
}

const isWriting = process.env.UPDATE_DOCS === "1";
const documented = readFileSync(file, "utf8");
const messages = new Map<string, string>();

function addMessage(cause: string, message: string): void {
  messages.set(cause, plain(message));
  if (!isWriting) expect(documented).toContain(`# ${cause}\n\n\`\`\`text\n${plain(message)}\n`);
}

test.each(cases)("$cause", async ({ cause, provoke }) => {
  const message = await failureOf(provoke());
  expect(message).not.toContain(emulator.apiKey);
  addMessage(cause, message);
});

test.each(refusals)("$cause", async ({ cause, kind, declared }) => {
  const right = kind === "domain" ? { name: "shop.example" } : home;
  const one = new ModelStack(kind ?? "monitor", settingsOf(), {}, clock);
  const message = await failureOf(one.preview({ ...right, ...declared }));
  expect(emulator.requests).toEqual([]);
  addMessage(cause, message);
});

test("docs/errors.md says what is printed (UPDATE_DOCS=1 writes it)", () => {
  const linkTo = (heading: string) => `- [${heading}](${anchorOf(heading)})`;
  const entry = (level: string, cause: string, ...rest: string[]) => {
    const message = messages.get(cause) ?? "";
    return [`${level} ${cause}`, "", "```text", message, "```", "", ...rest];
  };
  const inPreview = "Values that the preview refuses";
  const text = [
    "# Errors",
    "",
    "The provider's messages, as they are printed, and what to do about each. [Troubleshooting](troubleshooting.md) has the messages of",
    "Pulumi and of package managers.",
    "",
    ...[inPreview, ...cases.map(({ cause }) => cause)].map(linkTo),
    "",
    `## ${inPreview}`,
    "",
    "Correct the program. [Domain](domain.md#arguments) and [Monitor](monitor.md#arguments) say what each property takes.",
    "",
    ...refusals.flatMap(({ cause }) => entry("###", cause)),
    ...cases.flatMap(({ cause, todo }) => entry("##", cause, todo, "")),
  ].join("\n");
  if (isWriting) writeFileSync(file, text);
  else expect(documented).toBe(text);
});
