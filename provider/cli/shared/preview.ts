import { stripVTControlCharacters } from "node:util";

import * as z from "zod/mini";

import { parseUrn } from "../../common/urn";
import { resourceState } from "./state";

const stepState = z.extend(resourceState, {
  /** In an old state another one than the step's, if the program renames the resource with an alias or moves it to the plugin. */
  urn: z.optional(z.string()),
});

/** The parts of what `pulumi preview --json --show-replacement-steps` prints that are used here. */
export const previewReport = z.looseObject({
  steps: z.pipe(
    z.nullish(
      z.array(
        z.looseObject({
          op: z.string(),
          urn: z.string(),
          oldState: z.optional(stepState),
          newState: z.optional(stepState),
          /** By property path. Pulumi prints it for resources of plugins only. */
          detailedDiff: z.nullish(z.record(z.string(), z.unknown())),
          /** The properties that change. Pulumi prints them for resources of plugins, and for providers. */
          diffReasons: z.nullish(z.array(z.string())),
          /** See `PlannedChange`. Not of Pulumi: the command `comment` adds it. */
          valuesHash: z.optional(z.string()),
        }),
      ),
    ),
    z.transform((steps) => steps ?? []),
  ),
  /** How many resources there are for each operation. */
  changeSummary: z.nullish(z.record(z.string(), z.number())),
  diagnostics: z.nullish(
    z.array(
      z.looseObject({ urn: z.optional(z.string()), message: z.string(), severity: z.optional(z.string()) }),
    ),
  ),
});

export type Preview = z.infer<typeof previewReport>;
export type PreviewStep = Preview["steps"][number];

/** The steps of what the program declares, by URN. */
export type DeclaredSteps = ReturnType<typeof declaredSteps>;

export function declaredSteps({ steps }: Preview) {
  const declared = steps.flatMap(({ newState, ...step }) => (newState ? [{ ...step, newState }] : []));
  return new Map(declared.map((step) => [step.urn, step]));
}

/** What `pulumi preview --json` prints in place of a secret. */
export const secretText = "[secret]";

/** The stack of a preview, as `PROJECT/STACK`. */
export function stackNameIn({ steps }: Preview): string | undefined {
  const [first] = steps;
  if (!first) return undefined;
  const { project, stack } = parseUrn(first.urn);
  return `${project}/${stack}`;
}

/** A preview's errors, without Pulumi's own sentence that it has failed. */
export function errorsIn(preview: Preview): string[] {
  const diagnostics = preview.diagnostics ?? [];
  const errors = diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ urn, message }) => {
      const text = stripVTControlCharacters(message)
        .replace(/^error: ([Pp]review failed: )?/, "")
        .trim();
      const { name } = parseUrn(urn ?? "");
      return name === "" || text.includes(name) ? text : `${name}: ${text}`;
    });
  const isYaml = diagnostics.some(({ message }) => message.startsWith(yamlError));
  // Of a program in Python, the error says only that it has ended.
  const saysNothing = errors.every((text) => text.includes("program exited with non-zero exit code"));
  if (errors.length === 0 ? isYaml : saysNothing) return [...errors, ...printedIn(preview)];
  const reasons = errors.filter((text) => text !== "preview failed");
  return reasons.length === 0 && errors.length > 0 ? [unexplained] : reasons;
}

/** Neither its JSON nor its log has more. */
const unexplained =
  "Pulumi does not say why. With --json it leaves out what violates a policy: run `pulumi preview` without it.";

/** What Pulumi's YAML host prints before an error of a program, in red, instead of reporting it. */
const yamlError = "\u001b[31mError\u001b[0m: ";

/** What the program has printed as errors, as one text if there is any. */
export function printedIn({ diagnostics }: Preview): string[] {
  const printed = (diagnostics ?? []).filter(({ severity }) => severity === "info#err");
  const text = stripVTControlCharacters(printed.map(({ message }) => message).join("")).trim();
  return text === "" ? [] : [text.replace(/\n{2,}/g, "\n")];
}
