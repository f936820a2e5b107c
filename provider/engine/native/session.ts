import { logOf } from "../../api/log";
import { PartialFailure, UptimeError } from "../../api/errors";
import { readLogLevel, readSettings } from "../../api/settings";
import type { Config } from "../../api/settings";
import { definitions } from "../../definitions";
import { secretsIn } from "../../lifecycle/attributes";
import { connect } from "../../lifecycle/connection";
import type { Connection } from "../../lifecycle/connection";
import { Lifecycle } from "../../lifecycle/lifecycle";
import { lookUpAll, lookUpOne } from "../../lifecycle/lookup";
import type { Engine } from "./engine";
import { oldLife } from "./old-life";
import { ResourceProvider } from "./provider";
import type {
  CheckRequest,
  CreateRequest,
  DeleteRequest,
  DiffRequest,
  PropertyChange,
  ReadRequest,
  UpdateRequest,
} from "./provider";
import { changedSettings, checkedSettings, configOf } from "./settings";
import { functionOf } from "./tokens";
import type { Properties } from "./values";

/** An error after which the engine keeps a resource, because its record exists. */
export interface Failure extends Error {
  resource?: { readonly id: string; readonly outputs: Properties; readonly inputs: Properties };
}

/** One run of the plugin: the settings, and everything that is loaded only when the engine asks for it. */
export class Session {
  private config: Config = configOf({});
  private readonly interruption = new AbortController();
  private readonly provider: ResourceProvider;

  constructor(
    private readonly engine: Engine,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.provider = new ResourceProvider(
      engine,
      (definition) => {
        const connections = new Map<string | undefined, Connection>();
        return oldLife(
          definition,
          new Lifecycle(definition, (account) => {
            let connection = connections.get(account);
            if (!connection)
              connections.set(
                account,
                (connection = connect(definition, readSettings(this.config, this.env, account))),
              );
            return connection;
          }),
        );
      },
      { adopts: () => this.config.get("uptime:adoptExisting") === "true", cancel: this.interruption.signal },
    );
  }

  checkSettings(given: Properties): { settings: Properties; problems: string[] } {
    return checkedSettings(given);
  }

  diffSettings(old: Properties, present: Properties): string[] {
    return changedSettings(old, present);
  }

  configure(settings: Properties): void {
    this.config = configOf(settings);
    logOf(readLogLevel(this.config, this.env));
  }

  check(request: CheckRequest): Promise<{ inputs: Properties; problems: string[] }> {
    return this.guarded(() => this.provider.check(request), request.inputs);
  }

  diff(
    request: DiffRequest,
  ): Promise<{ changes: Map<string, PropertyChange>; deleteBeforeReplace: boolean }> {
    return this.guarded(() => this.provider.diff(request), request.inputs, request.oldOutputs);
  }

  create(request: CreateRequest): Promise<{ id: string; outputs: Properties }> {
    return this.guarded(() => this.provider.create(request), request.inputs);
  }

  read(
    request: ReadRequest,
  ): Promise<{ id: string; outputs: Properties; inputs?: Properties } | undefined> {
    return this.guarded(() => this.provider.read(request), request.inputs ?? {}, request.outputs ?? {});
  }

  update(request: UpdateRequest): Promise<{ outputs: Properties }> {
    return this.guarded(() => this.provider.update(request), request.inputs, request.oldOutputs);
  }

  delete(request: DeleteRequest): Promise<void> {
    return this.guarded(() => this.provider.delete(request), request.oldOutputs);
  }

  /** Looks records up; one is the result itself, several are under the name of their kind. */
  invoke(token: string, args: Properties): Promise<Properties> {
    return this.guarded(async () => {
      const { definition, finds } = functionOf(definitions, token);
      if (finds === "one") return lookUpOne(definition, this.config, args);
      return { [definition.plural]: await lookUpAll(definition, this.config, args) };
    });
  }

  /** Ends everything that waits, and sends the log before the engine closes it. */
  async cancel(): Promise<void> {
    this.interruption.abort(new UptimeError("Pulumi was interrupted."));
    await this.engine.flush();
  }

  /** Runs an operation; what it throws names no key and none of the resource's secrets. */
  private async guarded<T>(run: () => T | Promise<T>, ...properties: Properties[]): Promise<T> {
    try {
      return await run();
    } catch (error) {
      let message = error instanceof Error ? error.message : String(error);
      for (const definition of definitions)
        for (const secret of secretsIn(definition, ...properties)) message = message.replaceAll(secret, "[secret]");
      const failure: Failure = new UptimeError(message);
      if (error instanceof PartialFailure)
        failure.resource = { id: error.id, outputs: error.outputs, inputs: properties[0] ?? {} };
      throw failure;
    }
  }
}
