import type { Properties } from "../request";

/** What the engine tells in a request about a resource. What it does not tell is empty. */
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
  /** Whether a read is that of an import: state has nothing of it yet. */
  readonly isImport: boolean;
}

/** How a property differs, as the engine shows it. */
export interface PropertyChange {
  readonly kind: "add" | "update" | "delete";
  readonly replaces: boolean;
  /** Whether the inputs differ from the old ones. If not, they differ from the old outputs. */
  readonly isOfInputs: boolean;
}

/** A resource that was read. Without inputs, those in state are right. */
export interface ReadResult {
  readonly id: string;
  readonly outputs: Properties;
  readonly inputs?: Properties;
}
