import { z } from "zod";

const finding = z.object({
  /** What was checked, as a fixed word for programs: `api-key`, for example. */
  code: z.string(),
  level: z.enum(["ok", "warning", "failed"]),
  text: z.string(),
});

/** What `doctor --json` prints. */
export const findingReport = z.looseObject({ findings: z.array(finding) });

/** The result of one check. */
export type Finding = z.infer<typeof finding>;
