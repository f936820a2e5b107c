import { message } from "../api/errors";
import type { Message } from "../api/errors";
import type { Definition } from "../definitions/field";
import { isEmpty } from "../definitions/kinds";
import { secretOf } from "../definitions/marks";
import type { ImportProblem } from "../lifecycle/import";
import type { Outputs } from "../lifecycle/resource";
import { cleanAttributes, secretsIn, told, toldMessage } from "./clean";
import { encodeOutputs } from "./request";
import type { Properties } from "./request";

/** What both fronts hand to the engine of one kind of resource: secrets are marked, and nothing repeats one. */
export class Handover {
  constructor(
    readonly definition: Definition,
    /** The API keys in use. */
    private readonly keys: ReadonlySet<string>,
  ) {}

  /** Properties as the engine encrypts them, which it else does only where the program, or state, has marked them. */
  marked(properties: Properties): Properties {
    const isSecret = (key: string, value: unknown): boolean =>
      this.definition.fields[key]?.secret === true && !isEmpty(value);
    return Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isSecret(key, value) ? secretOf(value) : value]),
    );
  }

  /** Outputs, not marked yet; `from` are the inputs or outputs that they follow. */
  encodeOutputs(outputs: Outputs, from: Properties = {}): Properties {
    const secrets = this.secretsOf(from, outputs.values);
    const attributes = cleanAttributes(this.definition, outputs.attributes, secrets);
    return encodeOutputs({ ...outputs, attributes }, from);
  }

  /** The text of an error about a resource with some properties. */
  told(error: unknown, ...properties: readonly Properties[]): string {
    return told(error, this.secretsOf(...properties));
  }

  /** The text of a message. */
  toldMessage(text: Message, ...properties: readonly Properties[]): string {
    return toldMessage(text, this.secretsOf(...properties));
  }

  /** What is wrong with inputs, each with its property in the text. */
  toldProblems(problems: readonly ImportProblem[], inputs: Properties): string[] {
    return problems.map(({ property, reason }) => this.toldMessage(message`${property} ${reason}`, inputs));
  }

  private secretsOf(...properties: readonly Properties[]): string[] {
    return [...this.keys, ...secretsIn(this.definition, ...properties)];
  }
}
