import type { Definition } from "../provider/definitions/field";

export function pathOf(definition: Definition): string;
export function pageOf(definition: Definition, from?: { source?: string; present?: string }): string;
export function settingsPageOf(declared: object, present: string): string;
export function sentencesOf(source: string): Map<string, string>;
