import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import type { Command } from "commander";
import { z } from "zod";

import { UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { plainTextKeys } from "../../definitions/setting-warnings";
import { definitions } from "../../definitions";
import type { CollectedProvider } from "../../engine/collect";
import { told } from "../../engine/clean";
import type { Session } from "../../lifecycle/session";
import type { Finding } from "../shared/finding";
import { checkProgram, programFindings, refusedCode } from "./program";
import type { ProgramReport } from "./program";
import { isProject, readProject } from "../shared/project";
import { exportedState, pulumiVersion } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { visible } from "../shared/quoting";
import { checkServer } from "./probe";
import { addSettingOptions, commandSettings } from "../shared/setting-options";
import type { CommandSettings, SettingOptions } from "../shared/setting-options";
import { styled } from "../shared/terminal";
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
      .option("--cwd <dir>", "the project's folder (default: this one)")
      .option("--account <name>", "the account of uptime:accounts to check")
      .option(
        "--program <dir>",
        "also preview a program, and list every resource that would be refused, and what `pulumi up` would do",
      )
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration if there is a Pulumi project, and from the environment.
With --program, \`pulumi preview\` runs the program, in whatever language it is. It needs the Pulumi CLI and a stack, and
takes its settings from that stack and from the environment. Pulumi itself reports only one of the resources that are
refused; this lists all of them, and which would be created, imported, adopted or replaced. Nothing is changed.

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

const colours = { ok: "green", warning: "yellow", failed: "red" } as const;

function lineOf({ level, text }: Finding, { stdout, env }: CommandContext): string {
  return `${styled(colours[level], level.padEnd(7), stdout, env)}  ${visible(text)}\n`;
}

/** Checks versions, settings, the server, and a program if one is named. It only reads. */
export async function examine(options: DoctorOptions, context: CommandContext): Promise<DoctorReport> {
  const directory = resolve(context.cwd, options.program ?? options.cwd ?? ".");
  const location = {
    cwd: directory,
    env: context.env,
    stack: options.stack === true ? undefined : options.stack,
  };
  const findings = await versionFindings(directory, location);
  let stack;
  try {
    stack = await stackSettings(options, location, context);
  } catch (error) {
    return { findings: [...findings, ...failures("settings", error, context.session)] };
  }
  findings.push(...stack.findings);
  const usual = await usualFindings(stack.settings, options.account, context.session);
  findings.push(...usual);
  const isUnset = usual.some(({ code }) => code === "settings");
  // A program whose resources all have explicit providers needs no other settings.
  if (options.program === undefined || (isFailed(findings) && !isUnset)) return { findings };

  try {
    const state = (await exportedState(location, false)).deployment.resources ?? [];
    const report = await checkProgram(location, state);
    if (isUnset && report.usesStackSettings) return { findings, program: report };
    const checks = findings.filter(({ code }) => code !== "settings");
    const providers = report.providers.map(providerFinding);
    const rest = isFailed(providers) ? [] : programFindings(report);
    return { findings: [...checks, ...providers, ...rest], program: report };
  } catch (error) {
    return { findings: [...findings, ...failures("preview", error, context.session)] };
  }
}

function isFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === "failed");
}

/** The settings of the stack or of the environment, and how their server answers. */
async function usualFindings(
  settings: CommandSettings,
  account: string | undefined,
  session: Session,
): Promise<Finding[]> {
  let read: Settings;
  try {
    read = settings.forAccount(account);
  } catch (error) {
    return failures("settings", error, session);
  }
  return [...settingFindings(read, settings), ...(await serverFindings(read, session))];
}

function providerFinding({ provider, address, problem }: CollectedProvider): Finding {
  return problem === undefined
    ? { code: "provider", level: "ok", text: `The provider ${provider}: the address is ${address}` }
    : { code: "provider", level: "failed", text: `The provider ${provider}: ${problem}` };
}

async function serverFindings(settings: Settings, session: Session): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const definition of definitions)
    findings.push(
      ...(await checkServer(session.connector(definition, () => settings)(undefined), session.keys)),
    );
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
  const { runtime } = readProject(directory);
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
    return z.object({ version: z.string() }).parse(load("@pulumi/pulumi/package.json")).version;
  } catch {
    return undefined;
  }
}

/** In a project the stack is asked, because settings are usually there. Unless a person asks for it, it may be unreadable. */
async function stackSettings(
  options: DoctorOptions,
  location: StackLocation,
  context: CommandContext,
): Promise<{ readonly settings: CommandSettings; readonly findings: readonly Finding[] }> {
  const isAsked = options.stack !== undefined || options.program !== undefined;
  if (!isAsked && !isProject(location.cwd))
    return { settings: await commandSettings(options, context), findings: [] };
  try {
    return { settings: await commandSettings(options, context, location), findings: [] };
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    if (options.program !== undefined)
      throw new UptimeError(
        `${error.message.replace(/\.?$/, ".")} With --program, \`doctor\` runs \`pulumi preview\`, which needs the Pulumi CLI and a stack: ` +
          "`pulumi stack init` makes one, and --stack names one.",
        { cause: error },
      );
    if (isAsked) throw error;
    const text = `The project's stack cannot be read, so settings come only from options and the environment. ${error.message}`;
    return {
      settings: await commandSettings(options, context),
      findings: [{ code: "stack", level: "warning", text }],
    };
  }
}

/** An error as findings, one for each fault. */
function failures(code: string, error: unknown, { keys }: Session): Finding[] {
  if (!(error instanceof UptimeError)) throw error;
  return [{ code, level: "failed", text: told(error, keys) }];
}

function settingFindings(settings: Settings, { config, secretKeys }: CommandSettings): Finding[] {
  const { baseUrl, monitorsBaseUrl } = settings;
  const hasOwnMonitors = monitorsBaseUrl.source !== baseUrl.source;
  const addresses = (hasOwnMonitors ? [baseUrl, monitorsBaseUrl] : [baseUrl]).map(
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
