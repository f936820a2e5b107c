import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../support/folder";
import {
  answering,
  bodyOf,
  gitHubWorkflow,
  gitLabPipeline,
  marker,
  platformValues,
  Shell,
  stepOf,
} from "../support/workflow";

const workflows = ["preview", "apply", "drift"];

/** Steps whose commands are all replaced; the test of that name in `engine` has the real ones. */
function newShell(): Shell {
  return new Shell(newFolder(), { PATH: process.env.PATH ?? "" });
}

const values = {
  "vars.PULUMI_STACK": "prod",
  "vars.UPTIME_BASE_URL": "https://uptime.example.com",
  "secrets.PULUMI_BACKEND_URL": "file:///state",
  "secrets.PULUMI_CONFIG_PASSPHRASE": "",
  "secrets.UPTIME_API_KEY": "key",
  ...platformValues,
};

const main = join(__dirname, "..", "..", "dist", "provider", "cli", "main.js");

/** In place of `npx`: what `doctor` and `drift` print and end with. `comment` is the real command. */
const commands = (results: { doctor?: number; drift?: number; driftReport?: unknown }): string =>
  `
const [, , name] = args;
if (name === "comment") {
  process.argv.splice(2, 2);
  return void require(${JSON.stringify(main)});
}
const { doctor = 0, drift = 0, driftReport } = ${JSON.stringify(results)};
process.exitCode = name === "doctor" ? doctor : drift;
if (name === "doctor")
  return JSON.stringify({ findings: doctor === 0 ? [] : [{ code: "api-key", level: "failed", text: "status 401" }] });
return driftReport ? JSON.stringify(driftReport) : "";
`.replaceAll("\n", " ");
const type = "pulumi-nodejs:dynamic/uptime:Monitor";
const urn = `urn:pulumi:prod::team::${type}::site`;
const inOrder = { checked: 2, drifted: [] as unknown[], errors: [], encrypted: [] };
const edited = {
  ...inOrder,
  drifted: [
    {
      urn,
      type,
      name: "site",
      id: "1",
      outcome: "changed",
      properties: [{ property: "interval", inState: 60, inApi: 900, secret: false }],
    },
  ],
};
const update = {
  op: "update",
  urn,
  oldState: { type, inputs: { interval: 60 } },
  newState: { type, inputs: { interval: 300 } },
};

describe("what the workflows for GitHub may do", () => {
  test.each(workflows)("%s.yml: as little as it needs, and never for a fork with secrets", (name) => {
    const workflow = gitHubWorkflow(name);
    expect(workflow.permissions).toEqual({
      contents: "read",
      ...(name === "preview" && { "pull-requests": "write" }),
      ...(name === "apply" && { "pull-requests": "read" }),
      ...(name === "drift" && { issues: "write" }),
    });
    expect(Object.keys(workflow.on)).not.toContain("pull_request_target");
    for (const job of Object.values(workflow.jobs)) {
      if ("pull_request" in workflow.on)
        expect(job.if).toBe("github.event.pull_request.head.repo.full_name == github.repository");
      else expect(job.environment).toBe("production");
      for (const { uses, run = "", env } of job.steps) {
        if (uses !== undefined) expect(uses).toMatch(/^(actions|pulumi)\/[\w-]+@v\d+/);
        // An expression in a script is text from outside that is run.
        expect(run).not.toContain("${{");
        // Installing runs the scripts of packages.
        if (run.startsWith("npm ")) expect(env).toEqual({});
        // The step that speaks to GitHub has no key of the API.
        if (env.GH_TOKEN !== undefined) expect(JSON.stringify(env)).not.toContain("secrets.");
      }
    }
  });

  test("applies run one after the other, none is cancelled, and only what is merged is applied", () => {
    const { concurrency, on } = gitHubWorkflow("apply");
    expect(concurrency).toEqual({ group: "uptime-apply", "cancel-in-progress": false });
    expect(on).toMatchObject({
      push: { branches: ["main"] },
      workflow_dispatch: { inputs: { reviewed: {} } },
    });
    expect(Object.keys(on)).toHaveLength(2);
  });
});

test("the pipeline for GitLab runs the same commands, previews no fork, and applies one at a time", () => {
  const { preview, apply, drift } = gitLabPipeline();
  expect(preview.rules[0]?.if).toContain("$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID");
  expect(apply.rules).toEqual([
    {
      if: '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && ($CI_PIPELINE_SOURCE == "push" || $CI_PIPELINE_SOURCE == "web")',
    },
  ]);
  expect(apply.resource_group).toBe("uptime-apply");
  const commands = (text: string) =>
    text
      // The platforms' own addresses and limits.
      .replace(/--full-at "\$\w+"( --limit \d+)?/g, "--full-at …")
      .match(/^ *(pulumi|npx) .*$/gm)
      ?.map((line) => line.trim());
  expect(commands(preview.script.join("\n"))).toEqual(commands(stepOf("preview", "Preview").run));
  expect(commands(apply.script.join("\n"))).toEqual(commands(stepOf("apply", "Apply").run));
  expect(commands(drift.script.join("\n"))).toEqual(commands(stepOf("drift", "Look for drift").run));
});

const notes = "https://gitlab.example.com/api/v4/projects/7/merge_requests/12/notes";
const me = { id: 77 };

/** In place of `curl`: what GitLab's API answers, with these comments on the merge request. */
const gitLab = (comments: readonly object[], labels: readonly string[] = []) =>
  answering({
    "/user": me,
    "/notes?": comments,
    "/commits/0a1b/": [
      { iid: 13, state: "opened", labels: ["allow-deletes"] },
      { iid: 12, state: "merged", labels },
    ],
  });

test("GitLab: a merge request shows the changes in one comment, which is updated", async () => {
  const shell = newShell();
  shell.replace("npx", commands({ drift: 2, driftReport: edited }));
  shell.replace("pulumi", `return ${JSON.stringify(JSON.stringify({ steps: [update] }))}`);
  const others = [
    { id: 4, author: { id: 5 }, body: `${marker}-->\nNot the token's own.` },
    { id: 5, author: me, body: "Looks good" },
  ];
  shell.replace("curl", gitLab(others));
  expect(await shell.job("preview", {})).toMatchObject({ code: 0 });
  const posted = shell.calls().at(-1);
  const header = "--header PRIVATE-TOKEN: token-of-gitlab";
  expect(posted?.args.slice(3).join(" ")).toBe(`${header} --data-urlencode body@comment.md ${notes}`);
  expect(bodyOf(posted)).toMatch(/^<!-- uptime-preview \w{16}-\w{16} -->\n\n### What merging this changes\n/);
  expect(bodyOf(posted)).toContain("\n!     interval: 60 => 300\n");
  expect(bodyOf(posted)).toContain("| `Monitor site` | `1` | `interval` | `60` | `900` |");

  // The preview fails: so does the job, and not before the comment says it.
  shell.replace("pulumi", "process.exitCode = 255");
  shell.replace("curl", gitLab([...others, { id: 6, author: me, body: `${marker}-->\n…` }]));
  expect((await shell.job("preview", {})).code).toBe(255);
  const changed = shell.calls().at(-1);
  expect(changed?.args.slice(5).join(" ")).toBe(`--request PUT --data-urlencode body@comment.md ${notes}/6`);
  expect(bodyOf(changed)).toMatch(/^<!-- uptime-preview -->\n\n### The preview failed\n/);
});

describe("the reviewed digest is read from what only the CI can write", () => {
  const line = `${marker}0123456789abcdef-none -->`;
  const body = `${line}\n\n### What merging this changes\n`;
  const forged = { user: { login: "mallory" }, author: { id: 5 }, body };
  const own = { user: { login: "github-actions[bot]" }, author: me, body: `${body}${marker}none-none -->\n` };
  const label = [{ name: "allow-deletes" }];

  test.each<[string, { number: number; labels: object[] }[], object[], string, string, string]>([
    ["a pull request", [{ number: 12, labels: [] }], [forged, own], "", line, "20%"],
    ["a label allows deletes", [{ number: 12, labels: label }], [own], "", line, "100%"],
    ["somebody else's comment", [{ number: 12, labels: [] }], [forged], "", "", "20%"],
    ["a push without a pull request", [], [own], "", "", "20%"],
    ["by hand", [], [], "0123456789abcdef-none", "0123456789abcdef-none", "100%"],
  ])("GitHub: %s", async (_, pulls, comments, given, reviewed, most) => {
    const shell = newShell();
    // A list of pages.
    shell.replace("gh", answering({ "/commits/0a1b/pulls": pulls, "/issues/12/comments": [[], comments] }));
    const inputs = { ...values, "inputs.reviewed": given };
    expect(await shell.step("apply", "Find the review", inputs)).toMatchObject({ code: 0 });
    const outputs = readFileSync(join(shell.folder, ".ci-output"), "utf8");
    expect(outputs).toBe(`reviewed=${reviewed}\nmax-deletes=${most}\n`);
  });

  type Review = readonly [author: object, labels: readonly string[]];
  test.each<[string, string, Review, Review]>([
    ["a comment that is the token's own", "update", [me, []], [forged.author, []]],
    ["a label too, if a resource is replaced", "replace", [me, ["allow-deletes"]], [me, []]],
  ])("GitLab: an apply needs %s", async (_, op, sufficient, insufficient) => {
    const shell = newShell();
    shell.replace("npx", commands({ driftReport: inOrder }));
    shell.replace("pulumi", `return ${JSON.stringify(JSON.stringify({ steps: [{ ...update, op }] }))}`);
    shell.replace("curl", gitLab([]));
    expect(await shell.job("preview", {})).toMatchObject({ code: 0 });
    const body = bodyOf(shell.calls().at(-1));
    /** The exit code, and the commands of Pulumi. */
    const apply = async ([author, labels]: Review): Promise<unknown[]> => {
      shell.replace("curl", gitLab([{ author, body }], labels));
      const { code } = await shell.job("apply", {});
      const calls = shell.calls().filter(({ program }) => program === "pulumi");
      return [code, ...calls.map(({ args }) => args[0])];
    };
    expect(await apply(insufficient)).toEqual([1, "preview"]);
    expect(await apply(sufficient)).toEqual([0, "preview", "up"]);
  });
});

test("GitHub: failed checks are in the comment, and nothing is previewed", async () => {
  const shell = newShell();
  shell.replace("npx", commands({ doctor: 1 }));
  shell.replace("pulumi", "");
  expect(await shell.step("preview", "Preview", values)).toMatchObject({ code: 1 });
  expect(shell.calls().filter(({ program }) => program === "pulumi")).toEqual([]);
  shell.replace("gh", "return '[]'");
  expect(await shell.step("preview", "Comment", values)).toMatchObject({ code: 0 });
  expect(bodyOf(shell.calls().at(-1))).toContain("### Some checks failed\n\n- `status 401`\n");
});

describe("drift by night", () => {
  const command = (code: number) =>
    commands({ drift: code, driftReport: code === 2 ? edited : code === 0 ? inOrder : undefined });
  const issues = "https://gitlab.example.com/api/v4/projects/7/issues";
  type Night = [title: string, code: number, isOpen: boolean, gitHub: string[], gitLab: string[]];
  const nights: Night[] = [
    ["none, and no issue", 0, false, [], []],
    ["none any more: the issue is closed", 0, true, ["issue close 9"], [`state_event=close ${issues}/9`]],
    ["drift: an issue", 2, false, ["issue create --label"], [`description@issue.md ${issues}`]],
    ["drift still: the same issue", 2, true, ["issue edit 9"], [`description@issue.md ${issues}/9`]],
  ];

  test.each(nights)("GitHub: %s", async (_, code, isOpen, calls) => {
    const shell = newShell();
    shell.replace("npx", command(code));
    shell.replace("gh", `return args[1] === "list" ? "${isOpen ? 9 : ""}" : ""`);
    expect(await shell.step("drift", "Look for drift", values)).toMatchObject({ code: 0 });
    expect(readFileSync(join(shell.folder, ".ci-output"), "utf8")).toBe(`code=${code}\n`);
    shell.calls();
    const told = await shell.step("drift", "Alert", { ...values, "steps.drift.outputs.code": String(code) });
    // Drift makes the run red.
    expect(told.code).toBe(code === 2 ? 1 : 0);
    const made = shell.calls().slice(2);
    expect(made.map(({ args }) => args.slice(0, 3).join(" "))).toEqual(calls);
    if (code === 2) expect(bodyOf(made[0])).toContain("| `Monitor site` | `1` | `interval` | `60` | `900` |");
  });

  test("GitHub: an error opens and closes no issue", async () => {
    const shell = newShell();
    shell.replace("npx", command(1));
    expect(await shell.step("drift", "Look for drift", values)).toMatchObject({ code: 1 });
    expect(readdirSync(shell.folder)).not.toContain(".ci-output");
    expect(stepOf("drift", "Alert").if).toBeUndefined();
  });

  const failed: Night = ["an error opens and closes no issue", 1, true, [], []];
  test.each([...nights, failed])("GitLab: %s", async (_, code, isOpen, __, calls) => {
    const shell = newShell();
    shell.replace("npx", command(code));
    shell.replace("curl", answering({ "?": isOpen ? [{ iid: 9 }] : [] }));
    expect((await shell.job("drift", {})).code).toBe(code);
    const made = shell
      .calls()
      .filter(({ program, args }) => program === "curl" && !args.join().includes("?"));
    expect(made.map(({ args }) => args.slice(-2).join(" "))).toEqual(calls);
  });
});
