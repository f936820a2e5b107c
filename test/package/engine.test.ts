import { delimiter } from "node:path";

import type { Engine } from "../../tools/engine/install.mjs" with { "resolution-mode": "import" };

describe("the environment for the CLI", () => {
  const engine: Engine = { bin: ["/engine/bin"], version: "3.250.0", source: "go" };

  test("nothing of the person's own Pulumi or credentials reaches it", async () => {
    const { engineEnv } = await import("../../tools/engine/env.mjs");
    const own = {
      PATH: "/usr/bin",
      LANG: "C",
      PULUMI_STACK: "prod",
      PULUMI_ACCESS_TOKEN: "t",
      UPTIME_API_KEY: "k",
    };
    const env = engineEnv(engine, { home: "/h", backend: "/b c", temporary: "/t" }, own);
    expect(env).toMatchObject({ LANG: "C", PULUMI_HOME: "/h", PULUMI_BACKEND_URL: "file:///b%20c" });
    expect(Object.keys(env)).not.toContain("PULUMI_STACK");
    expect(Object.keys(env)).not.toContain("PULUMI_ACCESS_TOKEN");
    expect(Object.keys(env)).not.toContain("UPTIME_API_KEY");
  });

  test("the engine comes first on PATH, unless it is there already", async () => {
    const { enginePath } = await import("../../tools/engine/env.mjs");
    expect(enginePath(engine, ["/a", "/b"].join(delimiter))).toMatch(/^\/engine\/bin:\/a:/);
    expect(enginePath(engine, ["/a", "/engine/bin"].join(delimiter))).toMatch(/^\/a:\/engine\/bin/);
  });
});
