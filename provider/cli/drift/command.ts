import { resolve } from "node:path";

import { Option, type Command } from "commander";

import { compareIds } from "../../api/record";
import { Operation } from "../../api/operation";
import { definitions } from "../../definitions";
import { dynamicType } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import { groupBy } from "../../common/values";
import { decodeOutputs } from "../../engine/properties";
import { Redactor } from "../../engine/redactor";
import { nameIn } from "../../lifecycle/difference";
import { driftMarkdown, driftText, groupErrors, type DriftReport } from "../shared/drift-report";
import { jsonText } from "../shared/json";
import { shownAccount, connectorTo, type ConnectTo } from "../shared/providers";
import { readState } from "../shared/pulumi-cli";
import { byName } from "../shared/quoting";
import { addSettingOptions, commandSettings, type SettingOptions } from "../shared/setting-options";
import { managedResources, managersIn, pendingCreates } from "../shared/state";
import type { ManagedResource, StateResource } from "../shared/state";
import { codeProblems, foreignCode } from "../shared/state-code";
import { reasonOf, withProgress, writeLine, type CommandContext } from "../shared/terminal";
import { compareResource, hearClaim, type ComparedResource } from "./comparison";

interface DriftOptions extends SettingOptions {
  readonly cwd?: string;
  readonly stack?: string;
  readonly state?: string;
  readonly unmanaged?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
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
Changes neither state nor the API, and runs no program. Settings come from
options, from the stack's configuration, and from the environment. With --state,
the stack's configuration is only read if --stack names the stack. Fields in
ignoreChanges are not compared.

Examples:
  pulumi-uptime drift --stack prod
  pulumi-uptime drift --unmanaged
  pulumi-uptime drift --markdown > drift.md
  pulumi stack export --show-secrets > state.json
  pulumi-uptime drift --state state.json --json
`,
    )
    .action(async (options: DriftOptions) => {
      const { stdout, stderr, setExitCode } = context;
      const report = await findDrift(options, context);
      if (options.json) stdout.write(jsonText(report));
      else stdout.write(options.markdown ? driftMarkdown(report) : driftText(report));
      const errors = groupErrors(report).map(({ urn, reason }) => `${parseUrn(urn).name}: ${reason}`);
      if (report.unlisted !== undefined)
        errors.push(`The unmanaged records cannot be listed: ${report.unlisted}`);
      for (const error of errors) writeLine(stderr, error);
      const isFound = report.drifted.length > 0 || (report.unmanaged?.length ?? 0) > 0;
      const isIncomplete = report.errors.length > 0 || report.unlisted !== undefined;
      setExitCode(isIncomplete ? 1 : isFound ? 2 : 0);
    });
}

/** Compares a stack's state with the API. Reads both, writes neither. */
async function findDrift(options: DriftOptions, context: CommandContext): Promise<DriftReport> {
  const at = (path: string): string => resolve(context.cwd, path);
  const location = { cwd: at(options.cwd ?? "."), env: context.env, stack: options.stack };
  const file = options.state === undefined ? undefined : at(options.state);
  const asksStack = file === undefined || options.stack !== undefined;
  const settings = await commandSettings(options, context, asksStack ? location : undefined);
  const state = await readState(location, file);
  const resources = state.deployment.resources ?? [];
  const pending = pendingCreates(state);
  const found = {
    code: foreignCode(resources),
    pending: pending.map(({ urn }) => ({ urn })),
  };
  const errors = codeProblems(resources);
  if (errors.length > 0) return { checked: 0, drifted: [], errors, servers: [], ...found };
  const managed = managedResources(state);
  const connectTo = connectorTo(resources, settings, context.session);
  const report = { ...(await compareAll(managed, connectTo, context)), ...found };
  if (!options.unmanaged) return report;
  try {
    const unmanaged = await unmanagedRecords(managed, pending, connectTo, context.session.secrets);
    return { ...report, unmanaged };
  } catch (error) {
    // The drift that was found in other accounts is still shown.
    return { ...report, unlisted: reasonOf(error, context.session) };
  }
}

async function compareAll(
  managed: readonly ManagedResource[],
  connectTo: ConnectTo,
  { stderr, session }: CommandContext,
): Promise<Omit<DriftReport, "code" | "pending">> {
  const accounts = groupBy(managed, (one) => hearClaim(one, connectTo));
  const servers = new Set<string>();
  const connect: ConnectTo = (...account) => {
    const scope = connectTo(...account);
    servers.add(scope.address.url);
    return scope;
  };
  let done = 0;
  const results = await withProgress(stderr, (show) => {
    const compare = async (one: ManagedResource): Promise<ComparedResource> => {
      const result = await compareResource(one, connect, session.secrets);
      show(`Compared ${++done} of ${managed.length} …`);
      return result;
    };
    return Promise.all([...accounts.values()].map((ofAccount) => compareAccount(ofAccount, compare)));
  });
  const compared = results.flat();
  return {
    checked: compared.filter(({ error }) => !error).length,
    drifted: compared
      .flatMap(({ drift }) => drift ?? [])
      .sort((a, b) => byName(a.name, b.name) || byName(a.urn, b.urn)),
    errors: compared.flatMap(({ error }) => error ?? []),
    servers: [...servers].sort(),
  };
}

/** Compares the resources of one account. If the key is refused for the first one, nothing more is sent with it. */
async function compareAccount(
  [first, ...others]: readonly [ManagedResource, ...ManagedResource[]],
  compare: (resource: ManagedResource) => Promise<ComparedResource>,
): Promise<ComparedResource[]> {
  const result = await compare(first);
  const { error, isKeyRefused } = result;
  if (!error || !isKeyRefused) return [result, ...(await Promise.all(others.map(compare)))];
  return [result, ...others.map(({ resource: { urn, id } }) => ({ error: { ...error, urn, id } }))];
}

/** The records that no resource manages, in all accounts that the stack uses, also in those of creates that a killed run has begun. */
async function unmanagedRecords(
  managed: readonly ManagedResource[],
  pending: readonly StateResource[],
  connectTo: ConnectTo,
  secrets: Iterable<string>,
) {
  const resources: readonly Partial<StateResource>[] = [
    ...managed.map(({ resource }) => resource),
    ...pending,
  ];
  // The default account may have no settings if all resources have others.
  const uses = (resources.length > 0 ? resources : [{}]).flatMap((resource) =>
    definitions.map((definition) => {
      const { provider, inputs = {}, outputs = inputs } = resource;
      const { account: name } = decodeOutputs(definition, outputs);
      return { resource, provider, name, scope: connectTo(provider, definition, name) };
    }),
  );
  // Providers and accounts with the same address and key share a list's reader.
  const lists = groupBy(uses, ({ scope }) => scope.reader);
  const unmanaged = [...lists.values()].map(async (users) => {
    const [{ scope, provider, name }] = users;
    const names = new Set(users.map((one) => one.name));
    const own = new Set(users.map(({ resource }) => resource));
    const findManager = managersIn(managed.filter(({ resource }) => own.has(resource)));
    // The comparison may have read it already.
    const list = await scope.reader.wholeList(new Operation(scope));
    const redactor = new Redactor(secrets);
    return list
      .all()
      .filter((record) => !findManager(scope, names, record))
      .sort((a, b) => compareIds(a.id, b.id))
      .map((record) => ({
        type: dynamicType(scope.definition),
        id: record.id,
        name: String(redactor.value(nameIn(scope.definition, record) ?? "")),
        account: shownAccount(provider, name),
      }));
  });
  return (await Promise.all(unmanaged)).flat();
}
