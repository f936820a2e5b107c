import { startStack, stopStacks } from "../support/stack";

afterEach(stopStacks);

const monitor = { name: "Home", url: "https://example.com/", interval: 60 };

type Providers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A program with explicit providers, and a monitor of one of them. */
const program = (providers: Providers, provider: string): string =>
  `resources: ${JSON.stringify({
    ...Object.fromEntries(
      Object.entries(providers).map(([name, properties]) => [
        name,
        { type: "pulumi:providers:uptime", properties },
      ]),
    ),
    home: { type: "uptime:Monitor", properties: monitor, options: { provider: `\${${provider}}` } },
  })}\n`;

test("a resource that moves to a provider with another key is replaced, in the preview; a new key of its own replaces nothing", async () => {
  const first = { apiKey: "first-key" };
  const second = { apiKey: "second-key" };
  const { emulator, workspace } = await startStack({
    language: "yaml",
    program: program({ first, second }, "first"),
  });
  // A server that takes every key, as that of one account with several people does.
  emulator.fault = ({ headers }) => {
    emulator.apiKey = headers.authorization?.replace("Bearer ", "") ?? "";
    return undefined;
  };
  await workspace.up();

  // A rotation.
  await workspace.write(program({ first: { apiKey: "rotated-key" }, second }, "first"));
  expect((await workspace.preview("--diff")).output).not.toMatch(/replace/);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ id: 1 }]);

  // The same key under another name.
  await workspace.write(
    program({ first: { apiKey: "rotated-key" }, same: { apiKey: "rotated-key" } }, "same"),
  );
  expect((await workspace.preview("--diff")).output).not.toMatch(/replace/);

  await workspace.write(program({ first: { apiKey: "rotated-key" }, second }, "second"));
  expect((await workspace.preview("--diff")).output).toMatch(/replace/);
  await workspace.up();
  expect(emulator.monitors.all()).toMatchObject([{ id: 2 }]);

  // The account is the one that state means.
  const third = { apiKey: "third-key", sameAccount: true };
  await workspace.write(program({ second, third }, "third"));
  expect((await workspace.preview("--diff")).output).not.toMatch(/replace/);
});
