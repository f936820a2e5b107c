import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { newFolder } from "../support/folder";
import { type Forge, GitLabForge, platforms } from "../support/forge";
import { type Event, gitHubWorkflow, gitLabPipeline, Recipes } from "../support/workflow";

/** What the replaced commands print and end with; the test of that name in `engine` has the real ones. */
interface Commands {
  drift?: number;
  /** What `drift` finds if it ends with 2. */
  urns?: readonly string[];
  doctor?: number;
  preview?: number;
  /** How `comment --code` ends, and `comment --reviewed`. */
  code?: number;
  review?: number;
}

interface Reviewed {
  body: string;
  pull: number;
  head: string;
  deletes: boolean;
  applied?: boolean;
}

const settings = {
  PULUMI_BACKEND_URL: "file:///state",
  PULUMI_CONFIG_PASSPHRASE: "",
  UPTIME_BASE_URL: "https://uptime.example.com",
  UPTIME_API_KEY: "key",
};

/** The recipes for a stack, with the commands of Pulumi and of this package replaced; `log` says which of them ran. */
class Setup extends Recipes {
  private readonly shown: string;

  constructor(forge: Forge, stack = "test") {
    super(newFolder(), forge, { PATH: process.env.PATH ?? "" }, settings, stack);
    this.shown = join(this.folder, "log");
    this.set({});
  }

  set(commands: Commands): void {
    const usual = { drift: 0, urns: ["urn:a b", "urn:c"], code: 0, doctor: 0, preview: 0, review: 0 };
    const { drift, urns, code, doctor, preview, review } = { ...usual, ...commands };
    const drifted = drift === 2 ? urns.map((urn) => ({ urn })) : [];
    this.program(
      "pulumi",
      `echo "$1" >> log; [ "$1" != preview ] || { echo '{}'; exit ${preview}; }; printf '<%s>' pulumi "$@"; echo`,
    );
    this.program(
      "npx",
      `shift 2; case "$*" in
        drift*) echo '${JSON.stringify({ drifted })}'; echo drift >> log; exit ${drift};;
        doctor*) echo "{}"; echo doctor >> log; exit ${doctor};;
        *--code*) echo code >> log; echo "$@" > checked; exit ${code};;
        *--reviewed*) echo review >> log; echo "$@" > reviewed; exit ${review};;
        *) while [ $# -gt 0 ]; do case "$1" in --title) title=$2;; --commit) commit=$2;; esac; shift; done
          echo "<!-- pulumi-uptime comment v2 title=$title commit=$commit digest=1 changes=2 -->"; echo "The changes of $commit";;
      esac`,
    );
  }

  /** The commands since the last time. */
  log(): string[] {
    if (!existsSync(this.shown)) return [];
    const text = readFileSync(this.shown, "utf8");
    rmSync(this.shown);
    return text.trim().split("\n");
  }

  /** What the last apply took as reviewed. */
  reviewed(): Reviewed[] {
    return this.comments().filter(({ applied }) => !applied);
  }

  /** The comments of which it took only the code in state. */
  known(): Reviewed[] {
    return this.comments().filter(({ applied }) => applied);
  }

  private comments(): Reviewed[] {
    return JSON.parse(readFileSync(join(this.folder, "reviewed.json"), "utf8")) as Reviewed[];
  }
}

describe.each(platforms)("%s", (platform, Kind) => {
  const isGitHub = platform === "GitHub";
  let forge: Forge;
  let setup: Setup;
  beforeEach(async () => {
    forge = await new Kind().start();
    setup = new Setup(forge);
  });

  const mark = "pulumi-uptime comment v2";
  /** What a preview of the stack `test` leaves. */
  const comment = (number: number, commit: string) =>
    forge.comment(number, forge.bot, `<!-- ${mark} title=test commit=${commit} changes=2 -->`);

  /** A pull request that was previewed and merged. */
  function merged(number: number, head: string, ...commits: string[]): void {
    if (!forge.pulls.has(number)) forge.open(number, head);
    comment(number, head);
    forge.merge(number, ...commits);
  }

  const preview = (commit: string, more: Partial<Event> = {}, of = setup) =>
    of.only("preview", { commit, pull: 12, ...more });
  /** An apply of a commit, by hand if it has something reviewed. */
  const apply = (commit: string, reviewed?: string) =>
    setup.only("apply", { commit, ...(reviewed !== undefined && { reviewed }) });

  test("one comment for each stack, updated in place behind 150 others, and nobody else's", async () => {
    const [staging, prod] = [new Setup(forge, "staging"), new Setup(forge, "prod")];
    forge.open(12, "a1");
    for (let count = 0; count < 150; count++)
      forge.comment(12, count % 2 === 0 ? "bob" : "", `comment ${count}`);
    const forged = forge.comment(12, "mallory", `<!-- ${mark} title=prod commit=a1 -->`);
    const isPreviewed = { name: "preview", code: 0 };
    expect(await preview("a1", {}, prod)).toMatchObject(isPreviewed);
    expect(await preview("a1", {}, staging)).toMatchObject(isPreviewed);
    expect(await preview("a2", {}, prod)).toMatchObject(isPreviewed);
    for (let count = 0; count < 150; count++) forge.comment(12, "bob", "…");
    expect(await preview("a3", {}, prod)).toMatchObject(isPreviewed);
    expect(forge.ownComments(12).map(({ body }) => body.split("\n"))).toEqual([
      [`<!-- ${mark} title=prod commit=a3 digest=1 changes=2 -->`, "The changes of a3", ""],
      [`<!-- ${mark} title=staging commit=a1 digest=1 changes=2 -->`, "The changes of a1", ""],
    ]);
    expect(forged.body).not.toContain("digest");
    expect(prod.log()).toEqual([1, 2, 3].flatMap(() => ["drift", "doctor", "preview"]));
  });

  test("a request that fails makes the job fail, and never leads to a second comment", async () => {
    forge.open(12, "a1");
    for (let count = 0; count < 150; count++) forge.comment(12, "bob", "…");
    expect(await preview("a1")).toMatchObject({ code: 0 });
    let lists = 0;
    const faults: (typeof forge.fault)[] = [
      // The first page, the second, who one is, and the update.
      (method, path) => (method === "GET" && /comments|notes/.test(path) ? 502 : undefined),
      (method, path) => (method === "GET" && /comments|notes/.test(path) && ++lists === 2 ? 502 : undefined),
      (method, path) => (path.endsWith("/user") || method === "PATCH" ? 500 : undefined),
      (method) => (method === "GET" ? undefined : 403),
    ];
    for (const fault of faults) {
      forge.fault = fault;
      const { code, output } = await preview("a2");
      expect({ code, output }).toEqual({
        code: 1,
        output: expect.stringMatching(/(GET|POST|PUT|PATCH) http\S+: (502|500|403) /) as string,
      });
      expect(output).not.toMatch(/^ +at /m);
    }
    forge.fault = undefined;
    expect(await preview("a3")).toMatchObject({ code: 0 });
    expect(forge.ownComments(12)).toMatchObject([{ body: expect.stringContaining("commit=a3") as string }]);
  });

  test("a preview that fails makes the job fail, after the comment has said so", async () => {
    forge.open(12, "a1");
    for (const [commands, ran] of [
      [{ preview: 255 }, ["drift", "doctor", "preview"]],
      [{ doctor: 1 }, ["drift", "doctor"]],
      // What the state holds is not run.
      [{ drift: 1 }, ["drift", "doctor"]],
    ] as const) {
      setup.set(commands);
      expect((await preview("a1")).code).not.toBe(0);
      expect(setup.log()).toEqual(ran);
    }
    expect(forge.ownComments(12)).toHaveLength(1);
    setup.set({ drift: 2 });
    expect(await preview("a1")).toMatchObject({ code: 0 });
  });

  test("a fork gets one line in place of a preview", async () => {
    const forked = await preview("a1", { from: "eve/monitors" });
    expect(forked).toMatchObject({ name: "not-previewed", code: 0 });
    expect(forked.output.trim().split("\n")).toEqual([expect.stringContaining("Nothing is previewed")]);
    if (isGitHub) expect((await preview("a1", { author: "dependabot[bot]" })).name).toBe("not-previewed");
    expect(forge.writes).toEqual([]);
  });

  test("reviewed is what was merged since the last apply: two merges in one apply, and a rebase of several commits", async () => {
    forge.applied.push("c0");
    merged(12, "a1", "c1");
    merged(13, "b1", "c2", "c3");
    expect(await apply("c3")).toMatchObject({ code: 0 });
    expect(setup.reviewed()).toMatchObject([
      { pull: 12, head: "a1", deletes: false, body: expect.stringContaining("=test commit=a1 ") as string },
      { pull: 13, head: "b1", deletes: false },
    ]);
    // One that failed is not the last apply; one that has succeeded is.
    forge.applied.push("c1");
    await apply("c3");
    expect(setup.reviewed()).toMatchObject([{ pull: 13 }]);
    // The last one that was applied tells what code state holds since then.
    expect(setup.known()).toMatchObject([{ pull: 12, head: "a1", applied: true, deletes: false }]);
    // What others have run elsewhere tells nothing of this branch.
    forge.appliedElsewhere.push("c3", "c0");
    await apply("c3");
    expect(setup.reviewed()).toMatchObject([{ pull: 13 }]);
    // 120 commits are two pages.
    forge.open(14, "d1");
    merged(14, "d1", ...Array.from({ length: 120 }, (_, index) => `d${index}x`));
    await apply("d119x");
    expect(setup.reviewed()).toMatchObject([{ pull: 13 }, { pull: 14 }]);
    // The branch was rewritten: only the last commit's own pull request is known.
    forge.applied.push("gone");
    await apply("d119x");
    expect(setup.reviewed()).toMatchObject([{ pull: 14 }]);
  });

  test("an apply that is run again after a newer merge stops before anything is read", async () => {
    merged(12, "a1", "c1");
    merged(13, "b1", "c2");
    setup.log();
    const again = await apply("c1");
    expect(again.code).toBe(1);
    expect(again.output).toContain(
      "Nothing is applied: c1 is not the head of main any more. The run of c2 applies what this one would.",
    );
    expect(setup.log()).toEqual([]);
  });

  test("the branch of an open pull request is not applied, by hand neither, nor counts its comment", async () => {
    forge.open(12, "a1");
    comment(12, "a1");
    expect(await setup.runJobs("apply", { commit: "a1", branch: "monitors", reviewed: "" })).toEqual([]);
    // Its commit is also the head of the default branch, as after a push past the pull request.
    forge.main.push("a1");
    expect(await apply("a1")).toMatchObject({ code: 0 });
    expect(setup.reviewed()).toEqual([]);
    // Merged into another branch.
    Object.assign(forge.pulls.get(12) ?? {}, { base: "next", mergedAt: forge.now() });
    await apply("a1");
    expect(setup.reviewed()).toEqual([]);
  });

  test("what counts is what a reviewer saw: not others' comments, nor one written after the merge", async () => {
    forge.applied.push("c0");
    forge.open(12, "a1");
    const { body } = forge.comment(12, "mallory", `<!-- ${mark} title=test commit=a1 changes=9 -->`);
    merged(12, "a1", "c1");
    await apply("c1");
    expect(setup.reviewed().map(({ body }) => body)).toEqual([forge.ownComments(12)[0]?.body]);
    expect(setup.reviewed()[0]?.body).not.toBe(body);
    // Somebody runs the preview again, which updates it.
    Object.assign(forge.ownComments(12)[0] ?? {}, { at: forge.now() });
    const { output } = await apply("c1");
    expect(setup.reviewed()).toEqual([]);
    expect(output).toContain("The comment on #12 was written after the merge, so it does not count.");
  });

  test("the label allow-deletes counts as it was at the merge", async () => {
    forge.applied.push("c0");
    const cases: [before: boolean[], after: boolean[], counts: boolean][] = [
      [[true], [], true],
      [[], [true], false],
      [[true, false], [true], false],
      [[true], [false], true],
    ];
    // In the other order than they were set.
    cases.forEach(([before, after], index) => {
      forge.open(index, `a${index}`);
      for (const isAdded of before) forge.label(index, isAdded);
      merged(index, `a${index}`, `m${index}`);
      for (const isAdded of after) forge.label(index, isAdded);
      forge.pulls.get(index)?.labels.reverse();
    });
    await apply("m3");
    expect(setup.reviewed().map(({ deletes }) => deletes)).toEqual(cases.map(([, , counts]) => counts));
  });

  if (isGitHub)
    test("a label that a workflow has added does not count, nor does a run of a tag with the branch's name", async () => {
      forge.applied.push("c0");
      forge.open(1, "a1");
      forge.label(1, true, forge.bot);
      merged(1, "a1", "c1");
      forge.open(2, "a2");
      forge.label(2);
      forge.label(2, true, forge.bot);
      forge.label(2, false, forge.bot);
      merged(2, "a2", "c2");
      await apply("c2");
      expect(setup.reviewed().map(({ deletes }) => deletes)).toEqual([false, false]);
      // Its commit is on no branch, so only the last pull request counts.
      forge.applied.push("tagged");
      await apply("c2");
      expect(setup.reviewed()).toMatchObject([{ pull: 2 }]);
    });

  test("an apply stops before it writes, and runs `up` also if nothing changes in the API", async () => {
    merged(12, "a1", "c1");
    setup.log();
    const applyWith = async (commands: Commands, reviewed?: string) => {
      setup.set(commands);
      return [(await apply("c1", reviewed)).code, ...setup.log()];
    };
    expect(await applyWith({ drift: 1 })).toEqual([1, "drift"]);
    expect(await applyWith({ code: 1 })).toEqual([1, "drift", "code"]);
    expect(readFileSync(join(setup.folder, "checked"), "utf8")).toContain("--code --reviewed reviewed.json");
    const taken = () => readFileSync(join(setup.folder, "reviewed"), "utf8");
    const before = ["drift", "code", "doctor"];
    const reviewed = [...before, "preview", "review"];
    expect(await applyWith({ doctor: 1 })).toEqual([1, ...before]);
    expect(await applyWith({ review: 1 })).toEqual([1, ...reviewed]);
    expect(await applyWith({ preview: 9 })).toEqual([9, ...reviewed]);
    // State has aliases and options too. Without drift nothing is refreshed: without a target, that would be all.
    expect(await applyWith({})).toEqual([0, ...reviewed, "up"]);
    expect(taken()).toContain("--reviewed reviewed.json --max-deletes 20%");
    expect(await applyWith({ drift: 2 }, "0123456789abcdef")).toEqual([0, ...reviewed, "refresh", "up"]);
    expect(readFileSync(join(setup.folder, "checked"), "utf8")).toContain("--reviewed 0123456789abcdef\n");
    expect(taken()).toContain("--reviewed 0123456789abcdef ");
    // A request that fails: nothing is known about the reviews.
    forge.fault = (_, path) => (/labels|events/.test(path) ? 503 : undefined);
    expect(await applyWith({})).toEqual([1]);
  });

  test("an apply refreshes what has drifted and nothing else, and nothing that Pulumi prints is a command", async () => {
    merged(12, "a1", "c1");
    const outputs: string[] = [];
    setup.set({ drift: 2 });
    for (let count = 0; count < 2; count++)
      outputs.push((await apply("c1")).stdout.split("\n").slice(-4).join("\n"));
    const flags = "<--yes><--skip-preview>";
    const commands = [
      `<pulumi><refresh><--stack><test>${flags}<--non-interactive><--color><never><--target=urn:a b><--target=urn:c>`,
      `<pulumi><up><--stack><test>${flags}<--diff><--non-interactive><--color><never>`,
    ];
    for (const output of outputs) expect(output.split("\n").slice(-3, -1)).toEqual(commands);
    if (!isGitHub) return;
    // A token that nobody can know, and none if it cannot be made: then nothing is printed.
    const tokens = outputs.map((output) => /^::stop-commands::([\w-]{36})$/m.exec(output)?.[1]);
    expect(new Set([...tokens, undefined]).size).toBe(3);
    setup.log();
    setup.program("node", `[ "$1" != -p ] || exit 3; exec ${process.execPath} "$@"`);
    expect((await apply("c1")).code).toBe(3);
    expect(setup.log().at(-1)).toBe("preview");
  });

  test("an apply with drift of a resource whose name Pulumi would expand writes nothing", async () => {
    merged(12, "a1", "c1");
    setup.set({ drift: 2, urns: ["urn:c", "urn:all*"] });
    const { code, stdout, stderr } = await apply("c1");
    expect(code).toBe(1);
    expect(stdout + stderr).toContain("Pulumi takes the * in --target=urn:all* for any name");
    expect(setup.log()).not.toContain("up");
    expect(setup.log()).not.toContain("refresh");
  });

  test("what is asked of the platform: of a run by hand only the branch's head, and the first page with an apply", async () => {
    merged(12, "a1", "c1");
    const asked = async (reviewed?: string): Promise<string[]> => {
      const paths: string[] = [];
      forge.fault = (_, path) => void paths.push(path);
      expect(await apply("c1", reviewed)).toMatchObject({ code: 0 });
      return paths;
    };
    expect(await asked("0123456789abcdef")).not.toContainEqual(
      expect.stringMatching(/runs|deployments|commits/),
    );
    forge.applied.push(...Array.from({ length: 250 }, () => "c0"));
    const pages = (await asked()).filter((path) => /runs|deployments/.test(path));
    expect(pages).toHaveLength(isGitHub ? 2 : 1);
    // GitLab's apply has another token than its previews.
    if (isGitHub) return;
    forge.env = () => ({ ...GitLabForge.prototype.env.call(forge, "c1"), REVIEWER: "" });
    expect((await apply("c1")).output).toContain("The variable REVIEWER is not set.");
  });

  test("drift by night: an issue for each stack is opened, updated and closed, and an error leaves it as it is", async () => {
    const [staging, prod] = [new Setup(forge, "staging"), new Setup(forge, "prod")];
    const night = async (setup: Setup, drift: number) => {
      setup.set({ drift });
      return (await setup.only("drift", { commit: "c0" })).code;
    };
    expect(await night(prod, 0)).toBe(0);
    expect(forge.issues).toEqual([]);
    expect(await night(prod, 2)).not.toBe(0);
    expect(await night(staging, 2)).not.toBe(0);
    expect(await night(prod, 2)).not.toBe(0);
    expect(await night(prod, 1)).toBe(1);
    const open = ["prod", "staging"].map((stack) => ({
      title: `Drift: the monitors of ${stack} were edited by hand`,
      body: expect.stringContaining(`title=${stack} `) as string,
      isOpen: true,
    }));
    expect(forge.issues).toMatchObject(open);
    expect(await night(prod, 0)).toBe(0);
    expect(forge.issues.map(({ isOpen }) => isOpen)).toEqual([false, true]);
  });
});

describe("what the workflows for GitHub may do", () => {
  test.each(["preview", "apply", "drift"] as const)("%s.yml: as little as it needs", (name) => {
    const { jobs, on, concurrency } = gitHubWorkflow(name);
    const { [name]: job, ...others } = jobs;
    expect(job?.permissions).toEqual(
      {
        preview: { contents: "read", "pull-requests": "write" },
        apply: { actions: "read", contents: "read", issues: "read", "pull-requests": "read" },
        drift: { contents: "read", issues: "write" },
      }[name],
    );
    expect(job?.environment).toBe(name === "apply" ? "uptime-apply" : "uptime-read");
    for (const { permissions, environment, steps } of Object.values(others))
      expect({ permissions, environment, count: steps.length }).toEqual({ permissions: {}, count: 1 });
    expect(Object.keys(on)).not.toContain("pull_request_target");
    // One that is cancelled leaves the stack half applied.
    if (name === "apply") expect(concurrency).toEqual({ group: "uptime-apply", "cancel-in-progress": false });
    for (const { uses, run = "", env, with: inputs } of job?.steps ?? []) {
      if (uses?.startsWith("pulumi/actions@")) expect(inputs).toEqual({ "pulumi-version": "3.250.0" });
      if (uses !== undefined) expect(uses).toMatch(/^(actions|pulumi)\/[\w-]+@[0-9a-f]{40}$/);
      // An expression in a script is text from outside that is run.
      expect(run).not.toContain("${{");
      // Installing runs the scripts of packages.
      if (run.startsWith("npm ")) expect(env).toEqual({});
      // The step that speaks to GitHub has no key of the API.
      if (env.GITHUB_TOKEN !== undefined) expect(JSON.stringify(env)).not.toContain("secrets.");
      // Only the step's own process hears that the job is cancelled.
      if (run.includes("pulumi up")) expect(run.trim().split("\n").at(-1)).toMatch(/^exec pulumi up /);
    }
  });
});

test.each(["preview", "apply"] as const)(
  "what the %s of Pulumi has printed is no command of GitHub's runner, and the runner listens again after it",
  (name) => {
    const steps = gitHubWorkflow(name).jobs[name]?.steps ?? [];
    const run = steps.find((step) => step.run?.includes("cat preview.log"))?.run ?? "";
    const printing = /^ *token=.*\n *echo "::stop-commands.*\n *cat preview\.log\n.*$/m.exec(run)?.[0] ?? "";
    const cwd = newFolder();
    // The last line may have no end.
    writeFileSync(join(cwd, "preview.log"), "::error::first\n::add-mask::last");
    expect(run).toContain("> preview.json 2> preview.log");
    const output = execFileSync("bash", ["-ec", printing], { cwd, encoding: "utf8" });
    const [stop = "", ...lines] = output.trimEnd().split("\n");
    const token = /^::stop-commands::([0-9a-f-]{36})$/.exec(stop)?.[1] ?? "";
    expect(lines).toEqual(["::error::first", "::add-mask::last", `::${token}::`]);
  },
);

test("what the recipes refer to is in their page", () => {
  const read = (name: string) => readFileSync(join(__dirname, "../../examples/ci", name), "utf8");
  const recipes = ["preview", "apply", "drift"].map((name) => read(`github/${name}.yml`));
  const named = [...recipes, read("gitlab/gitlab-ci.yml")].flatMap((text) => [
    ...text.matchAll(/see "(.+)" in the page/g),
  ]);
  expect(named.length).toBeGreaterThan(2);
  for (const [, heading = ""] of named) expect(read("README.md")).toMatch(new RegExp(`^#+ ${heading}$`, "m"));
});

test("the pipeline for GitLab runs the same commands, and waits for an approval only to apply", () => {
  const pipeline = gitLabPipeline();
  expect(pipeline.apply.environment).toEqual({ name: "uptime-apply/$STACK" });
  for (const name of ["preview", "drift"] as const)
    expect(pipeline[name].environment).toEqual({ name: "uptime-read", action: "access" });
  expect(pipeline.apply.resource_group).toBe("uptime-apply-$STACK");
  const commands = (text: string) =>
    text
      // What the platforms call themselves, and their own limits.
      .replace(/"\$(\w+URL|COMMIT|commit)"| --limit \d+/g, "")
      .replace(/^.*GITHUB_STEP_SUMMARY.*$/gm, "")
      .replaceAll(".github/", ".gitlab/")
      .match(/^ *(exec |comment )?(pulumi|npx|--|node \S+ refresh).*$/gm)
      ?.map((line) => line.trim());
  for (const name of ["preview", "apply", "drift"] as const) {
    const steps = gitHubWorkflow(name).jobs[name]?.steps ?? [];
    const ours = commands(steps.map(({ run = "" }) => run).join("\n"));
    expect(ours?.length).toBeGreaterThan(3);
    expect(commands(pipeline[name].script.join("\n"))).toEqual(ours);
  }
});
