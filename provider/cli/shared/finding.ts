import * as z from "zod/mini";

const finding = z.object({
  /** A fixed word for programs: `api-key`, for example. */
  code: z.string(),
  level: z.enum(["ok", "warning", "failed"]),
  text: z.string(),
});

/** The output of `doctor --json`. */
export const findingReport = z.looseObject({ findings: z.array(finding) });

export type Finding = z.infer<typeof finding>;

export const ok = (code: string, text: string): Finding => ({ code, level: "ok", text });
export const warning = (code: string, text: string): Finding => ({ code, level: "warning", text });
export const failed = (code: string, text: string): Finding => ({ code, level: "failed", text });
