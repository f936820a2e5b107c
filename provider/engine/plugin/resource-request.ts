import type { Connect } from "../../lifecycle/account";
import type { Session } from "../../lifecycle/session";
import type { Encoder, Properties } from "../request";

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

/** What an error carries if a record exists and what followed failed. */
export interface KeptResource {
  readonly id: string;
  readonly outputs: Properties;
}

/** What a run of the plugin gives to its resources. */
export interface Host {
  readonly encoder: Encoder;
  readonly connect: Connect;
  /** Shows a person something about a resource. */
  readonly note: (severity: "info" | "warning", urn: string, message: string) => void;
  readonly session: Pick<Session, "announce" | "hasProgram" | "interruption" | "noteRefusal">;
}
