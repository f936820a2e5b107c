import { UptimeError } from "../../api/errors";
import { Redactor } from "../../api/redact";
import { readLogLevel, readSettings } from "../../api/settings";
import type { Config } from "../../api/settings";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { isDefaultProvider, parseUrn } from "../../definitions/urn";
import { secretsIn } from "../../lifecycle/attributes";
import { Session as Connections } from "../../lifecycle/connection";
import type { Connect, Surroundings } from "../../lifecycle/connection";
import { Lifecycle, PartialFailure } from "../../lifecycle/lifecycle";
import { lookUpAll, lookUpOne } from "../../lifecycle/lookup";
import type { Properties } from "../request";
import type { Engine } from "./engine";
import { Collector, collectVariable } from "../collect";
import { CollectingResources } from "./collecting";
import { NativeResources } from "./provider";
import type { Host, ResourceRequest } from "./provider";
import { changedSettings, checkedSettings, configOf } from "./provider-settings";
import { definitionOf, functionOf } from "./tokens";

/** An error after which the engine keeps a resource, because its record exists. */
export class KeptResource extends UptimeError {
  constructor(
    message: string,
    readonly id: string,
    readonly outputs: Properties,
  ) {
    super(message);
  }
}

/** One run of the plugin with its settings, and everything that is loaded only when the engine asks for it. */
export class Session {
  private config: Config = configOf({});
  /** The name of the provider, if a program has made it. */
  private provider: string | undefined;
  private readonly interruption = new AbortController();
  private readonly connections: Connections;
  private readonly resources = new Map<Definition, NativeResources>();

  constructor(
    private readonly engine: Engine,
    private readonly env: NodeJS.ProcessEnv,
    surroundings: Surroundings = {},
  ) {
    this.connections = new Connections({
      print: (line) => {
        engine.log("info", line);
      },
      ...surroundings,
    });
  }

  checkSettings(urn: string, given: Properties): { settings: Properties; problems: string[] } {
    this.provider = isDefaultProvider(urn) ? undefined : parseUrn(urn).name;
    const { settings, warnings } = checkedSettings(urn, given);
    for (const warning of warnings) this.engine.log("warning", warning, urn);
    return { settings, problems: [] };
  }

  diffSettings(old: Properties, present: Properties): string[] {
    return changedSettings(old, present);
  }

  configure(settings: Properties): void {
    this.config = configOf(settings);
    // So that a run that sends nothing is summarized too.
    this.connections.logOf(readLogLevel(this.config, this.env));
  }

  /** Runs an operation on the resources of a type. What it throws names no key and none of the resource's secrets. */
  async of<T>(
    request: ResourceRequest,
    properties: readonly Properties[],
    run: (resources: NativeResources) => T | Promise<T>,
  ): Promise<T> {
    const definition = definitionOf(definitions, parseUrn(request.urn).type);
    const resources = this.resourcesOf(definition);
    try {
      return await run(resources);
    } catch (error) {
      const message = this.clean(messageOf(error), definition, properties);
      if (error instanceof PartialFailure)
        throw new KeptResource(message, error.id, resources.outputProperties(error.outputs));
      throw new UptimeError(message);
    }
  }

  /** A text without keys and without the secrets of a resource. */
  clean(text: string, definition: Definition, properties: readonly Properties[]): string {
    const redactor = new Redactor().with(secretsIn(definition, ...properties));
    return redactor.text(this.connections.withoutKeys(text));
  }

  /** Looks records up. One is the result itself, several are under the name of their kind. */
  async invoke(token: string, args: Properties): Promise<Properties> {
    const { definition, finds } = functionOf(definitions, token);
    try {
      if (finds === "one") return await lookUpOne(definition, this.connect(definition), args);
      return { [definition.plural]: await lookUpAll(definition, this.connect(definition), args) };
    } catch (error) {
      throw new UptimeError(this.connections.withoutKeys(messageOf(error)));
    }
  }

  /** Ends everything that waits, and sends the log while the engine still shows it. */
  async cancel(): Promise<void> {
    this.interruption.abort(new UptimeError("Pulumi was interrupted, or has ended."));
    this.connections.endLogs();
    await this.engine.flush();
  }

  private resourcesOf(definition: Definition): NativeResources {
    let resources = this.resources.get(definition);
    if (!resources) {
      const connect = this.connect(definition);
      const lifecycle = new Lifecycle(definition, connect);
      const host: Host = {
        note: (urn, message) => {
          this.engine.log("warning", message, urn);
        },
        clean: (text, ...of) => this.clean(text, ...of),
        adopts: () => this.config.get("uptime:adoptExisting")?.trim() === "true",
        cancel: this.interruption.signal,
      };
      const file = this.env[collectVariable];
      const told = (error: unknown, ...of: Properties[]): string =>
        this.clean(messageOf(error), definition, of);
      resources = file
        ? new CollectingResources(
            lifecycle,
            host,
            new Collector(file, definition, connect, told),
            () => this.provider,
          )
        : new NativeResources(lifecycle, host);
      this.resources.set(definition, resources);
    }
    return resources;
  }

  private connect(definition: Definition): Connect {
    return this.connections.connector(definition, (account) => readSettings(this.config, this.env, account));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
