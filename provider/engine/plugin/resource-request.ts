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
  /** A read for an import: state does not have the resource yet. */
  readonly isImport: boolean;
  /**
   * An import that may be a `get` without properties, because Pulumi asks in the same way for both since 3.274. After that of a `get`
   * there is no `check`, nor after an import that --target leaves out.
   */
  readonly mayBeGet?: boolean;
}
