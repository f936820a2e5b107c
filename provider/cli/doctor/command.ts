import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { styleText } from "node:util";

import { Option, type Command } from "commander";
import * as z from "zod/mini";

import { UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { ownPackage } from "../../common/package";
import { plainApiKeyWarnings, unknownSettingWarnings } from "../../definitions/setting-warnings";
import type { Session } from "../../lifecycle/session";
import { failed, ok, warning, type Finding } from "../shared/finding";
import { jsonText } from "../shared/json";
import { readProject, type Project } from "../shared/project";
import { usesStackSettings } from "../shared/providers";
import { exportState, isSupported, minimumPulumi, pulumiVersion } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { printable } from "../shared/quoting";
import { addSettingOptions, settingsInFolder } from "../shared/setting-options";
import type { CommandSettings, SettingOptions } from "../shared/setting-options";
import { managedResources } from "../shared/state";
import { reasonOf, withProgress, type CommandContext } from "../shared/terminal";
import { examineAccount, type ReportFindings } from "./account";
import { checkProgram, type ProgramReport } from "./program";
import { programFindings, refusedCode } from "./program-findings";

interface DoctorOptions extends SettingOptions {
  readonly cwd?: string;
  readonly program?: string;
  /** True for the stack that is selected. */
  readonly stack?: string | true;
  readonly json?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  addSettingOptions(
    command
      .option(
        "--stack [name]",
        "the stack whose configuration holds the settings (default: the selected one)",
      )
      .addOption(new Option("--cwd <dir>", "the project's folder (default: this one)").conflicts("program"))
      .addOption(
        // A preview uses the stack's addresses, so records at another one say nothing about the program.
        new Option(
          "--program <dir>",
          "also preview a program: list all refused resources, and what `pulumi up` would do",
        ).conflicts(["baseUrl", "monitorsBaseUrl"]),
      )
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration if there is a Pulumi
project, and from the environment.

With --program, \`pulumi preview\` runs the program, in any language, with its
stack's settings. Pulumi reports only one refused resource. This lists all of
them, and what \`pulumi up\` would do: which new resources have a similar or an
equal record already, and which monitors have no alert channels. Nothing is
changed. --json names every resource.

Examples:
  pulumi-uptime doctor
  pulumi-uptime doctor --stack prod
  pulumi-uptime doctor --program . --stack prod
`,
    )
    .action(async (options: DoctorOptions) => {
      const { stdout, stderr, setExitCode } = context;
      const findings: Finding[] = [];
      const report: ReportFindings = (...found) => {
        findings.push(...found);
        if (!options.json) for (const finding of found) stdout.write(lineOf(finding, context));
      };
      const program = await examine(options, context, findings, report);
      if (options.json) stdout.write(jsonText({ findings, program }));
      const faults = findings.filter(({ level }) => level === "failed");
      const isBroken = faults.some(({ code }) => code !== refusedCode);
      if (faults.length > 0) stderr.write("Some checks failed; see above.\n");
      setExitCode(isBroken ? 1 : faults.length > 0 ? 2 : 0);
    });
}

const colors = { ok: "green", warning: "yellow", failed: "red" } as const;

function lineOf({ level, text }: Finding, { stdout, env }: CommandContext): string {
  const word = level.padEnd(7);
  const isColored = stdout.isTTY && !env.NO_COLOR;
  return `${isColored ? styleText(colors[level], word, { validateStream: false }) : word}  ${printable(text)}\n`;
}

/** Checks versions, settings, the server, and a program if one is named. It only reads; `found` is what it has reported so far. */
async function examine(
  options: DoctorOptions,
  context: CommandContext,
  found: readonly Finding[],
  report: ReportFindings,
): Promise<ProgramReport | undefined> {
  const { env, session } = context;
  const { stack, program } = options;
  const cwd = resolve(context.cwd, program ?? options.cwd ?? ".");
  if (!existsSync(cwd)) throw new UptimeError(`${cwd} does not exist.`);
  const location = { cwd, env, stack: stack === true ? undefined : stack };
  const project = readProject(cwd);
  report(...(await versionFindings(project, location)));

  const isStackAsked = stack !== undefined || program !== undefined;
  let settings: CommandSettings;
  try {
    settings = await settingsInFolder(options, context, location, isStackAsked);
  } catch (error) {
    const reason = reasonOf(error, session);
    const text = program === undefined ? reason : `${reason.replace(/\.?$/, ".")} ${previewNeeds}`;
    report(failed("settings", text));
    return undefined;
  }
  const { unreadStack } = settings;
  const { accounts, unset } = readAccounts(settings, session);
  // The missing settings may be in the stack, so the stack that cannot be read is the failure to report.
  const isStackMissed = unreadStack !== undefined && unset.length > 0;
  if (unreadStack !== undefined) report((isStackMissed ? failed : warning)("stack", unreadStack));
  report(...settingFindings(settings, project));

  for (const [name, ofAccount] of accounts) await examineAccount(name, ofAccount, context, report);
  if (isStackMissed) return undefined;
  // A program whose resources all have explicit providers needs no other settings.
  if (program === undefined || found.some(({ level }) => level === "failed")) {
    const isNeeded = unset.length === 0 || (await stateUsesStackSettings(location));
    const none =
      "The stack has no settings, and needs none: every resource has an explicit provider, whose settings `drift` uses";
    report(...(isNeeded ? unset : [ok("settings", none)]));
    return undefined;
  }
  return examineProgram(location, settings, unset, context, report);
}

/** Previews a program; `unset` is what is wrong with the stack's settings, which it may not need. */
async function examineProgram(
  location: StackLocation,
  settings: CommandSettings,
  unset: readonly Finding[],
  { session, stderr }: CommandContext,
  report: ReportFindings,
): Promise<ProgramReport | undefined> {
  try {
    const checked = await withProgress(stderr, (show) => {
      show("Running `pulumi preview` …");
      return checkProgram(location, settings, session);
    });
    const isUnset = unset.length > 0 && checked.usesStackSettings && checked.errors.length === 0;
    report(...(isUnset ? unset : programFindings(checked)));
    return checked;
  } catch (error) {
    report(...unset, failed("preview", reasonOf(error, session)));
    return undefined;
  }
}

/** Whether the resources in the stack's state need its own settings; true if the state cannot be read. */
async function stateUsesStackSettings(location: StackLocation): Promise<boolean> {
  try {
    const managed = managedResources(await exportState(location));
    return usesStackSettings(managed.map(({ resource }) => resource.provider));
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return true;
  }
}

const previewNeeds =
  "With --program, `doctor` runs `pulumi preview`, which needs the Pulumi CLI and a stack: `pulumi stack init` makes one, and --stack names one.";

async function versionFindings(
  { directory, exists, runtime }: Project,
  location: StackLocation,
): Promise<Finding[]> {
  const missing = exists ? warning : ok;
  const findings = [
    ok("package-version", `pulumi-uptime ${ownPackage().version}`),
    ok("node-version", `Node.js ${process.versions.node}`),
  ];
  try {
    const version = await pulumiVersion(location);
    findings.push(pulumiFinding("pulumi-version", "Pulumi CLI", version));
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    findings.push(missing("pulumi-version", `Pulumi CLI: ${error.message}`));
  }
  // Programs in other languages do not need it.
  if (runtime !== undefined && runtime !== "nodejs") return findings;
  try {
    const load = createRequire(join(directory, "package.json"));
    const sdk = z.object({ version: z.string() }).parse(load("@pulumi/pulumi/package.json"));
    return [...findings, pulumiFinding("sdk-version", "@pulumi/pulumi", sdk.version)];
  } catch {
    return [...findings, missing("sdk-version", `@pulumi/pulumi is not installed in ${directory}`)];
  }
}

function pulumiFinding(code: string, name: string, version: string): Finding {
  return isSupported(version)
    ? ok(code, `${name} ${version}`)
    : failed(code, `${name} ${version} is too old: install ${minimumPulumi} or later`);
}

/** The accounts whose settings can be used, by name, and why the others cannot. */
function readAccounts(
  { accountNames, forAccount }: CommandSettings,
  session: Session,
): { accounts: Map<string | undefined, Settings>; unset: Finding[] } {
  const accounts = new Map<string | undefined, Settings>();
  const unset: Finding[] = [];
  const attempt = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      unset.push(failed("settings", reasonOf(error, session)));
    }
  };
  attempt(() => {
    for (const name of accountNames()) attempt(() => accounts.set(name, forAccount(name)));
  });
  // A server may repeat the key of an account that is checked later.
  for (const { apiKey } of accounts.values()) session.secrets.add(apiKey);
  return { accounts, unset };
}

function settingFindings({ config, secretSettings }: CommandSettings, { name }: Project): Finding[] {
  const isSecret = (key: string): boolean => secretSettings.has(key);
  return [
    ...unknownSettingWarnings([...config.keys()], name, "uptime:").map((text) =>
      warning("unknown-setting", text),
    ),
    ...plainApiKeyWarnings((key) => config.get(key), isSecret).map((text) => warning("plain-text-key", text)),
  ];
}
