import type { Properties } from "../request";

/** A request of the engine about a resource. What the engine does not tell is empty. */
export interface ResourceRequest {
  readonly urn: string;
  readonly id: string;
  readonly oldInputs: Properties;
  readonly oldOutputs: Properties;
  readonly inputs: Properties;
  readonly ignoreChanges: readonly string[];
  /** The time that a person has set for the operation, in milliseconds. */
  readonly timeout: number | undefined;
  readonly isPreview: boolean;
  /** A read for an import: state does not have the resource yet. */
  readonly isImport: boolean;
}

/** A property that differs, as the engine shows it. */
export interface PropertyChange {
  readonly kind: "add" | "update" | "delete";
  readonly replaces: boolean;
  /** The inputs differ from the old inputs. If false, they differ from the old outputs. */
  readonly isOfInputs: boolean;
}

/** A resource that was read. Without inputs, those in state are right. */
export interface ReadResult {
  readonly id: string;
  readonly outputs: Properties;
  readonly inputs?: Properties;
}
