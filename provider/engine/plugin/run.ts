import { UptimeError } from "../../api/errors";
import { readSettings, type Config } from "../../api/settings";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import type { Properties } from "../../common/marks";
import { hiddenNames, lookupFunction, pluginType, type LookupMode } from "../../common/pulumi";
import { parseUrn } from "../../common/urn";
import { openRunNote } from "../run-note-file";
import { listRecords } from "../../lifecycle/lookup";
import type { Connect } from "../../lifecycle/record-scope";
import { pairsAdvice } from "../../lifecycle/state-account";
import type { SessionDependencies } from "../../lifecycle/session";
import { collectVariable } from "../collecting-front";
import { newFront } from "../front";
import type { EngineLog } from "../engine-log";
import type { FrontContext } from "../shared-front";
import { FrontSession } from "../front-session";
import { runLookup, withRedactedErrors } from "../lookup";
import {
  changedSettings,
  checkProviderSettings,
  configOf,
  pairsOfOtherAccounts,
  settingsOfDynamic,
} from "../provider-settings";
import type { CheckedSettings } from "../provider-settings";
import { getOrMake } from "../../common/values";
import { givenId } from "./imported-record";
import type { ResourceRequest } from "./resource-request";
import { PluginResources } from "./resources";

/** A page of a list, as the engine asks for it. */
interface ListRequest {
  readonly token: string;
  readonly query: Properties;
  /** The most records of all pages together; undefined is all. */
  readonly limit: number | undefined;
  readonly pageSize: number | undefined;
  /** What the page before it has returned; undefined for the first one. */
  readonly continuation: string | undefined;
}

type ShowItem = (item: { readonly id: string; readonly name: string | undefined }) => void;

/** The plugin during one run of the engine, with its settings and resources. */
export class PluginRun {
  private config: Config = configOf({});
  private configured: Properties | undefined;
  /** The inputs of Pulumi's provider of dynamic resources, if some move to this one. The engine shows them only to an explicit one. */
  private dynamicProvider: Properties | undefined;
  readonly session: FrontSession;
  private readonly resources = new Map<Definition, PluginResources>();

  constructor(
    private readonly engine: EngineLog,
    private readonly env: NodeJS.ProcessEnv,
    dependencies: SessionDependencies = {},
  ) {
    this.session = new FrontSession({
      print: (line) => {
        engine.log("info", line);
      },
      showWait: (line, urn) => {
        engine.log("info", line, urn, { isEphemeral: true });
      },
      runNote: openRunNote(engine.address),
      ...dependencies,
    });
  }

  checkSettings(urn: string, given: Properties): Omit<CheckedSettings, "warnings"> {
    const { settings, warnings, problems } = checkProviderSettings(urn, given, this.env);
    for (const warning of warnings) this.engine.log("warning", warning, urn);
    // Resources are refused with the same words, and collected with everything else that a preview refuses.
    return { settings, problems: this.env[collectVariable] ? [] : problems };
  }

  diffSettings(old: Properties, current: Properties): { changed: string[]; replaces: boolean } {
    if (old[hiddenNames.providerName] === undefined) this.dynamicProvider = old;
    const pairs = pairsOfOtherAccounts(old, current, this.env);
    if (pairs.length > 0) this.session.explainReplacementOnce(pairsAdvice(configOf(current), pairs));
    const replaces = pairs.length > 0;
    const changed = changedSettings(old, current);
    // The addresses may differ by a variable of the environment, which an explicit provider with its own address does not read. Pulumi
    // replaces nothing if no setting is named.
    return { changed: replaces && changed.length === 0 ? ["monitorsBaseUrl"] : changed, replaces };
  }

  configure(settings: Properties, providerName?: string): void {
    // With PULUMI_DEBUG_PROVIDERS one process serves all providers of a program, and it has one set of settings.
    if (this.configured && changedSettings(this.configured, settings).length > 0)
      throw new UptimeError(
        "An attached plugin (PULUMI_DEBUG_PROVIDERS) serves all providers of a run with the same settings, and this run has " +
          "providers with different ones. Run it without PULUMI_DEBUG_PROVIDERS, or with one provider.",
      );
    this.configured = settings;
    // `pulumi do` has no preview, and its provider has no name.
    this.session.hasPreview = providerName !== "";
    this.config = configOf(settings);
  }

  async run<T>(
    request: ResourceRequest,
    operation: (resources: PluginResources, request: ResourceRequest) => T | Promise<T>,
  ): Promise<T> {
    const { urn, inputs, oldInputs, oldOutputs } = request;
    const resources = this.resourcesOf(definitionOfType(parseUrn(urn).type));
    // `pulumi do` reads a record as a `get` does.
    const isImport = request.isImport && (this.session.hasPreview || !request.mayBeGet);
    return resources.front.run([inputs, oldInputs, oldOutputs], () =>
      operation(resources, resources.withPlainId({ ...request, isImport })),
    );
  }

  /** Looks records up. A function must return an object, so several records are under the name of their kind. */
  async invoke(token: string, args: Properties, secretArgs: readonly string[]): Promise<Properties> {
    const { definition, mode } = functionOf(token);
    const { connect } = this.resourcesOf(definition).front;
    const { session } = this;
    const result = await session.track(() => runLookup(session, definition, connect, mode, args, secretArgs));
    return Array.isArray(result) ? { [definition.plural]: result } : result;
  }

  async list({ token, ...request }: ListRequest, show: ShowItem): Promise<string | undefined> {
    const { definition, connect } = this.resourcesOf(definitionOfType(token)).front;
    const { session } = this;
    return session.track(() =>
      withRedactedErrors(session, [], () => list(definition, connect, request, show)),
    );
  }

  /** Interrupts, and sends the log while the engine still shows it. */
  async cancel(): Promise<void> {
    this.session.interrupt();
    this.session.printSummary();
    await this.engine.flush();
  }

  private resourcesOf(definition: Definition): PluginResources {
    const { engine, env, session } = this;
    return getOrMake(this.resources, definition, () => {
      const context: FrontContext = {
        definition,
        session,
        settingsOf: (account) => readSettings(this.config, env, account),
        print: (severity, text, urn) => {
          engine.log(severity, text, urn);
        },
      };
      return new PluginResources(
        newFront(context, env),
        (account) =>
          this.dynamicProvider && { settings: settingsOfDynamic(this.dynamicProvider, env, account) },
      );
    });
  }
}

/**
 * Shows the records of a page, as soon as they are known, with ids as an import takes them. Without a size, the page has all.
 *
 * @returns what the next page begins with; undefined if this is the last one
 */
async function list(
  definition: Definition,
  connect: Connect,
  { query, limit = Infinity, pageSize = Infinity, continuation }: Omit<ListRequest, "token">,
  show: ShowItem,
): Promise<string | undefined> {
  const { shown: shownBefore, after } = parseContinuation(continuation);
  const most = Math.min(limit - shownBefore, pageSize);
  if (most <= 0) return undefined;
  let [shown, last] = [0, after];
  for await (const { id, account, name } of listRecords(definition, connect, query, after)) {
    if (shown === most) return `${shownBefore + shown}:${last ?? ""}`;
    show({ id: givenId(account, id), name });
    [shown, last] = [shown + 1, id];
    if (shownBefore + shown === limit) return undefined;
  }
  return undefined;
}

/** How many records the pages before have shown, and the id of the last one. */
function parseContinuation(continuation: string | undefined): { shown: number; after: string | undefined } {
  if (continuation === undefined) return { shown: 0, after: undefined };
  const [, shown, after] = /^(\d+):(.+)$/.exec(continuation) ?? [];
  if (after === undefined)
    throw new UptimeError(
      `${JSON.stringify(continuation)} is not a page of a list: begin with the first one.`,
    );
  return { shown: Number(shown), after };
}

export function definitionOfType(type: string): Definition {
  return findToken("resource type", type, definitions, pluginType);
}

export function functionOf(token: string): { readonly definition: Definition; readonly mode: LookupMode } {
  const functions = definitions.flatMap((definition) =>
    (["one", "all"] as const).map((mode) => ({ definition, mode })),
  );
  return findToken("function", token, functions, ({ definition, mode }) => lookupFunction(definition, mode));
}

function findToken<T>(what: string, token: string, all: readonly T[], tokenOf: (one: T) => string): T {
  const found = all.find((one) => tokenOf(one) === token);
  if (found !== undefined) return found;
  const advice = token.startsWith("pulumi-nodejs:dynamic/")
    ? ' A resource with the option provider must come from "pulumi-uptime/native".'
    : "";
  throw new UptimeError(
    `The plugin pulumi-resource-uptime has no ${what} ${JSON.stringify(token)}; it has ${all.map(tokenOf).join(", ")}.${advice}`,
  );
}
