import { resolve } from "node:path";

import { Option } from "commander";
import type { Command } from "commander";

import { definitions } from "../definitions";
import { Session } from "../lifecycle/connection";
import { readRecords } from "./account-records";
import { Comparison } from "./comparison";
import type { ComparisonResult } from "./comparison";
import { driftMarkdown, driftText } from "./drift-report";
import type { DriftReport, UnmanagedRecord } from "./drift-report";
import { readText } from "./files";
import { exportedState } from "./pulumi-cli";
import { visible } from "./quoting";
import { definitionOf, nameIn, typeToken } from "./resource-types";
import { addSettingOptions, commandSettings } from "./setting-options";
import type { CommandSettings, SettingOptions } from "./setting-options";
import { managedResources, parseDeployment } from "./state";
import type { StateResource } from "./state";
import { Progress } from "./terminal";
import type { CommandContext } from "./terminal";

/** The options of `pulumi-uptime drift`. */
export interface DriftOptions extends SettingOptions {
  /** The project's folder. */
  readonly cwd?: string;
  readonly stack?: string;
  /** A file with the stack's state; without it Pulumi is asked for it. */
  readonly state?: string;
  /** Also list the records that no resource of the stack manages. */
  readonly unmanaged?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  addSettingOptions(
    command
      .option("--cwd <dir>", "the project's folder (default: this one)")
      .option("--stack <name>", "the stack to compare (default: the selected one)")
      .option("--state <file>", "read the state from a file, as `pulumi stack export` writes it")
      .option("--unmanaged", "also list the records that no resource of the stack manages")
      .addOption(new Option("--json", "print JSON").conflicts("markdown"))
      .option("--markdown", "print Markdown, for an issue or a comment"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration, and from the environment. With --state, the stack is only
asked if --stack names it. Fields in ignoreChanges are not drift.

Examples:
  pulumi-uptime drift --stack prod
  pulumi-uptime drift --unmanaged
  pulumi-uptime drift --markdown > drift.md; test $? -ne 2 || mail -s drift ops@example.com < drift.md
  pulumi stack export --show-secrets > state.json && pulumi-uptime drift --state state.json --json
`,
    )
    .action(async (options: DriftOptions & { json?: boolean; markdown?: boolean }) => {
      const { stdout, stderr, exit } = context;
      const report = await findDrift(options, context);
      stdout.write(
        options.json
          ? `${JSON.stringify(report, undefined, 2)}\n`
          : options.markdown
            ? driftMarkdown(report)
            : driftText(report),
      );
      for (const { urn, message } of report.errors)
        stderr.write(`${visible(`${nameIn(urn)}: ${message}`)}\n`);
      const isFound = report.drifted.length > 0 || (report.unmanaged?.length ?? 0) > 0;
      exit(report.errors.length > 0 ? 1 : isFound ? 2 : 0);
    });
}

/** Compares a stack's state with the API. Reads both, writes neither. */
export async function findDrift(options: DriftOptions, context: CommandContext): Promise<DriftReport> {
  const location = { cwd: resolve(context.cwd, options.cwd ?? "."), env: context.env, stack: options.stack };
  const asksStack = options.state === undefined || options.stack !== undefined;
  const settings = await commandSettings(options, context, asksStack ? location : undefined);
  const state =
    options.state === undefined
      ? await exportedState(location, true)
      : parseDeployment(readText(resolve(context.cwd, options.state)), resolve(context.cwd, options.state));
  const managed = managedResources(state).filter(({ type }) => definitionOf(type));

  const session = new Session();
  const report = await compareAll(managed, session, settings, context);
  if (options.unmanaged !== true) return report;
  return { ...report, unmanaged: await unmanagedRecords(managed, session, settings, context) };
}

async function compareAll(
  managed: readonly StateResource[],
  session: Session,
  { forAccount }: CommandSettings,
  { stderr }: CommandContext,
): Promise<DriftReport> {
  const comparisons = new Map(
    definitions.map((definition) => [definition, new Comparison(definition, session, forAccount)]),
  );
  const progress = new Progress(stderr);
  let compared = 0;
  const compare = async (resource: StateResource): Promise<ComparisonResult & { urn: string }> => {
    const definition = definitionOf(resource.type);
    const result = await (definition && comparisons.get(definition))?.compare(resource);
    progress.show(`Compared ${++compared} of ${managed.length} …`);
    return { urn: resource.urn, ...(result ?? { encrypted: [] }) };
  };
  try {
    const results = await Promise.all(managed.map(compare));
    return {
      checked: results.filter(({ problem }) => problem === undefined).length,
      drifted: results.flatMap(({ drift }) => drift ?? []),
      errors: results.flatMap(({ urn, problem }) =>
        problem === undefined ? [] : [{ urn, message: problem }],
      ),
      encrypted: [...new Set(results.flatMap(({ encrypted }) => encrypted))].sort(),
    };
  } finally {
    progress.end();
  }
}

/** The records that no resource manages, in all accounts that the stack uses. */
async function unmanagedRecords(
  managed: readonly StateResource[],
  session: Session,
  { forAccount }: CommandSettings,
  { stderr }: CommandContext,
): Promise<UnmanagedRecord[]> {
  const accountOf = ({ outputs }: StateResource): string | undefined =>
    typeof outputs?.account === "string" ? outputs.account : undefined;
  const accounts = new Set([undefined, ...managed.map(accountOf)]);
  const lists = [...accounts].flatMap((account) =>
    definitions.map(async (definition): Promise<UnmanagedRecord[]> => {
      const ids = new Set(
        managed
          .filter((resource) => definitionOf(resource.type) === definition && accountOf(resource) === account)
          .map(({ id }) => id),
      );
      const connection = session.connector(definition, forAccount)(account);
      const records = await readRecords(connection, stderr);
      return records
        .filter(({ id }) => !ids.has(id))
        .map(({ id, shown }) => ({
          type: typeToken(definition),
          id,
          name: typeof shown.name === "string" ? shown.name : "",
          ...(account !== undefined && { account }),
        }));
    }),
  );
  return (await Promise.all(lists)).flat();
}
