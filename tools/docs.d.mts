import type { Definition } from "../provider/definitions/field";

export function pageOf(definition: Definition, from?: { source?: string }): string;
export function sentencesOf(source: string): Map<string, string>;
