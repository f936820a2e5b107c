import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { styleText } from "node:util";

import { Option, type Command } from "commander";
import * as z from "zod/mini";

import { ApiError, UnreachableError, UptimeError } from "../../api/errors";
import type { Settings } from "../../api/settings";
import { definitions } from "../../definitions";
import { ownPackage } from "../../common/package";
import { plainApiKeyWarnings, unknownSettingWarnings } from "../../definitions/setting-warnings";
import { safeName } from "../../common/text";
import { isLoopback } from "../../common/url";
import { Redactor } from "../../engine/redactor";
import type { Session } from "../../lifecycle/session";
import { failed, failedBy, ok, warning, type Finding } from "../shared/finding";
import { jsonText } from "../shared/json";
import { isProject, readProject } from "../shared/project";
import { usesStackSettings } from "../shared/providers";
import { exportState, isSupported, minimumPulumi, pulumiVersion } from "../shared/pulumi-cli";
import type { StackLocation } from "../shared/pulumi-cli";
import { printable } from "../shared/quoting";
import { addSettingOptions, settingsInFolder } from "../shared/setting-options";
import type { CommandSettings, FolderSettings, SettingOptions } from "../shared/setting-options";
import { managedResources } from "../shared/state";
import { assertOwnCode } from "../shared/state-code";
import { withProgress, type CommandContext } from "../shared/terminal";
import { checkServer } from "./probe";
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
      .option(
        "--program <dir>",
        "also preview a program, and list every resource that would be refused, and what `pulumi up` would do",
      )
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Settings come from options, from the stack's configuration if there is a Pulumi
project, and from the environment.

With --program, \`pulumi preview\` runs the program, in whatever language it is,
with the settings of its stack. Pulumi reports only one of the resources that
are refused. This lists all of them, and what \`pulumi up\` would do: which
creates have a record like them already, which are equal, and which monitors
have no alert channels. Nothing is changed. --json names every resource.

Examples:
  pulumi-uptime doctor
  pulumi-uptime doctor --stack prod
  pulumi-uptime doctor --program . --stack prod
`,
    )
    .action(async (options: DoctorOptions) => {
      const { stdout, stderr, setExitCode } = context;
      const findings: Finding[] = [];
      const tell: Tell = (...found) => {
        findings.push(...found);
        if (!options.json) for (const finding of found) stdout.write(lineOf(finding, context));
      };
      const program = await examine(options, context, findings, tell);
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

/** Tells findings, which a person sees at once. */
type Tell = (...findings: readonly Finding[]) => void;

/** Checks versions, settings, the server, and a program if one is named. It only reads; `told` is what it has told so far. */
async function examine(
  options: DoctorOptions,
  context: CommandContext,
  told: readonly Finding[],
  tell: Tell,
): Promise<ProgramReport | undefined> {
  const { env, session } = context;
  const { stack, program } = options;
  const cwd = resolve(context.cwd, program ?? options.cwd ?? ".");
  if (!existsSync(cwd)) throw new UptimeError(`${cwd} does not exist.`);
  const location = { cwd, env, stack: stack === true ? undefined : stack };
  tell(...(await versionFindings(location)));

  const isStackAsked = stack !== undefined || program !== undefined;
  let settings: FolderSettings;
  try {
    settings = await settingsInFolder(options, context, location, isStackAsked);
  } catch (error) {
    const found = failedBy("settings", error, session.secrets);
    const text = program === undefined ? found.text : `${found.text.replace(/\.?$/, ".")} ${previewNeeds}`;
    tell({ ...found, text });
    return undefined;
  }
  const { unreadStack } = settings;
  const { accounts, unset } = readAccounts(settings, session);
  // The missing settings may be in the stack, so the stack that cannot be read is the failure to report.
  const isStackMissed = unreadStack !== undefined && unset.length > 0;
  if (unreadStack !== undefined) tell((isStackMissed ? failed : warning)("stack", unreadStack));
  tell(...settingFindings(settings, cwd));

  for (const [name, ofAccount] of accounts) await examineAccount(name, ofAccount, context, tell);
  if (isStackMissed) return undefined;
  // A program whose resources all have explicit providers needs no other settings.
  if (program === undefined || told.some(({ level }) => level === "failed")) {
    const isNeeded = unset.length === 0 || (await stateUsesStackSettings(location));
    tell(...(isNeeded ? unset : [ok("settings", noSettingsText)]));
    return undefined;
  }
  return examineProgram(location, settings, unset, context, tell);
}

/** Previews a program; `unset` is what is wrong with the stack's settings, which it may not need. */
async function examineProgram(
  location: StackLocation,
  settings: CommandSettings,
  unset: readonly Finding[],
  { session, stderr }: CommandContext,
  tell: Tell,
): Promise<ProgramReport | undefined> {
  try {
    const state = await exportState(location, { showSecrets: true });
    assertOwnCode(state);
    const report = await withProgress(stderr, (show) => {
      show("Running `pulumi preview`, which may take a minute …");
      return checkProgram(location, state, settings, session);
    });
    const isUnset = unset.length > 0 && report.usesStackSettings && report.errors.length === 0;
    tell(...(isUnset ? unset : programFindings(report)));
    return report;
  } catch (error) {
    tell(...unset, failedBy("preview", error, session.secrets));
    return undefined;
  }
}

/** Whether the resources in the stack's state need its own settings; true if the state cannot be read. */
async function stateUsesStackSettings(location: StackLocation): Promise<boolean> {
  if (!isProject(location.cwd)) return true;
  try {
    const managed = managedResources(await exportState(location));
    return usesStackSettings(managed.map(({ resource }) => resource));
  } catch (error) {
    if (!(error instanceof UptimeError)) throw error;
    return true;
  }
}

const noSettingsText =
  "The stack has no settings, and needs none: every resource has an explicit provider, which `drift` asks";

const previewNeeds =
  "With --program, `doctor` runs `pulumi preview`, which needs the Pulumi CLI and a stack: `pulumi stack init` makes one, and --stack names one.";

async function versionFindings(location: StackLocation): Promise<Finding[]> {
  const { cwd } = location;
  const { exists, runtime } = readProject(cwd);
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
    const load = createRequire(join(cwd, "package.json"));
    const sdk = z.object({ version: z.string() }).parse(load("@pulumi/pulumi/package.json"));
    return [...findings, pulumiFinding("sdk-version", "@pulumi/pulumi", sdk.version)];
  } catch {
    return [...findings, missing("sdk-version", `@pulumi/pulumi is not installed in ${cwd}`)];
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
      unset.push(failedBy("settings", error, session.secrets));
    }
  };
  attempt(() => {
    for (const name of accountNames()) attempt(() => accounts.set(name, forAccount(name)));
  });
  // A server may repeat the key of an account that is checked later.
  for (const { apiKey } of accounts.values()) session.hide(apiKey);
  return { accounts, unset };
}

/** Checks the settings of an account, and its server with each kind of record. */
async function examineAccount(
  name: string | undefined,
  settings: Settings,
  { session, stderr }: CommandContext,
  tellAll: Tell,
): Promise<void> {
  const prefix = name === undefined ? "" : `Account ${safeName(name)}: `;
  const tell: Tell = (...findings) => {
    tellAll(...findings.map((one) => ({ ...one, text: prefix + one.text })));
  };
  tell(...addressFindings(settings));
  const isOneServer = settings.baseUrl.url === settings.monitorsBaseUrl.url;
  for (const definition of definitions)
    try {
      const found = await withProgress(stderr, (show) => {
        show(`Reading ${definition.plural} …`);
        return checkServer(session.connect(definition, settings), new Redactor(session.secrets));
      });
      tell(...found);
    } catch (error) {
      tell(failedBy(`${definition.plural}-request`, error, session.secrets));
      // A server that refuses the key for one kind of record refuses it for all; a 403 may be about this kind only.
      const isKeyRefused = error instanceof ApiError && error.status === 401;
      if (isOneServer && (isKeyRefused || error instanceof UnreachableError)) break;
    }
}

function addressFindings({ baseUrl, monitorsBaseUrl, apiKeySource }: Settings): Finding[] {
  const addresses = new Map([baseUrl, monitorsBaseUrl].map(({ source, url }) => [source, url]));
  return [
    ...[...addresses].map(([source, url]) =>
      url.startsWith("http://") && !isLoopback(new URL(url).hostname)
        ? warning(
            "plain-http",
            `${source} is ${url}: plain http exposes the API key to anyone on the network path. Use https://.`,
          )
        : ok("address", `${source} is ${url}`),
    ),
    ok("api-key", `The API key comes from ${apiKeySource}`),
  ];
}

/** Warnings about the stack's configuration. */
function settingFindings({ config, secretSettings }: CommandSettings, cwd: string): Finding[] {
  const { name } = readProject(cwd);
  const isSecret = (key: string): boolean => secretSettings.has(key);
  return [
    ...unknownSettingWarnings([...config.keys()], name, "uptime:").map((text) =>
      warning("unknown-setting", text),
    ),
    ...plainApiKeyWarnings((key) => config.get(key), isSecret).map((text) => warning("plain-text-key", text)),
  ];
}
