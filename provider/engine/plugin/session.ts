import { KeptResourceError, PartialFailureError, UptimeError } from "../../api/errors";
import { readLogLevel, readSettings } from "../../api/settings";
import type { Config } from "../../api/settings";
import { definitions } from "../../definitions";
import type { Definition } from "../../definitions/field";
import { Session as Connections } from "../../lifecycle/connection";
import type { Connect, Surroundings } from "../../lifecycle/connection";
import type { Outputs } from "../../lifecycle/resource";
import { Lifecycle } from "../../lifecycle/lifecycle";
import { lookUpAll, lookUpOne } from "../../lifecycle/lookup";
import { cleanRecord, secretsIn, told } from "../clean";
import type { Properties } from "../request";
import type { Engine } from "./engine";
import { NativeResources } from "./provider";
import type { ResourceRequest } from "./provider";
import { changedSettings, checkedSettings, configOf } from "./provider-settings";
import { definitionOf, functionOf, typeIn } from "./tokens";

/** One run of the plugin with its settings, and everything that is loaded only when the engine asks for it. */
export class Session {
  private config: Config = configOf({});
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
    const definition = definitionOf(definitions, typeIn(request.urn));
    const resources = this.resourcesOf(definition);
    try {
      return await run(resources);
    } catch (error) {
      const message = told(error, this.secretsOf(definition, properties));
      if (!(error instanceof PartialFailureError)) throw new UptimeError(message);
      const { id, outputs } = error as PartialFailureError<Outputs>;
      throw new KeptResourceError(message, id, resources.outputProperties(outputs));
    }
  }

  /** Looks records up. One is the result itself, several are under the name of their kind. */
  async invoke(token: string, args: Properties): Promise<Properties> {
    const { definition, finds } = functionOf(definitions, token);
    const { keys } = this.connections;
    try {
      if (finds === "one")
        return cleanRecord(definition, await lookUpOne(definition, this.connect(definition), args), keys);
      const found = await lookUpAll(definition, this.connect(definition), args);
      return { [definition.plural]: found.map((record) => cleanRecord(definition, record, keys)) };
    } catch (error) {
      throw new UptimeError(told(error, keys));
    }
  }

  private secretsOf(definition: Definition, properties: readonly Properties[]): string[] {
    return [...this.connections.keys, ...secretsIn(definition, ...properties)];
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
      resources = new NativeResources(new Lifecycle(definition, this.connect(definition)), {
        note: (urn, message) => {
          this.engine.log("warning", message, urn);
        },
        keys: this.connections.keys,
        adopts: () => this.config.get("uptime:adoptExisting")?.trim() === "true",
        cancel: this.interruption.signal,
      });
      this.resources.set(definition, resources);
    }
    return resources;
  }

  private connect(definition: Definition): Connect {
    return this.connections.connector(definition, (account) => readSettings(this.config, this.env, account));
  }
}
