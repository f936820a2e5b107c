import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import type { Command } from "commander";

import { UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { plainTextKeys } from "../../definitions/setting-warnings";
import { definitions } from "../../definitions";
import { Session, SettingsUnknown } from "../../lifecycle/connection";
import type { Scope } from "../shared/explicit-provider";
import type { Finding } from "../shared/finding";
import { checkProgram, declaredBy } from "./program-check";
import type { ProgramReport } from "./program-check";
import { isProject, runtimeOf } from "../shared/project";
import { exportedState, pulumiVersion } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { visible } from "../shared/quoting";
import { labelIn } from "../shared/resource-types";
import { checkServer } from "./probe";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { AccountSettings, CommandSettings, SettingOptions } from "../shared/setting-options";
import type { StateResource } from "../shared/state";
import { counted, styled } from "../shared/terminal";
import type { CommandContext } from "../shared/terminal";
import { version } from "../shared/version";

/** The options of `pulumi-uptime doctor`. */
export interface DoctorOptions extends SettingOptions {
  /** The project's folder. */
  readonly cwd?: string;
  /** The folder of a program to check. */
  readonly program?: string;
  /** A stack whose configuration holds the settings; true for the selected one. */
  readonly stack?: string | true;
  /** An account of `uptime:accounts`, in place of the one without a name. */
  readonly account?: string;
}

/** What was checked, and what a preview would say of the program. */
export interface DoctorReport {
  readonly findings: readonly Finding[];
  readonly program?: ProgramReport;
}

export function configure(command: Command, context: CommandContext): void {
  addSettingOptions(
    command
      .option(
        "--stack [name]",
        "the stack whose configuration holds the settings (default: the selected one)",
      )
      .option("--cwd <dir>", "the project's folder (default: that of --program, or this one)")
      .option("--account <name>", "the account of uptime:accounts to check")
      .option(
        "--program <dir>",
        "also check every resource of a program, and list those that would be refused",
      )
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration if there is a Pulumi project, and from the environment.
With --program, the program runs as in a preview, but without Pulumi's engine, and everything that it declares is
checked: a preview reports only one of the resources that are refused.

Examples:
  UPTIME_BASE_URL=https://uptime.example.com UPTIME_API_KEY=… pulumi-uptime doctor
  pulumi-uptime doctor --stack prod
  pulumi-uptime doctor --program . --stack prod
`,
    )
    .action(async (options: DoctorOptions & { json?: boolean }) => {
      const { stdout, stderr, exit } = context;
      const report = await examine(options, context);
      if (options.json) stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
      else for (const finding of report.findings) stdout.write(lineOf(finding, context));
      const isRefused = (report.program?.refused.length ?? 0) > 0;
      const isBroken = report.findings.some(({ code, level }) => level === "failed" && code !== refusedCode);
      if (isBroken || isRefused) stderr.write("Some checks failed; see above.\n");
      exit(isBroken ? 1 : isRefused ? 2 : 0);
    });
}

const refusedCode = "program-refused";
const colours = { ok: "green", warning: "yellow", failed: "red" } as const;

function lineOf({ level, text }: Finding, { stdout, env }: CommandContext): string {
  return `${styled(colours[level], level.padEnd(7), stdout, env)}  ${visible(text)}\n`;
}

/** Checks versions, settings, the server, and a program if one is named. It only reads. */
export async function examine(options: DoctorOptions, context: CommandContext): Promise<DoctorReport> {
  const directory = resolve(context.cwd, options.cwd ?? options.program ?? ".");
  const location = {
    cwd: directory,
    env: context.env,
    stack: options.stack === true ? undefined : options.stack,
  };
  const findings = await versionFindings(directory, location);
  let stack: StackSettings;
  try {
    stack = await readSettings(options, directory, location, context);
  } catch (error) {
    return { findings: [...findings, ...failures("settings", error)] };
  }
  findings.push(...stack.findings);
  const usual = await usualFindings(stack.settings, options.account);
  findings.push(...usual);
  const isUnset = usual.some(({ code }) => code === "settings");
  // A program whose resources all have explicit providers needs no other settings.
  if (options.program === undefined || (isFailed(findings) && !isUnset)) return { findings };

  const state = await stateOf(stack, location, options);
  const program = await declaredBy(resolve(context.cwd, options.program), stack.settings, state, context.env);
  const scopes = [...new Set(program.resources.map(program.scopeOf))];
  if (isUnset && (scopes.length === 0 || scopes.some(({ provider }) => provider === undefined)))
    return { findings };
  const checks = findings.filter(({ code }) => code !== "settings");
  for (const scope of scopes) checks.push(...(await providerFindings(scope)));
  if (isFailed(checks)) return { findings: checks };
  const report = await checkProgram(program, state);
  return { findings: [...checks, ...programFindings(report)], program: report };
}

function isFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === "failed");
}

/** The settings of the stack or of the environment, and how their server answers. */
async function usualFindings(settings: CommandSettings, account: string | undefined): Promise<Finding[]> {
  let read: Settings;
  try {
    read = settings.forAccount(account);
  } catch (error) {
    return failures("settings", error);
  }
  return [...settingFindings(read, settings), ...(await serverFindings(() => read))];
}

/** The same of an explicit provider, unless its settings are known only after `pulumi up`. */
async function providerFindings({ provider, forAccount }: Scope): Promise<Finding[]> {
  if (provider === undefined) return [];
  try {
    const { baseUrl } = forAccount();
    const text = `The provider ${provider}: the address is ${baseUrl.url}`;
    return [{ code: "provider", level: "ok", text }, ...(await serverFindings(forAccount))];
  } catch (error) {
    if (error instanceof SettingsUnknown)
      return [{ code: "provider", level: "warning", text: error.message }];
    return failures("provider", error);
  }
}

async function serverFindings(forAccount: AccountSettings): Promise<Finding[]> {
  const session = new Session();
  const findings: Finding[] = [];
  for (const definition of definitions)
    findings.push(...(await checkServer(session.connector(definition, forAccount)(undefined))));
  return findings;
}

async function versionFindings(directory: string, location: StackLocation): Promise<Finding[]> {
  const findings: Finding[] = [
    { code: "package-version", level: "ok", text: `pulumi-uptime ${version()}` },
    { code: "node-version", level: "ok", text: `Node.js ${process.versions.node}` },
  ];
  const level = isProject(directory) ? "warning" : "ok";
  try {
    findings.push({
      code: "pulumi-version",
      level: "ok",
      text: `Pulumi CLI ${await pulumiVersion(location)}`,
    });
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    findings.push({ code: "pulumi-version", level, text: `Pulumi CLI: ${error.message}` });
  }
  const runtime = runtimeOf(directory);
  // Programs in other languages do not need it.
  if (runtime !== undefined && runtime !== "nodejs") return findings;
  const sdk = sdkVersion(directory);
  findings.push(
    sdk === undefined
      ? { code: "sdk-version", level, text: `@pulumi/pulumi is not installed in ${directory}` }
      : { code: "sdk-version", level: "ok", text: `@pulumi/pulumi ${sdk}` },
  );
  return findings;
}

function sdkVersion(directory: string): string | undefined {
  try {
    const load = createRequire(join(directory, "package.json"));
    return (load("@pulumi/pulumi/package.json") as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** The settings, and what could be learned of the stack on the way. */
interface StackSettings {
  readonly settings: CommandSettings;
  /** Whether the stack's configuration is part of the settings. */
  readonly isRead: boolean;
  readonly findings: readonly Finding[];
}

/** In a project the stack is asked, because settings are usually there. Unless a person asks for it, it may be unreadable. */
async function readSettings(
  options: DoctorOptions,
  directory: string,
  location: StackLocation,
  context: CommandContext,
): Promise<StackSettings> {
  if (options.stack === undefined && !isProject(directory))
    return { settings: await commandSettings(options, context), isRead: false, findings: [] };
  try {
    return { settings: await commandSettings(options, context, location), isRead: true, findings: [] };
  } catch (error) {
    if (options.stack !== undefined || !(error instanceof UptimeError)) throw error;
    const text = `The project's stack cannot be read, so settings come only from options and the environment. ${error.message}`;
    return {
      settings: await commandSettings(options, context),
      isRead: false,
      findings: [{ code: "stack", level: "warning", text }],
    };
  }
}

async function stateOf(
  { isRead }: StackSettings,
  location: StackLocation,
  { stack }: DoctorOptions,
): Promise<readonly StateResource[]> {
  // Without a stack every import counts as new.
  if (!isRead && stack === undefined) return [];
  return (await exportedState(location, false)).deployment.resources ?? [];
}

/** An error as findings, one for each fault. */
function failures(code: string, error: unknown): Finding[] {
  if (!(error instanceof UptimeError)) throw error;
  return [{ code, level: "failed", text: error.message }];
}

function settingFindings(settings: Settings, { config, secretKeys }: CommandSettings): Finding[] {
  const addresses = [...new Set([settings.baseUrl, settings.monitorsBaseUrl])].map(
    ({ url, source }): Finding =>
      url.startsWith("http://") && !/^http:\/\/(localhost|127\.|\[::1\])/.test(url)
        ? {
            code: "plain-http",
            level: "warning",
            text: `${source} is ${url}: plain http exposes the API key to anyone on the network path. Use https://.`,
          }
        : { code: "address", level: "ok", text: `${source} is ${url}` },
  );
  const plainKeys = plainTextKeys(
    (key) => config.get(key),
    (key) => secretKeys.has(key),
  );
  return [
    ...addresses,
    { code: "api-key", level: "ok", text: `The API key comes from ${settings.apiKeySource}` },
    ...plainKeys.map((text): Finding => ({ code: "plain-text-key", level: "warning", text })),
  ];
}

function programFindings({ resources, imports, refused, notes }: ProgramReport): Finding[] {
  return [
    ...notes.map((text): Finding => ({ code: "program-note", level: "ok", text })),
    ...refused.flatMap(({ type, name, importId, reasons }) =>
      reasons.map((reason): Finding => ({
        code: refusedCode,
        level: "failed",
        text: `${labelIn(type)} ${name}${importId === undefined ? "" : ` (import ${importId})`}: ${reason}`,
      })),
    ),
    {
      code: "program",
      level: "ok",
      text:
        `The program declares ${counted(resources, "resource")}; a preview would import ${counted(imports, "record")} ` +
        `and refuse ${refused.length === 0 ? "none" : counted(refused.length, "resource")}`,
    },
  ];
}
