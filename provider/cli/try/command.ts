import { resolve } from "node:path";

import { Option, type Command } from "commander";

import { UptimeError } from "../../api/errors";
import { monitor } from "../../definitions/monitor";
import { jsonText } from "../shared/json";
import { readState } from "../shared/pulumi-cli";
import { byName } from "../shared/quoting";
import { addSettingOptions, givenFlags, settingsInFolder } from "../shared/setting-options";
import type { SettingOptions } from "../shared/setting-options";
import { withProgress, writeLine, type CommandContext } from "../shared/terminal";
import { alertingIn, tryText, type TryReport } from "../shared/try-report";
import { monitorsInAccount, monitorsInState, previewedMonitors, type KnownMonitor } from "./monitors";
import { Sender } from "./sender";
import { tryMonitor } from "./trial";

interface TryOptions extends SettingOptions {
  readonly cwd?: string;
  readonly stack?: string;
  /** True for that of the stack. */
  readonly state?: string | true;
  readonly all?: boolean;
  readonly account?: string;
  readonly anyMethod?: boolean;
  readonly json?: boolean;
}

export function configure(command: Command, context: CommandContext): void {
  addSettingOptions(
    command
      .option("--cwd <dir>", "the project's folder (default: this one)")
      .option("--stack <name>", "the stack to preview or to read (default: the selected one)")
      .addOption(
        new Option(
          "--state [file]",
          "try the monitors in the stack's state, or in a file from `pulumi stack export`",
        ).conflicts("all"),
      )
      .option("--all", "try all monitors of the account")
      .option("--account <name>", "with --all, the account of uptime:accounts")
      .option("--any-method", "also send POST, PUT, PATCH and DELETE, which may change something")
      .option("--json", "print JSON"),
  )
    .addHelpText(
      "after",
      `
Sends the request of each monitor from this machine, and lists which monitors
would alert at once, and why. By default it runs \`pulumi preview\`, and tries the
monitors that are new or would change. Changes neither state nor the API. Skips
monitors that are paused, in their maintenance window, or have values that are
not known yet.

The preview needs the stack's settings, and --state needs none. With --all, they
come from options, from the stack's configuration if there is a project, and
from the environment.

Examples:
  pulumi-uptime try
  pulumi-uptime try --state --json > try.json
  pulumi-uptime try --all --any-method
`,
    )
    .action(async (options: TryOptions) => {
      const { stdout, stderr, session, setExitCode } = context;
      const sender = new Sender();
      const report = await withProgress(stderr, async (show): Promise<TryReport> => {
        const monitors = await readMonitors(options, context, show);
        let done = 0;
        const trying = monitors.map(async (one) => {
          const tried = await tryMonitor(one, sender, options.anyMethod === true, session.secrets);
          show(`Tried ${++done} of ${monitors.length} …`);
          return tried;
        });
        // The engine plans in parallel, so the order of a preview changes from run to run.
        return { monitors: (await Promise.all(trying)).sort((a, b) => byName(a.title, b.title)) };
      });
      stdout.write(options.json ? jsonText(report) : tryText(report));
      setExitCode(alertingIn(report).length > 0 ? 2 : 0);
    });
}

async function readMonitors(
  options: TryOptions,
  context: CommandContext,
  show: (text: string) => void,
): Promise<KnownMonitor[]> {
  const { state, all, account, stack } = options;
  const at = (path: string): string => resolve(context.cwd, path);
  const location = { cwd: at(options.cwd ?? "."), env: context.env, stack };
  // A preview uses the stack's settings, and state needs none.
  const [unused] = all ? [] : [...(account === undefined ? [] : ["--account"]), ...givenFlags(options)];
  if (unused !== undefined) throw new UptimeError(`${unused} needs --all.`);
  if (all) {
    const isStackAsked = stack !== undefined;
    const { forAccount, unreadStack } = await settingsInFolder(options, context, location, isStackAsked);
    if (unreadStack !== undefined) writeLine(context.stderr, unreadStack);
    return monitorsInAccount(context.session.connect(monitor, forAccount(account)), context);
  }
  if (state === undefined) {
    show("Running `pulumi preview` …");
    return previewedMonitors(location);
  }
  show("Reading the state …");
  return monitorsInState(await readState(location, state === true ? undefined : at(state)));
}
