import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { answer } from "../support/emulator";
import { newFolder } from "../support/folder";
import { type Forge, GitHubForge, type GitLabForge, platforms } from "../support/forge";
import { fullTest, isFull } from "../support/size";
import { monitorOf, namesIn, programOf, recordOf, startStack, writesTo, type Stack } from "../support/stack";
import { type Event, type Job, Recipes } from "../support/workflow";

const secretHeader = "canary-0815";
const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");

/** A program with a monitor `Site`, and others that have nothing but a name. */
const program = (interval: number, others: readonly string[], header = secretHeader): string =>
  programOf([
    monitorOf("site", { name: "Site", interval, requestHeaders: [{ key: "X-Token", value: header }] }),
    ...others.map((name) => monitorOf(name, { name })),
  ]);

/** The line that declares one more monitor. */
const oneMore = (name: string, args: object, options = {}): string =>
  programOf([monitorOf(name, { name, ...args }, options)]).replace(/^.*\n/, "\n");

/** A dynamic resource of another package that manages a file. Its code is in state, and notes in a log what it is asked for. */
class Table {
  private readonly folder = newFolder();
  private readonly file = join(this.folder, "table");

  /** The code, which tells by whom it is. */
  code(author = "program"): string {
    const [file, log] = [this.file, this.log].map((path) => JSON.stringify(path));
    return [
      "exports.handler = () => {",
      `  const fs = require("fs"), note = (call) => fs.appendFileSync(${log}, "${author} " + call + ";");`,
      `  const store = (value) => { fs.writeFileSync(${file}, value); return value; };`,
      "  return {",
      '    create: async ({ value }) => (note("create"), { id: "1", outs: { value: store(value) } }),',
      `    read: async (id, props) => (note("read"), { id, props: { ...props, value: fs.readFileSync(${file}, "utf8") } }),`,
      '    diff: async (id, { value }, news) => (note("diff"), { changes: value !== news.value }),',
      '    update: async (id, olds, { value }) => (note("update"), { outs: { value: store(value) } }),',
      '    delete: async () => note("delete"),',
      "  };",
      "};",
    ].join("\n");
  }

  /** The part of a program that declares it. */
  declare(): string {
    const inputs = JSON.stringify({ __provider: this.code(), value: "declared" });
    return `\nnew (require("@pulumi/pulumi").CustomResource)("pulumi-nodejs:dynamic/acme:Table", "users", ${inputs});`;
  }

  get value(): string {
    return readFileSync(this.file, "utf8");
  }

  set value(text: string) {
    writeFileSync(this.file, text);
  }

  /** What its code was asked for since the last time, and whose. */
  calls(): string {
    const text = existsSync(this.log) ? readFileSync(this.log, "utf8") : "";
    writeFileSync(this.log, "");
    return text;
  }

  private get log(): string {
    return join(this.folder, "log");
  }
}

/** A repository whose stack was applied once, and the platform that runs the recipes on it. */
class Project {
  private constructor(
    readonly forge: Forge,
    readonly recipes: Recipes,
    readonly stack: Stack,
    /** The program of each commit. */
    private readonly programs: Map<string, string>,
  ) {}

  /** Its steps see the API's settings only where a recipe gives them. */
  static async start(
    Kind: typeof GitHubForge | typeof GitLabForge,
    first: string,
    review: Record<string, string> = { UPTIME_REVIEW_KEY: "key-of-reviews" },
  ): Promise<Project> {
    const stack = await startStack({ program: first, env: {} });
    const { emulator, workspace } = stack;
    const settings = { UPTIME_BASE_URL: emulator.url, UPTIME_API_KEY: emulator.apiKey };
    expect(await workspace.run(["up", "--yes", "--skip-preview"], { env: settings })).toMatchObject({
      code: 0,
    });
    emulator.forget();
    const { PULUMI_BACKEND_URL = "", PULUMI_CONFIG_PASSPHRASE = "", ...env } = workspace.env;
    const forge = await new Kind().start();
    forge.applied.push("c0");
    const backend = { PULUMI_BACKEND_URL, PULUMI_CONFIG_PASSPHRASE };
    const secrets = { ...backend, ...review };
    const recipes = new Recipes(workspace.project, forge, env, { ...settings, ...secrets });
    // It runs the command without looking for it, which takes half a second.
    recipes.program("npx", `[ "$1 $2" = "--no pulumi-uptime" ] && shift 2 && exec node "${main}" "$@"`);
    // `doctor --program` looks for it where npm would have linked it.
    const bin = join(workspace.project, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "pulumi-uptime"), `#!/bin/sh\nexec node "${main}" "$@"\n`, { mode: 0o755 });
    return new Project(forge, recipes, stack, new Map([["c0", first]]));
  }

  /** A pull request with this program, or a later commit of it; returns the job. */
  async propose(pull: number, commit: string, text: string): Promise<Job> {
    this.programs.set(commit, text);
    const opened = this.forge.pulls.get(pull) ?? this.forge.open(pull, commit);
    opened.head = commit;
    await this.stack.workspace.write(text);
    return this.recipes.only("preview", { commit, pull });
  }

  /** Merges a pull request as a commit of the default branch. */
  merge(pull: number, commit: string): void {
    this.programs.set(commit, this.programs.get(this.forge.pulls.get(pull)?.head ?? "") ?? "");
    this.forge.merge(pull, commit);
  }

  /** Pushes to the default branch without a pull request. */
  push(commit: string, text: string): void {
    this.programs.set(commit, text);
    this.forge.main.push(commit);
  }

  /** Runs the job `apply`, and says what it wrote to the API. */
  async apply(commit: string, more: Partial<Event> = {}): Promise<Job & { writes: string[] }> {
    const { emulator, workspace } = this.stack;
    await workspace.write(this.programs.get(commit) ?? "");
    emulator.forget();
    const job = await this.recipes.only("apply", { commit, ...more });
    if (job.code === 0) this.forge.applied.push(commit);
    return { ...job, writes: writesTo(emulator) };
  }

  /** The comment on a pull request. */
  comment(pull: number): string {
    const [comment, ...others] = this.forge.ownComments(pull);
    expect(others).toEqual([]);
    return comment?.body ?? "";
  }

  get names(): string[] {
    return namesIn(this.stack.emulator.monitors);
  }

  edit(name: string, changes: Record<string, unknown>): void {
    const { monitors } = this.stack.emulator;
    monitors.edit(Number(recordOf(monitors, name)?.id), changes);
  }
}

/** What an apply comes to: so many writes, or none because it has stopped. */
const wrote = (length: number) => ({ code: 0, writes: { length } });
const isStopped = { code: 1, writes: [] };

/** The digest that a stopped run prints. */
const digestIn = ({ output }: Job): string => /\b(?:[0-9a-f]{16}){1,2}\b/.exec(output)?.[0] ?? "";

test.each(platforms.slice(0, isFull ? 2 : 1))(
  "%s: what a pull request showed is applied once it is merged, drift included, and nothing else",
  async (_, Kind) => {
    const names = ["a", "b", "c", "d"];
    const table = new Table();
    const text = (interval: number, others: readonly string[], protect = false): string =>
      program(interval, others) + oneMore("guarded", {}, { protect }) + table.declare();
    const project = await Project.start(Kind, text(60, [...names, "old"], true));
    const { emulator, workspace } = project.stack;
    expect(await workspace.resources()).toHaveProperty("guarded.protect", true);
    project.edit("Site", { interval: 900 });
    table.value = "by hand";
    expect(await project.propose(12, "a1", text(60, [...names, "new"]))).toMatchObject({ code: 0 });
    expect(writesTo(emulator)).toEqual([]);
    const comment = project.comment(12);
    expect(comment).toMatch(
      /^<!-- pulumi-uptime comment v2 title=test commit=a1 digest=\w+ changes=\S+ -->\n/,
    );
    expect(comment).toContain("900");
    expect(comment).toContain("!     option protect: true => false\n");
    expect(comment).not.toContain(secretHeader);
    expect(comment).not.toContain(emulator.apiKey);
    // The program declares this code, so it is read there.
    expect(comment).not.toContain("#### Code");

    project.merge(12, "c1");
    expect(await project.apply("c1")).toMatchObject(wrote(3));
    expect(project.names).toEqual(["Site", ...names, "guarded", "new"]);
    expect(recordOf(emulator.monitors, "Site")).toMatchObject({ interval: 60 });
    expect(await workspace.resources()).not.toHaveProperty("guarded.protect");
    // Drift of other packages is left alone.
    expect([table.value, table.calls()]).toEqual(["by hand", expect.not.stringMatching(/read|update/)]);

    // Nobody has reviewed a push; somebody who may run jobs by hand can allow just that.
    project.push("c2", text(300, [...names, "new"]));
    const pushed = await project.apply("c2");
    expect(pushed).toMatchObject(isStopped);
    const reviewed = ` ${digestIn(pushed)}. `;
    if (isFull) expect(await project.apply("c2", { reviewed })).toMatchObject(wrote(1));
    // Somebody runs an earlier job again, which undoes nothing.
    const old = await project.apply("c1");
    expect(old).toMatchObject(isStopped);
    expect(old.output).toContain("c1 is not the head of main any more");
    // The key is nowhere, since it was in the environment only.
    expect(await workspace.stateText()).not.toContain(emulator.apiKey);

    // Somebody who can write state puts other code in, which stops an apply before it runs.
    table.calls();
    const [own, evil] = ["program", "somebody"].map((author) => JSON.stringify(table.code(author)));
    const poisoned = JSON.stringify(await workspace.exportState()).replaceAll(own ?? "", evil ?? "");
    writeFileSync(join(workspace.project, "state.json"), poisoned);
    await workspace.pulumi("stack", "import", "--file", "state.json");
    const stopped = await project.apply("c2");
    expect(stopped).toMatchObject(isStopped);
    expect(stopped.output).toContain("Nobody has reviewed code in state of Table users (");
    expect(table.calls()).toBe("");
    if (!isFull) return;
    // A pull request shows it.
    expect(await project.propose(13, "b1", text(60, [...names, "new"]))).toMatchObject({ code: 0 });
    expect(project.comment(13)).toMatch(
      /#### Code in the stack's state that is not in this program \(1\)\n\n.*\n\n- `Table users`: code `/,
    );
    // Run by hand with the digest that was printed, the job goes on to a preview, which has nothing to do.
    expect(await project.apply("c2", { reviewed: digestIn(stopped) })).toMatchObject(wrote(0));
    expect(await project.apply("c2")).toMatchObject(isStopped);
    project.merge(13, "c3");
    expect(await project.apply("c3")).toMatchObject(wrote(1));
    // What the last applied comment has shown is known, so nothing to do still needs no review.
    expect(await project.apply("c3")).toMatchObject(wrote(0));
  },
);

fullTest(
  "without a key for reviews, no secret is added unseen; and a cancelled apply has in state what it has created",
  async () => {
    const names = Array.from({ length: 24 }, (_, index) => `m${index}`);
    const project = await Project.start(GitHubForge, program(60, []), {});
    const { emulator, workspace } = project.stack;
    await project.propose(12, "a1", program(300, []));
    const lines = '! Monitor site: record 1, "Site", "https://example.com/"\n!     interval: 60 => 300\n';
    expect(project.comment(12)).toContain(`${lines}\`\`\``);
    project.merge(12, "c1");
    project.push("c2", program(300, [], "another-header"));
    const stopped = await project.apply("c2");
    expect(stopped).toMatchObject(isStopped);
    expect(stopped.output).toContain("1 of 1 change was not reviewed: Monitor site: update.");

    await project.propose(13, "b1", program(300, names, "another-header"));
    expect(project.comment(13)).toContain(`${lines}!     requestHeaders: [secret] => [secret]\n\`\`\``);
    project.merge(13, "c3");
    let posts = 0;
    let cancel = (): void => undefined;
    emulator.fault = ({ method }) => {
      if (method !== "POST") return undefined;
      if (++posts === 4) cancel();
      return { kind: "delay", answerDelayMs: 2000 };
    };
    const { child, done } = await project.recipes.startLast("apply", { commit: "c3" });
    // GitHub signals the step's own process, and 7.5 s later again.
    cancel = () => void child.kill("SIGINT");
    const { code } = await done;
    expect(code).not.toBe(0);
    emulator.fault = undefined;
    const created = project.names.length;
    expect(created).toBeLessThan(1 + names.length);
    expect(Object.keys(await workspace.resources())).toHaveLength(created);
    expect((await workspace.exportState()).deployment.pending_operations ?? []).toEqual([]);
    // Run again, the job does the rest of what was reviewed.
    const again = await project.apply("c3");
    expect(again).toMatchObject({ code: 0 });
    expect(again.writes.filter((write) => write.startsWith("POST"))).toHaveLength(1 + names.length - created);
    expect(project.names).toEqual(["Site", ...names].sort());
    expect(recordOf(emulator.monitors, "Site")).toMatchObject({
      interval: 300,
      request_headers: [{ value: "another-header" }],
    });
  },
);

describe.each(platforms)("%s", (_, Kind) => {
  fullTest(
    "other changes than reviewed, and edits since the review, stop the apply; edits that are undone do not",
    async () => {
      const project = await Project.start(Kind, program(60, ["a"]));
      await project.propose(12, "a1", program(300, ["a"]));
      project.merge(12, "c1");
      // The merge brings something else than the pull request had.
      project.push("c2", program(900, ["a"]));
      const other = await project.apply("c2");
      expect(other).toMatchObject(isStopped);
      expect(other.output).toContain("site");
      project.push("c3", program(300, ["a"]));
      project.edit("a", { interval: 1800 });
      expect(await project.apply("c3")).toMatchObject(isStopped);
      project.edit("a", { interval: 60 });
      expect(await project.apply("c3")).toMatchObject(wrote(1));

      // Only the value of a secret is another one.
      await project.propose(13, "b1", program(300, ["a"], "header-of-the-review"));
      project.merge(13, "c4");
      project.push("c5", program(300, ["a"], "another-header"));
      expect(await project.apply("c5")).toMatchObject(isStopped);
      project.push("c6", program(300, ["a"], "header-of-the-review"));
      expect(await project.apply("c6")).toMatchObject(wrote(1));
    },
  );

  fullTest("two merges in one apply: both were reviewed, whichever run was dropped", async () => {
    const project = await Project.start(Kind, program(60, ["a"]));
    await project.propose(12, "a1", program(60, ["a", "b"]));
    project.merge(12, "c1");
    // The second pull request was previewed before the first was merged.
    await project.propose(13, "b1", program(300, ["a"]));
    project.merge(13, "c2");
    project.push("c2", program(300, ["a", "b"]));
    project.forge.main.pop();
    expect(await project.apply("c2")).toMatchObject(wrote(2));
    expect(project.names).toEqual(["Site", "a", "b"]);
    // A rename changes nothing in the API, and the next pull request may remove the alias.
    const renamed = oneMore("renamed", { name: "b" }, { aliases: [{ name: "b" }] });
    await project.propose(14, "d1", program(300, ["a"]) + renamed);
    project.merge(14, "c3");
    expect(await project.apply("c3")).toMatchObject(wrote(0));
    expect(await project.stack.workspace.resources()).toHaveProperty("renamed");
  });

  fullTest(
    "deletes above the limit: named in the pull request, and allowed by a label that was set before the merge",
    async () => {
      const names = ["a", "b", "c"];
      const project = await Project.start(Kind, program(60, names));
      await project.propose(12, "a1", program(60, []));
      expect(project.comment(12)).toContain("allow-deletes");
      project.merge(12, "c1");
      project.forge.label(12);
      const late = await project.apply("c1");
      expect(late).toMatchObject(isStopped);
      expect(late.output).toContain("allow-deletes");
      // By hand, with the digest.
      expect(await project.apply("c1", { reviewed: digestIn(late) })).toMatchObject(wrote(3));
      // With the label, the next one needs nobody.
      await project.propose(13, "b1", program(60, names));
      project.merge(13, "c2");
      expect(await project.apply("c2")).toMatchObject({ code: 0 });
      await project.propose(14, "d1", program(60, []));
      project.forge.label(14);
      project.merge(14, "c3");
      expect(await project.apply("c3")).toMatchObject(wrote(3));
    },
  );

  fullTest("what has failed in the middle goes on when the job is run again", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const project = await Project.start(Kind, program(60, []));
    const { emulator } = project.stack;
    await project.propose(12, "a1", program(60, names));
    project.merge(12, "c1");
    let posts = 0;
    emulator.fault = ({ method }) =>
      method === "POST" && ++posts > 2 ? answer(422, { message: "Your quota is used up." }) : undefined;
    expect(await project.apply("c1")).not.toMatchObject({ code: 0 });
    expect(project.names).toHaveLength(3);
    emulator.fault = undefined;
    expect(await project.apply("c1")).toMatchObject(wrote(3));
    expect(project.names).toEqual(["Site", ...names]);
  });

  fullTest(
    "an apply of an update, a delete, a create, an edit by hand and a record that is gone goes on where it has failed",
    async () => {
      const names = ["a", "b", "c", "d", "f"];
      const project = await Project.start(Kind, program(60, names));
      const { emulator } = project.stack;
      project.edit("c", { interval: 900 });
      emulator.monitors.remove(Number(recordOf(emulator.monitors, "d")?.id));
      const paused = oneMore("e", { pause: true });
      await project.propose(12, "a1", program(300, ["a", "c", "d", "f"]) + paused);
      expect(project.comment(12)).toContain(
        "**Merging this deletes 1 resource, creates 2 (1 again) and updates 2; 2 unchanged.**",
      );
      project.merge(12, "c1");
      // The drift is stored in state by then, and the record of `e` is made, but not paused.
      emulator.fault = ({ method, body }) =>
        method === "PATCH" || (method === "POST" && !body.some(([, value]) => value === "e"))
          ? { kind: "answer", effect: false, status: 422, body: { message: "Not now." } }
          : undefined;
      expect(await project.apply("c1")).not.toMatchObject({ code: 0 });
      emulator.fault = undefined;
      const again = await project.apply("c1");
      expect(again.output).not.toContain("not reviewed");
      expect(again).toMatchObject({ code: 0 });
      expect(project.names).toEqual(["Site", "a", "c", "d", "e", "f"]);
      expect(recordOf(emulator.monitors, "c")).toMatchObject({ interval: 60 });
      expect(recordOf(emulator.monitors, "e")).toMatchObject({ pause: true });
      expect(await project.apply("c1")).toMatchObject(wrote(0));
    },
  );

  fullTest("an apply that was killed: the next one makes nothing twice", async () => {
    const project = await Project.start(Kind, program(60, []));
    const { emulator, workspace } = project.stack;
    await project.propose(12, "a1", program(60, ["a"]));
    project.merge(12, "c1");
    let kill = (): void => undefined;
    emulator.fault = ({ method }) => {
      if (method !== "POST") return undefined;
      setTimeout(() => kill(), 300);
      return { kind: "delay", answerDelayMs: 3000 };
    };
    const { child, done } = await project.recipes.startLast("apply", { commit: "c1" });
    kill = () => void child.kill("SIGKILL");
    expect((await done).code).not.toBe(0);
    emulator.fault = undefined;
    await workspace.mend();
    expect(project.names).toEqual(["Site", "a"]);
    const stopped = await project.apply("c1");
    expect(stopped).toMatchObject(isStopped);
    expect(stopped.output).toContain("Monitor a: a run was killed while it created it");
    // The way on that the page names.
    await workspace.setConfig({ "uptime:adoptExisting": "true" });
    const reviewed = digestIn(stopped);
    const locked = await project.apply("c1", { reviewed });
    expect(locked.output).toContain("pulumi cancel");
    await workspace.pulumi("cancel", "--yes");
    expect(await project.apply("c1", { reviewed })).toMatchObject(wrote(0));
    expect(project.names).toEqual(["Site", "a"]);
    expect(await project.apply("c1")).toMatchObject(wrote(0));
  });

  fullTest("a replacement goes on too, whichever half has failed", async () => {
    const moved = (url: string, options: object): string =>
      programOf([monitorOf("site", { name: "Site", url }, { replaceOnChanges: ["url"], ...options })]);
    for (const [options, method] of [
      [{}, "DELETE"],
      [{ deleteBeforeReplace: true }, "POST"],
    ] as const) {
      const project = await Project.start(Kind, moved("https://old.example/", options));
      const { emulator } = project.stack;
      await project.propose(12, "a1", moved("https://new.example/", options));
      project.forge.label(12);
      project.merge(12, "c1");
      emulator.fault = (request) => (request.method === method ? answer(422) : undefined);
      expect(await project.apply("c1")).not.toMatchObject({ code: 0 });
      emulator.fault = undefined;
      expect(await project.apply("c1")).toMatchObject(wrote(1));
      expect([...emulator.monitors.all()].map(({ url }) => url)).toEqual(["https://new.example/"]);
    }
  });

  fullTest("forged, edited and missing reviews stop the apply", async () => {
    const project = await Project.start(Kind, program(60, []));
    const { forge } = project;
    await project.propose(12, "a1", program(300, []));
    const [own] = forge.ownComments(12);
    const body = own?.body ?? "";
    forge.comment(12, "mallory", body);
    if (own) own.body = `Text in front\n${body}`;
    project.merge(12, "c1");
    expect(await project.apply("c1")).toMatchObject(isStopped);
    // Another commit than the one that was previewed last.
    if (own) own.body = body;
    Object.assign(forge.pulls.get(12) ?? {}, { head: "a2" });
    expect(await project.apply("c1")).toMatchObject(isStopped);
    // Only another stack's comment is there.
    Object.assign(forge.pulls.get(12) ?? {}, { head: "a1" });
    if (own) own.body = body.replace("title=test ", "title=staging ");
    expect((await project.apply("c1")).output).toContain("No comment is about a preview of test");
    // Line ends of another kind, and text behind it.
    Object.assign(forge.pulls.get(12) ?? {}, { head: "a1" });
    if (own) own.body = `${body.replaceAll("\n", "\r\n")}\r\nText behind`;
    expect(await project.apply("c1")).toMatchObject(wrote(1));
  });

  fullTest("what is wrong in a pull request makes it red, and its comment says what", async () => {
    const project = await Project.start(Kind, program(60, ["a"]));
    const { emulator } = project.stack;
    const red = async (text: string, says: string): Promise<void> => {
      expect((await project.propose(12, "a1", text)).code).not.toBe(0);
      expect(project.comment(12)).toContain(says);
    };
    await red(program(61, ["a"]), "interval must be one of 60,");
    await red('throw new Error("no such site");', "no such site");
    emulator.fault = () => answer(401);
    await red(program(300, ["a"]), "401");
    emulator.fault = undefined;
    expect(await project.propose(12, "a1", program(60, ["a"]))).toMatchObject({ code: 0 });
    expect(project.comment(12)).toContain("Merging this changes nothing");
  });

  fullTest("by night: drift, a record that is gone, and their end", async () => {
    const project = await Project.start(Kind, program(60, ["a"]));
    const { emulator } = project.stack;
    const night = async (): Promise<number> => (await project.recipes.only("drift", { commit: "c0" })).code;
    expect(await night()).toBe(0);
    project.edit("Site", { interval: 900 });
    emulator.monitors.remove(Number(recordOf(emulator.monitors, "a")?.id));
    expect(await night()).not.toBe(0);
    expect(project.forge.issues).toMatchObject([
      { isOpen: true, body: expect.stringContaining("900") as string },
    ]);
    expect(writesTo(emulator)).toEqual([]);
    // A pull request shows it, and its merge sets it back.
    await project.propose(12, "a1", program(60, ["a"]));
    project.merge(12, "c1");
    expect(await project.apply("c1")).toMatchObject(wrote(2));
    expect(await night()).toBe(0);
    expect(project.forge.issues).toMatchObject([{ isOpen: false }]);
  });
});
