import type { Properties } from "../../common/marks";

/** A request of the engine about a resource. Parts that the engine does not send are empty. */
export interface ResourceRequest {
  readonly urn: string;
  readonly id: string;
  readonly oldInputs: Properties;
  readonly oldOutputs: Properties;
  readonly inputs: Properties;
  readonly ignoreChanges: readonly string[];
  /** The option customTimeouts for the operation, in milliseconds. */
  readonly timeout: number | undefined;
  readonly isPreview: boolean;
  /**
   * A read for an import: state does not have the resource yet. Since 3.274, Pulumi asks in the same way for a `get` without properties,
   * which no `check` follows.
   */
  readonly isImport: boolean;
}
