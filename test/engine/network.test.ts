import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { newFolder } from "../support/folder";
import { home } from "../support/monitors";
import { host, Proxy } from "../support/proxy";
import { startStack, yamlMonitor, yamlOf } from "../support/stack";

let proxy: Proxy;
afterEach(() => proxy.stop());

const program = (name: string): string =>
  `const args = ${JSON.stringify({ ...home, name })};
new (require("pulumi-uptime").Monitor)("dynamic", args);
new (require("pulumi-uptime/native").Monitor)("plugin", { ...args, url: "https://example.com/plugin" });`;

/** The environment in which the server is reached through the proxy only, and trusted. */
async function reaching(url: string, variable: string): Promise<Record<string, string>> {
  proxy = await Proxy.start(url);
  const authority = join(newFolder(), "authority.pem");
  writeFileSync(authority, proxy.certificate.authority);
  return { UPTIME_BASE_URL: `https://${host}`, NODE_EXTRA_CA_CERTS: authority, [variable]: proxy.url };
}

test("works through a proxy, with a server whose certificate is of a private authority", async () => {
  const { emulator, workspace } = await startStack({ program: program("Home"), emulator: { hosts: [host] } });
  const { HTTPS_PROXY = "", ...env } = await reaching(emulator.url, "HTTPS_PROXY");
  Object.assign(workspace.env, env);
  // Pulumi's SDK reads the variable in lower case too, and would ask the proxy for the engine.
  const inLowerCase = { https_proxy: HTTPS_PROXY, no_proxy: "127.0.0.1" };
  await workspace.run(["up", "--yes", "--skip-preview"], { env: inLowerCase });
  expect(emulator.monitors.all()).toMatchObject([{ name: "Home" }, { name: "Home" }]);
  Object.assign(workspace.env, { HTTPS_PROXY });
  await workspace.write(program("Start page"));
  await workspace.up("--refresh", "--run-program");
  expect(emulator.monitors.all()).toMatchObject([{ name: "Start page" }, { name: "Start page" }]);
  const { output } = await workspace.destroy("--run-program");
  expect(emulator.monitors.all()).toEqual([]);

  expect(proxy.received.map(({ url }) => url)).toEqual(proxy.received.map(() => `${host}:443`));
  expect(JSON.stringify(proxy.received.map(({ headers }) => headers))).not.toContain(emulator.apiKey);
  for (const text of [output, await workspace.backendText()]) expect(text).not.toContain(proxy.password);

  // A create that meets another certificate surely had no effect.
  emulator.forget();
  const unsafe = [
    [{ UPTIME_BASE_URL: "https://other.example" }, "ERR_TLS_CERT_ALTNAME_INVALID"],
    [{ NODE_EXTRA_CA_CERTS: "" }, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ] as const;
  for (const [env, code] of unsafe) {
    const refused = await workspace.run(["up", "--yes", "--skip-preview"], { env });
    expect(refused.output).toContain(`the server's certificate is not trusted (${code}). Check`);
  }
  expect(emulator.requests).toEqual([]);
});

test("the plugin's messages reach the engine without the proxy", async () => {
  const { emulator, workspace } = await startStack({
    language: "yaml",
    emulator: { hosts: [host] },
    program: yamlOf({ home: yamlMonitor() }),
    env: { UPTIME_LOG_LEVEL: "debug" },
  });
  const env = await reaching(emulator.url, "https_proxy");
  Object.assign(workspace.env, env, { UPTIME_API_KEY: emulator.apiKey });
  expect((await workspace.up()).output).toContain("uptime: POST /api/v1/monitors 201, ");
});
