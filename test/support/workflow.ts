import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

import { startProgram, type Result } from "./processes";

const examples = join(__dirname, "..", "..", "examples", "ci");
const env = z.record(z.string(), z.string()).default({});
const step = z
  .object({
    name: z.string().optional(),
    id: z.string().optional(),
    if: z.string().optional(),
    uses: z.string().optional(),
    with: z.record(z.string(), z.unknown()).optional(),
    run: z.string().optional(),
    env,
  })
  .strict();
const gitHub = z.object({
  on: z.record(z.string(), z.unknown()),
  permissions: z.record(z.string(), z.string()),
  concurrency: z.object({ group: z.string(), "cancel-in-progress": z.boolean() }),
  env: z.undefined().optional(),
  jobs: z.record(
    z.string(),
    z.object({
      if: z.string().optional(),
      environment: z.string().optional(),
      defaults: z.object({ run: z.object({ shell: z.literal("bash") }) }),
      env: z.undefined().optional(),
      steps: z.array(step),
    }),
  ),
});
const gitLabJob = z.object({
  rules: z.array(z.object({ if: z.string() })),
  resource_group: z.string().optional(),
  script: z.array(z.string()),
});
const gitLab = z.object({
  default: z.object({ before_script: z.array(z.string()) }),
  variables: env,
  preview: gitLabJob,
  apply: gitLabJob,
  drift: gitLabJob,
});

export type Step = z.infer<typeof step>;

/** A workflow for GitHub Actions, as a YAML parser reads it. */
export function gitHubWorkflow(name: string) {
  return gitHub.parse(parse(readFileSync(join(examples, "github", `${name}.yml`), "utf8")));
}

/** The pipeline for GitLab CI. */
export function gitLabPipeline() {
  return gitLab.parse(parse(readFileSync(join(examples, "gitlab", "gitlab-ci.yml"), "utf8")));
}

/** Puts the values of `${{ … }}` in, of which each must be known. */
export function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{\{ *(.*?) *\}\}/g, (_, expression: string) => {
    const value = values[expression];
    if (value === undefined)
      throw new Error(`The workflow uses \${{ ${expression} }}, which has no value here.`);
    return value;
  });
}

/** What a program of another name was called with instead of doing something. */
export interface Call {
  program: string;
  args: string[];
  /** The files that the arguments name with an `@`, or after `--body-file`. */
  files: Record<string, string>;
}

/** The text of all files that a call was given. */
export function bodyOf(call: Call | undefined): string {
  return Object.values(call?.files ?? {}).join("\n");
}

/** How the comment begins; its first line has a digest too, unless something failed. */
export const marker = "<!-- uptime-preview ";

/** A body for {@link Shell.replace}: what a platform's API answers at addresses with these parts. */
export const answering = (answers: Readonly<Record<string, unknown>>): string =>
  `const found = Object.entries(${JSON.stringify(answers)}).find(([part]) => args.some((arg) => arg.includes(part)));
return JSON.stringify(found ? found[1] : {})`;

/** A step by its name, or by what it runs. */
export function stepOf(workflow: string, name: string): Step & { run: string } {
  const steps = Object.values(gitHubWorkflow(workflow).jobs).flatMap((job) => job.steps);
  const found = steps.find((step) => step.name === name || step.run === name);
  if (found?.run === undefined) throw new Error(`${workflow}.yml has no step "${name}" that runs anything.`);
  return { ...found, run: found.run };
}

/** What the platforms themselves put into the environment. */
const platform = (folder: string) => ({
  GITHUB_REPOSITORY: "team/monitors",
  GITHUB_SHA: "0a1b",
  GITHUB_OUTPUT: join(folder, ".ci-output"),
  CI_API_V4_URL: "https://gitlab.example.com/api/v4",
  CI_PROJECT_ID: "7",
  CI_MERGE_REQUEST_IID: "12",
  CI_COMMIT_SHA: "0a1b",
  GITLAB_TOKEN: "token-of-gitlab",
});

/** What GitHub puts in the place of some `${{ … }}`. */
export const platformValues = {
  "github.token": "token-of-github",
  "github.server_url": "https://github.example",
  "github.run_id": "99",
  "github.repository": "team/monitors",
  "github.event.pull_request.number": "12",
};

/** Runs shell steps in a folder with programs on PATH that note how they were called and answer what the test says. */
export class Shell {
  readonly bin: string;
  private readonly log: string;

  constructor(
    readonly folder: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {
    this.bin = join(folder, ".ci-bin");
    this.log = join(folder, ".ci-calls");
    mkdirSync(this.bin);
    // What a workflow would install is there already.
    this.replace("npm", "");
  }

  /** Puts a program in place of the real one; `answer` is JavaScript with `args`, whose value is printed. */
  replace(program: string, answer: string): void {
    const source = `#!/usr/bin/env node
const fs = require("node:fs");
const args = process.argv.slice(2);
const files = {};
args.forEach((arg, index) => {
  const [, file] = /@(.+)$/.exec(arg) ?? (args[index - 1] === "--body-file" ? [, arg] : []);
  if (file) files[file] = fs.readFileSync(file, "utf8");
});
fs.appendFileSync(${JSON.stringify(this.log)}, JSON.stringify({ program: ${JSON.stringify(program)}, args, files }) + "\\n");
process.stdout.write(String((() => { ${answer} })() ?? ""));
`;
    writeFileSync(join(this.bin, program), source, { mode: 0o755 });
  }

  /** The calls since the last time. */
  calls(): Call[] {
    const call = z.object({
      program: z.string(),
      args: z.array(z.string()),
      files: z.record(z.string(), z.string()),
    });
    if (!existsSync(this.log)) return [];
    const text = readFileSync(this.log, "utf8");
    rmSync(this.log);
    return text
      .trim()
      .split("\n")
      .map((line) => call.parse(JSON.parse(line)));
  }

  /** A step of a workflow for GitHub, with the environment that it declares. */
  step(workflow: string, name: string, values: Readonly<Record<string, string>>): Promise<Result> {
    const { run, env } = stepOf(workflow, name);
    const filled = Object.entries(env).map(([key, value]) => [key, filledIn(value, values)] as const);
    return this.run(run, Object.fromEntries(filled));
  }

  /** A job of the pipeline for GitLab. */
  job(name: "preview" | "apply" | "drift", env: Readonly<Record<string, string>>): Promise<Result> {
    const pipeline = gitLabPipeline();
    const script = [...pipeline.default.before_script, ...pipeline[name].script].join("\n");
    return this.run(script, { ...pipeline.variables, ...env });
  }

  /** Both GitHub's `shell: bash` and GitLab's runner stop at the first command that fails, in a pipe too. */
  run(script: string, env: Readonly<Record<string, string>>): Promise<Result> {
    const args = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
    const PATH = [this.bin, this.env.PATH].join(delimiter);
    return startProgram("bash", args, {
      cwd: this.folder,
      env: { ...this.env, ...platform(this.folder), ...env, PATH },
    }).done;
  }
}
