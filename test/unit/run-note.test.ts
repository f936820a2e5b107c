import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import { join } from "node:path";

import { runNote } from "../../provider/engine/run-note";
import { newFolder } from "../support/folder";
import { failureOf, fronts, Program, Server } from "../support/program";

const engine = "127.0.0.1:4000";
const record = "server monitors 1";
const home = { name: "Home", url: "https://example.com/", interval: 60 };

let temporary: string;
beforeEach(() => {
  temporary = newFolder();
  jest.spyOn(os, "tmpdir").mockImplementation(() => temporary);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const folder = (): string => join(temporary, `pulumi-uptime-${process.getuid?.() ?? "user"}`);

describe("the note of a run", () => {
  test("tells another process of the run what this one has got, in a file that only this user can read", () => {
    runNote(() => engine).tell(record);
    const [file = ""] = readdirSync(folder());
    expect([folder(), join(folder(), file)].map((path) => statSync(path).mode & 0o077)).toEqual([0, 0]);
    expect(runNote(() => engine).have(record)).toBe(false);
    // As if another process that runs had written it.
    const text = readFileSync(join(folder(), file), "utf8");
    writeFileSync(join(folder(), file), text.replace(String(process.pid), String(process.ppid)));
    const note = runNote(() => engine);
    expect([note.have(record), note.have("server monitors 2")]).toEqual([true, false]);
    // It reads what the others add, too.
    appendFileSync(join(folder(), file), text.replace(String(process.pid), String(2 ** 22 + 1)));
    expect(note.have(record)).toBe(true);
    expect(runNote(() => "127.0.0.1:4001").have(record)).toBe(false);
  });

  test("gives a record to the first of two processes that get it at the same time; the other one gets an error", () => {
    const note = runNote(() => engine);
    note.tell(record);
    const [file = ""] = readdirSync(folder());
    const own = readFileSync(join(folder(), file), "utf8");
    const others = own.replace(String(process.pid), String(process.ppid));
    writeFileSync(join(folder(), file), own + others);
    expect(note.have(record)).toBe(false);
    writeFileSync(join(folder(), file), others);
    expect(() => {
      runNote(() => engine).tell(record);
    }).toThrow("another resource of this run has adopted or imported it");
    // What a process that has ended was first with is free.
    writeFileSync(join(folder(), file), others.replace(String(process.ppid), String(2 ** 22 + 1)));
    runNote(() => engine).tell(record);
  });

  test("needs no name of the user, which a container may not know", () => {
    jest.spyOn(os, "userInfo").mockImplementation(() => {
      throw new Error("uv_os_get_passwd returned ENOENT");
    });
    runNote(() => engine).tell(record);
    expect(readdirSync(folder())).toHaveLength(1);
  });

  test("is not written for no engine", () => {
    const note = runNote(() => undefined);
    note.tell(record);
    expect([note.have(record), readdirSync(temporary)]).toEqual([false, []]);
  });
});

describe.each(fronts)("if the note cannot be written (%s)", (front) => {
  let server: Server;
  beforeEach(async () => {
    server = await Server.start();
    server.emulator.monitors.add({ ...home, alert_condition: "url_unavailable", request_method: "GET" });
  });
  afterEach(() => server.stop());
  test.each<[string, (program: Program) => Promise<unknown>]>([
    ["an adoption", (program) => program.resource().up(home)],
    [
      "an import",
      async (program) => {
        const { monitor } = program.providers;
        // One of the two imports by itself, the other one by what the engine asks.
        if (monitor.import) return monitor.import("urn:pulumi:stack::project::type::home", "1", home);
        const importing = { ...home, importId: "1", __options: { importer: "home" } };
        return program.resource().up(importing);
      },
    ],
  ])("%s does nothing, and the error names the folder and TMPDIR", async (_, operation) => {
    temporary = join(temporary, "file");
    writeFileSync(temporary, "");
    const settings = { "uptime:adoptExisting": "true" };
    const failure = await failureOf(
      operation(new Program(server, front, settings, { neighbors: runNote(() => engine) })),
    );
    expect(failure).toContain(`the folder ${folder()} cannot be written (`);
    expect(failure).toContain("Set TMPDIR to a folder that can.");
    expect(server.emulator.writes()).toEqual([]);
  });
});
