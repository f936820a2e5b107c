import { resolve } from "node:path";

import { Option } from "commander";
import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { parseUrn } from "../../definitions/urn";
import type { Connect, Connection } from "../../lifecycle/connection";
import { readRecords } from "../shared/account-records";
import { Comparison } from "./comparison";
import type { ComparisonResult } from "./comparison";
import { driftMarkdown, driftText } from "./report";
import type { DriftReport, UnmanagedRecord } from "./report";
import { scopesOf } from "../shared/explicit-provider";
import type { Scope } from "../shared/explicit-provider";
import { readText } from "../shared/files";
import { exportedState } from "../shared/pulumi-cli";
import { visible } from "../shared/quoting";
import { findDefinition, typeToken } from "../shared/resource-types";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { SettingOptions } from "../shared/setting-options";
import { managedResources, parseDeployment } from "../shared/state";
import type { StateResource } from "../shared/state";
import { Progress } from "../shared/terminal";
import type { CommandContext } from "../shared/terminal";

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
        stderr.write(`${visible(`${parseUrn(urn).name}: ${message}`)}\n`);
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
  const managed = managedResources(state).filter(({ type }) => findDefinition(type));

  const scopeOf = scopesOf(state.deployment.resources ?? [], settings);
  const report = await compareAll(managed, scopeOf, context);
  if (options.unmanaged !== true) return report;
  return { ...report, unmanaged: await unmanagedRecords(managed, scopeOf, context) };
}

type ScopeOf = (resource: Pick<StateResource, "provider">) => Scope;

async function compareAll(
  managed: readonly StateResource[],
  scopeOf: ScopeOf,
  { stderr }: CommandContext,
): Promise<DriftReport> {
  const comparisons = new Map<Connect, Comparison>();
  const comparisonOf = (resource: StateResource): Comparison | undefined => {
    const definition = findDefinition(resource.type);
    if (!definition) return undefined;
    const { session, connectTo } = scopeOf(resource);
    const connect = connectTo(definition);
    const comparison = comparisons.get(connect) ?? new Comparison(definition, session, connect);
    comparisons.set(connect, comparison);
    return comparison;
  };
  const progress = new Progress(stderr);
  let compared = 0;
  const compare = async (resource: StateResource): Promise<ComparisonResult & { urn: string }> => {
    const result = await comparisonOf(resource)?.compare(resource);
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
  scopeOf: ScopeOf,
  { stderr }: CommandContext,
): Promise<UnmanagedRecord[]> {
  const accountOf = ({ outputs }: StateResource): string | undefined =>
    typeof outputs?.account === "string" ? outputs.account : undefined;
  const lists = new Map<string, { readonly connection: Connection; readonly account: string | undefined }>();
  const ids = new Map<string, Set<string | undefined>>();
  /** One list for each address, key and kind, whichever providers and accounts lead to it. */
  const listOf = (scope: Scope, definition: Definition, account: string | undefined): string => {
    const connection = scope.connectTo(definition)(account);
    const list = `${definition.plural} ${connection.address.hash} ${connection.key}`;
    if (!lists.has(list)) lists.set(list, { connection, account });
    return list;
  };
  const usual = scopeOf({});
  // A stack whose resources all have explicit providers needs no other settings.
  const others = managed.filter((resource) => scopeOf(resource) !== usual);
  if (others.length === 0 || others.length < managed.length || isUsable(usual))
    for (const definition of definitions) listOf(usual, definition, undefined);
  for (const resource of managed)
    for (const definition of definitions) {
      const list = listOf(scopeOf(resource), definition, accountOf(resource));
      if (findDefinition(resource.type) === definition)
        ids.set(list, (ids.get(list) ?? new Set()).add(resource.id));
    }
  const unmanaged = [...lists].map(async ([list, { connection, account }]): Promise<UnmanagedRecord[]> => {
    const records = await readRecords(connection, stderr);
    return records
      .filter(({ id }) => ids.get(list)?.has(id) !== true)
      .map(({ id, shown }) => ({
        type: typeToken(connection.collection.definition),
        id,
        name: typeof shown.name === "string" ? shown.name : "",
        ...(account !== undefined && { account }),
      }));
  });
  return (await Promise.all(unmanaged)).flat();
}

function isUsable({ forAccount }: Scope): boolean {
  try {
    forAccount();
    return true;
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return false;
  }
}
