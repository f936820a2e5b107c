import { AnotherRecord, UptimeError } from "../../api/errors";
import { Redactor } from "../../api/redact";
import type { Definition } from "../../definitions/field";
import { isObject } from "../../definitions/kinds";
import { parseUrn } from "../../definitions/urn";
import { inputsIn, optionsIn, outputsIn } from "../../engine/request";
import type { Connect, Session } from "../../lifecycle/connection";
import { Lifecycle } from "../../lifecycle/lifecycle";
import { names } from "../../lifecycle/paths";
import type { State } from "../../lifecycle/resource";
import type { DriftedResource } from "./report";
import { clearProperties, secretPropertiesOf } from "../shared/state";
import type { StateResource } from "../shared/state";

/** What a comparison of one resource found. */
export interface ComparisonResult {
  readonly drift?: DriftedResource;
  /** Why the resource could not be compared. */
  readonly problem?: string;
  /** Properties that are still encrypted, such as `Monitor.requestHeaders`. */
  readonly encrypted: readonly string[];
}

/** Compares resources of one kind with their records, with the provider's own reading and its own idea of equal. */
export class Comparison {
  private readonly lifecycle: Lifecycle;

  constructor(
    private readonly definition: Definition,
    private readonly session: Session,
    connect: Connect,
  ) {
    this.lifecycle = new Lifecycle(definition, connect);
  }

  async compare(resource: StateResource): Promise<ComparisonResult> {
    const { urn, type, id = "" } = resource;
    const { label, fields } = this.definition;
    const secrets = secretPropertiesOf(resource);
    const declared = clearProperties(resource.inputs);
    const stored = clearProperties(resource.outputs);
    const encrypted = [...new Set([...declared.encrypted, ...stored.encrypted])].map(
      (key) => `${label}.${key}`,
    );
    const isSecret = (key: string): boolean => fields[key]?.secret === true || secrets.has(key);
    const redactor = new Redactor().with(
      [declared.plain, stored.plain].flatMap((properties) =>
        Object.keys(properties)
          .filter(isSecret)
          .flatMap((key) => stringsIn(properties[key])),
      ),
    );
    const drifted = { urn, type, name: parseUrn(urn).name, id, properties: [] };

    let state: State | undefined;
    try {
      state = await this.lifecycle.read(id, outputsIn(this.definition, stored.plain), {});
    } catch (error) {
      if (!(error instanceof UptimeError)) throw error;
      const message = redactor.text(this.session.withoutKeys(error.message));
      if (!(error instanceof AnotherRecord)) return { problem: message, encrypted };
      // Its message quotes the values that tell the records apart.
      const isQuoted = Object.keys(fields).some((key) => fields[key]?.replace === true && isSecret(key));
      return {
        drift: {
          ...drifted,
          kind: "another record",
          message: isQuoted ? "is another record than in state" : message,
        },
        encrypted,
      };
    }
    if (!state)
      return { drift: { ...drifted, kind: "gone", message: "is not in the API any more" }, encrypted };

    const actual = state.outputs.values;
    const checked = inputsIn(declared.plain);
    // The inputs of an import by command leave defaults out, though they are managed.
    const defaults = Object.entries(fields).flatMap(([key, field]) =>
      field.default === undefined || actual[key] === undefined ? [] : [[key, field.default] as const],
    );
    const inputs = { ...checked, values: { ...Object.fromEntries(defaults), ...checked.values } };
    const ignoreChanges = resource.ignoreChanges ?? optionsIn(declared.plain).ignoreChanges;
    const properties = this.lifecycle
      .differences(state.outputs, inputs)
      .filter((property) => !names(ignoreChanges, property))
      .map((property) =>
        isSecret(property)
          ? { property, secret: true }
          : {
              property,
              declared: inputs.values[property] ?? null,
              actual: actual[property] ?? null,
              secret: false,
            },
      );
    return {
      ...(properties.length > 0 && { drift: { ...drifted, kind: "changed" as const, properties } }),
      encrypted,
    };
  }
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.values(value).flatMap(stringsIn) : [];
}
