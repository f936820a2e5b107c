import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runInNewContext } from "node:vm";

import { parse } from "yaml";
import { z } from "zod";

import type { Forge } from "./forge";
import { startProgram, type Result, type Started } from "./processes";

const examples = join(__dirname, "..", "..", "examples", "ci");
const env = z.record(z.string(), z.string()).default({});
const permissions = z.record(z.string(), z.string());
const matrix = z.object({ stack: z.literal("${{ fromJSON(vars.PULUMI_STACKS) }}") });
const step = z.strictObject({
  name: z.string().optional(),
  id: z.string().optional(),
  if: z.string().optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
  run: z.string().optional(),
  env,
});
const gitHub = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({}),
  concurrency: z.object({ group: z.string(), "cancel-in-progress": z.boolean() }),
  env: z.undefined().optional(),
  jobs: z.record(
    z.string(),
    z.object({
      if: z.string().optional(),
      permissions,
      environment: z.string().optional(),
      strategy: z.object({ matrix }).optional(),
      env: z.undefined().optional(),
      steps: z.array(step),
    }),
  ),
});
const gitLabJob = z.object({
  rules: z.array(z.object({ if: z.string() })),
  environment: z.object({ name: z.string(), action: z.string().optional() }).optional(),
  resource_group: z.string().optional(),
  script: z.array(z.string()),
});
const jobs = { preview: gitLabJob, "not-previewed": gitLabJob, apply: gitLabJob, drift: gitLabJob };
const gitLab = z.object({ variables: env, ...jobs });

export type Name = "preview" | "apply" | "drift";

/** A workflow for GitHub Actions, as a YAML parser reads it. */
export function gitHubWorkflow(name: Name) {
  return gitHub.parse(parse(readFileSync(join(examples, "github", `${name}.yml`), "utf8")));
}

/** The pipeline for GitLab CI. */
export function gitLabPipeline() {
  return gitLab.parse(parse(readFileSync(join(examples, "gitlab", "gitlab-ci.yml"), "utf8")));
}

/** What happened, and so what the platform tells a run. */
export interface Event {
  readonly commit: string;
  readonly branch?: string;
  readonly pull?: number;
  /** Who has opened the pull request, and from which repository. */
  readonly author?: string;
  readonly from?: string;
  /** What somebody has typed who runs the apply by hand. */
  readonly reviewed?: string;
}

export interface Job extends Result {
  readonly name: string;
}

/** A step or script that is to be run. */
interface Script {
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs shell steps in a folder, as GitHub and GitLab do, with stand-ins for programs. */
export class Shell {
  readonly bin: string;

  constructor(
    readonly folder: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.bin = join(folder, ".ci-bin");
    mkdirSync(this.bin);
  }

  /** Puts a shell script in place of a program. */
  program(name: string, text: string): void {
    writeFileSync(join(this.bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  /** Both GitHub's `shell: bash` and GitLab's runner stop at the first command that fails, in a pipe too. */
  start(script: string, env: Readonly<Record<string, string>>): Started {
    const args = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    const PATH = [this.bin, this.env.PATH].join(delimiter);
    return startProgram("bash", args, { cwd: this.folder, env: { ...this.env, ...env, PATH } });
  }

  run(script: string, env: Readonly<Record<string, string>>): Promise<Result> {
    return this.start(script, env).done;
  }
}

/**
 * Runs the jobs of the recipes in a folder that has what a checkout and `npm ci` leave. What is a secret or a variable of the
 * repository comes from `settings`.
 */
export class Recipes extends Shell {
  constructor(
    folder: string,
    private readonly forge: Forge,
    env: Readonly<Record<string, string>>,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly stack = "test",
  ) {
    super(folder, env);
    for (const place of [".github", ".gitlab"]) {
      mkdirSync(join(folder, place));
      cpSync(join(examples, "uptime-ci.mjs"), join(folder, place, "uptime-ci.mjs"));
    }
    // What it would install is there already.
    this.program("npm", "");
  }

  /** Runs what the platform starts for an event, one job after the other. */
  async runJobs(name: Name, event: Event): Promise<Job[]> {
    const jobs: Job[] = [];
    for (const [job, scripts] of this.jobs(name, event)) {
      const all: Result = { code: 0, stdout: "", stderr: "", output: "" };
      for (const script of scripts) {
        if (all.code !== 0 && !script.isAlways) continue;
        const result = await this.startScript(script).done;
        all.code ||= result.code;
        for (const key of ["stdout", "stderr", "output"] as const) all[key] += result[key];
      }
      jobs.push({ name: job, ...all });
    }
    return jobs;
  }

  /** Runs the only job that the platform starts. */
  async only(name: Name, event: Event): Promise<Job> {
    const [job, ...others] = await this.runJobs(name, event);
    if (!job || others.length > 0) throw new Error(`${name} has not run one job.`);
    return job;
  }

  /** Runs the first job but for its last step, which is only started. */
  async startLast(name: Name, event: Event): Promise<Started> {
    const scripts = this.jobs(name, event)[0]?.[1] ?? [];
    const last = scripts.pop();
    if (!last) throw new Error(`${name} has no job.`);
    for (const script of scripts)
      if ((await this.startScript(script).done).code !== 0) throw new Error(`${script.run} has failed.`);
    return this.startScript(last);
  }

  /** The jobs that run, each with its scripts. */
  private jobs(name: Name, event: Event): [string, (Script & { isAlways?: boolean })[]][] {
    for (const file of [
      ".ci-output",
      "drift.json",
      "doctor.json",
      "preview.json",
      "preview.log",
      "comment.md",
      "values.jsonl",
    ])
      rmSync(join(this.folder, file), { force: true });
    return this.forge.name === "GitHub" ? this.gitHubJobs(name, event) : this.gitLabJobs(name, event);
  }

  private gitHubJobs(name: Name, event: Event): [string, (Script & { isAlways?: boolean })[]][] {
    const { commit, branch = "main", pull, author = "ada", from = "team/monitors", reviewed = "" } = event;
    const values: Record<string, string> = {
      "github.ref_name": branch,
      "github.event.repository.default_branch": "main",
      "github.repository": "team/monitors",
      "github.server_url": "https://github.example",
      "github.run_id": "99",
      "github.token": "token-of-github",
      "runner.temp": this.folder,
      "secrets.UPTIME_REVIEW_KEY": "",
      "github.event.pull_request.number": String(pull ?? ""),
      "github.event.pull_request.head.sha": commit,
      "github.event.pull_request.head.repo.full_name": from,
      "github.event.pull_request.user.login": author,
      "inputs.reviewed": reviewed,
      "matrix.stack": this.stack,
      "steps.preview.outcome": "failure",
      "steps.drift.outputs.code": "",
    };
    for (const [key, value] of Object.entries(this.settings))
      for (const kind of ["secrets", "vars"]) values[`${kind}.${key}`] = value;
    const platform = {
      ...this.forge.env(commit, branch),
      GITHUB_OUTPUT: join(this.folder, ".ci-output"),
      GITHUB_STEP_SUMMARY: join(this.folder, ".ci-summary"),
    };
    return Object.entries(gitHubWorkflow(name).jobs).flatMap(([job, { if: condition = "true", steps }]) => {
      if (!holds(condition, values)) return [];
      const scripts = steps.flatMap(({ run, env, if: stepCondition }) => {
        const filled = Object.entries(env).map(([key, text]) => [key, filledIn(text, values)] as const);
        const isAlways = stepCondition !== undefined && holds(stepCondition, values);
        return run === undefined
          ? []
          : [{ run, env: { ...platform, ...Object.fromEntries(filled) }, isAlways }];
      });
      return [[job, scripts]];
    });
  }

  private gitLabJobs(name: Name, event: Event): [string, Script[]][] {
    const { commit, branch = "main", pull, from, reviewed } = event;
    const pipeline = gitLabPipeline();
    const projectFolder = (text: string): string => text.replace("$CI_PROJECT_DIR", this.folder);
    const variables: Record<string, string> = {
      ...Object.fromEntries(
        Object.entries(pipeline.variables).map(([key, text]) => [key, projectFolder(text)]),
      ),
      ...this.settings,
      ...this.forge.env(commit, branch),
      STACK: this.stack,
      CI_PIPELINE_SOURCE: name === "drift" ? "schedule" : pull ? "merge_request_event" : "push",
      ...(reviewed !== undefined && { REVIEWED: reviewed, CI_PIPELINE_SOURCE: "web" }),
    };
    if (pull) {
      variables.CI_COMMIT_BRANCH = "";
      variables.CI_MERGE_REQUEST_IID = String(pull);
      variables.CI_MERGE_REQUEST_PROJECT_ID = "7";
      variables.CI_MERGE_REQUEST_SOURCE_PROJECT_ID = from === undefined ? "7" : "8";
    }
    const names = name === "preview" ? (["preview", "not-previewed"] as const) : ([name] as const);
    return names.flatMap((job): [string, Script[]][] => {
      const { rules, script } = pipeline[job];
      const expression = (rules[0]?.if ?? "").replace(/\$(\w+)/g, (_, key: string) =>
        JSON.stringify(variables[key] ?? ""),
      );
      return runInNewContext(expression) === true
        ? [[job, [{ run: script.join("\n"), env: variables }]]]
        : [];
    });
  }

  /** What an earlier step has handed on; only `steps.drift.outputs.code` is. */
  private stepOutputs(env: Readonly<Record<string, string>>): Record<string, string> {
    if (!("CODE" in env)) return {};
    const [, CODE = ""] = /^code=(.*)$/m.exec(readFileSync(join(this.folder, ".ci-output"), "utf8")) ?? [];
    return { CODE };
  }

  private startScript({ run, env }: Script): Started {
    return this.start(run, { ...env, ...this.stepOutputs(env) });
  }
}

/** Puts the values of `${{ … }}` in, of which each must be known. */
function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
    const value = values[expression];
    if (value === undefined)
      throw new Error(`The workflow uses \${{ ${expression} }}, which has no value here.`);
    return value;
  });
}

/** Whether GitHub's condition holds. */
function holds(condition: string, values: Readonly<Record<string, string>>): boolean {
  const expression = condition
    .replace(/^\$\{\{|\}\}$/g, "")
    .replace(/\b(github|steps)(\.\w+)+/g, (context) => JSON.stringify(values[context] ?? ""));
  return runInNewContext(expression, { cancelled: () => false }) === true;
}
