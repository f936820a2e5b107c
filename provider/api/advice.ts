// Sentences for errors that say what to do, where several files write them.
import type { Method } from "./transport";

/**
 * A sentence for errors of an operation that may have old settings; none if PULUMI_RUN_PROGRAM makes every command run the program. The
 * command may have the option: a destroy that runs the program asks no check, which would show that.
 */
export function oldSettingsAdvice(mayHaveOldSettings = false): string[] {
  if (!mayHaveOldSettings || /^(1|true)$/i.test(process.env.PULUMI_RUN_PROGRAM ?? "")) return [];
  return [
    "If you have already changed the setting, check that the command has --run-program: " +
      "otherwise a refresh or destroy uses the settings of the last `pulumi up`.",
  ];
}

/** Advice for an answer that does not say whether the record is gone, such as 403: a person must decide. */
export const maybeGoneAdvice =
  "If state has this record and it no longer exists, run `pulumi state delete URN`.";

export function maybeGoneAdviceFor({ method, id }: { method: Method; id?: string | undefined }): string[] {
  return id !== undefined && ["GET", "DELETE"].includes(method) ? [maybeGoneAdvice] : [];
}
