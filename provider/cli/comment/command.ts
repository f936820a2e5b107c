import { InvalidArgumentError, Option, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import { layOut } from "../shared/layout";
import { printable } from "../shared/quoting";
import type { CommandContext } from "../shared/terminal";
import { codeActions } from "./apply-actions";
import { readFacts, type CommentOptions, type Facts } from "./facts";
import { headOf } from "./head";
import { digestOf } from "./marker";
import { applyStop, codeStop, readReview } from "./review";
import { sectionsOf } from "./sections";

export function configure(command: Command, context: CommandContext): void {
  command
    .option("--preview <file>", "the output of `pulumi preview --json`, with the options below")
    .option("--preview-log <file>", "standard error of the preview, shown if there is no result")
    .option("--drift <file>", "the output of `pulumi-uptime drift --json`")
    .option("--doctor <file>", "the output of `pulumi-uptime doctor --json`")
    .option("--tried <file>", "the output of `pulumi-uptime try --json`")
    .option("--title <name>", "the comment's title (default: PROJECT/STACK)")
    .option("--commit <sha>", "the commit that was previewed")
    .option("--run-url <url>", "the page of this run, whose log has everything")
    .option("--limit <characters>", "maximum length of the comment; 0 is no limit", lengthLimit, 65_536)
    .option(
      "--max-deletes <number>",
      "maximum number of resources to delete, or a share such as 20%",
      deleteLimit,
    )
    .option("--reviewed <review>", "stop unless this was reviewed: a file or a digest")
    .addOption(new Option("--digest", "print only the digest of the changes").conflicts("reviewed"))
    .option("--code", "with --reviewed: print nothing, and check only the code in state")
    .addHelpText(
      "after",
      `
Prints a Markdown comment for a pull request or an issue. The preview must be
made with --show-replacement-steps; with --show-sames, the comment also shows
changes of the options protect and retainOnDelete, and tells the program's code
from other code in state. If the file of --preview or --drift does not exist,
the comment says that its result is not known. GitHub allows 65536 characters,
GitLab 1000000.

With --reviewed, the exit code is 1 if an apply would do anything that the
reviewed comments of that title do not show. The file is a JSON array of objects
with "body", "pull" and "head". To allow exactly one run, pass its digest
instead. Before the apply's preview, --code checks the code of other packages in
state.

--max-deletes counts deletes and replacements of all packages. Without
--reviewed, the comment only warns if there are more.

Examples:
  pulumi-uptime drift --json > drift.json
  pulumi preview --json --show-replacement-steps --show-sames > preview.json
  pulumi-uptime comment --preview preview.json --drift drift.json
`,
    )
    .action((options: CommentOptions) => {
      run(options, context);
    });
}

function lengthLimit(text: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : NaN;
  if (limit === 0 || limit >= 2000) return limit === 0 ? Infinity : limit;
  throw new InvalidArgumentError("It must be a whole number of at least 2000, or 0 for no limit.");
}

function deleteLimit(text: string): string {
  if (/^(?:\d+|(?:\d{1,2}|100)%)$/.test(text)) return text;
  throw new InvalidArgumentError("It must be a whole number, or a share from 0% to 100%.");
}

function run(options: CommentOptions, context: CommandContext): void {
  const { cwd, stdout, stderr, env, setExitCode } = context;
  const facts = readFacts(options, context);
  if (options.digest) {
    if (!facts.actions) throw new UptimeError(unknownReason(facts));
    stdout.write(`${digestOf(facts.actions)}\n`);
    return;
  }
  if (options.code && options.reviewed === undefined) throw new UptimeError("--code needs --reviewed.");
  const { limit } = options;
  if (!options.code)
    stdout.write(layOut(headOf(facts, options), sectionsOf(facts, limit === Infinity), limit));
  const stop = stopReason(facts, options, cwd);
  if (stop === undefined) return;
  // It quotes what the comments' file names. GitHub shows such a line on the run's page.
  const line = printable(stop);
  const isGitHub = env.GITHUB_ACTIONS === "true";
  stderr.write(isGitHub ? `::error title=pulumi-uptime::${line.replaceAll("%", "%25")}\n` : `${line}\n`);
  setExitCode(1);
}

/** Why `up`, or with --code a preview, must not follow, and how to go on; undefined if it may. */
function stopReason(facts: Facts, options: CommentOptions, cwd: string): string | undefined {
  const { title, drift, actions } = facts;
  const { reviewed, code, maxDeletes } = options;
  if (reviewed === undefined) return undefined;
  const review = readReview(reviewed, title, cwd);
  if (!code) return actions ? applyStop(actions, facts, review, maxDeletes) : unknownReason(facts);
  if (!drift) throw new UptimeError(unknownReason(facts));
  return codeStop(codeActions(drift.code), review);
}

function unknownReason({ errors, failedChecks, drift }: Facts): string {
  let what = "the drift is not known";
  if (failedChecks.length > 0) what = "a check failed";
  else if (errors.length > 0) what = "the preview failed";
  else if (drift?.errors.length === 0) what = "there is no preview";
  return `Nothing is applied. It is not known what would be done: ${what}.`;
}
