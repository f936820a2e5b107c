import { AnotherRecord } from "../api/errors";
import type { Settings } from "../api/settings";
import type { Definition } from "../definitions/field";
import { connect } from "../lifecycle/connection";
import type { Connection } from "../lifecycle/connection";
import { Lifecycle } from "../lifecycle/lifecycle";
import type { DriftedResource } from "./drift-report";
import { nameIn } from "./resource-types";
import { decrypted, secretPropertiesOf } from "./state";
import type { StateResource } from "./state";

/** Compares resources of one kind with their records, with the provider's own reading and its own idea of equal. */
export class Comparison {
  private readonly lifecycle: Lifecycle;

  constructor(
    private readonly definition: Definition,
    settingsOf: (account?: string) => Settings,
  ) {
    const connections = new Map<string | undefined, Connection>();
    this.lifecycle = new Lifecycle(definition, (account) => {
      const connection = connections.get(account) ?? connect(definition, settingsOf(account));
      connections.set(account, connection);
      return connection;
    });
  }

  /** How a resource differs from its record, and which of its properties are still encrypted. */
  async compare(resource: StateResource): Promise<{ drift?: DriftedResource; encrypted: string[] }> {
    const { urn, type, id = "" } = resource;
    const secrets = secretPropertiesOf(resource);
    const encrypted = new Set<string>();
    const inTheClear = (properties: Readonly<Record<string, unknown>> = {}): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(properties).flatMap(([key, value]) => {
          const plain = decrypted(value);
          if (plain === undefined) encrypted.add(`${this.definition.label}.${key}`);
          return plain === undefined ? [] : [[key, plain] as const];
        }),
      );
    const inputs = inTheClear(resource.inputs);
    const outputs = inTheClear(resource.outputs);
    const drifted = { urn, type, name: nameIn(urn), id, properties: [] };
    const found = (drift?: DriftedResource): { drift?: DriftedResource; encrypted: string[] } => ({
      ...(drift && { drift }),
      encrypted: [...encrypted],
    });

    let actual: Readonly<Record<string, unknown>>;
    try {
      const state = await this.lifecycle.read(id, outputs);
      if (!state) return found({ ...drifted, kind: "gone", message: "is not in the API any more" });
      actual = state.outputs;
    } catch (error) {
      if (!(error instanceof AnotherRecord)) throw error;
      // The message quotes what identifies the record.
      const isSecret = Object.keys(this.definition.fields).some(
        (key) => this.definition.fields[key]?.replace === true && secrets.has(key),
      );
      const message = isSecret
        ? `The ${this.definition.singular} ${id} is another record than in state.`
        : error.message;
      return found({ ...drifted, kind: "another record", message });
    }
    const properties = this.lifecycle.diff(id, actual, inputs).changed.flatMap((property) => {
      const field = this.definition.fields[property];
      if (!field) return [];
      if (field.secret || secrets.has(property)) return [{ property, secret: true }];
      return [
        { property, declared: inputs[property] ?? null, actual: actual[property] ?? null, secret: false },
      ];
    });
    return found(properties.length > 0 ? { ...drifted, kind: "changed", properties } : undefined);
  }
}
