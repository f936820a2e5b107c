import type { Definition } from "../../provider/definitions/field";

export function withTables(present: string, definitions: readonly Definition[]): string;
export function sentencesOf(source: string): Map<string, string>;
export function tableOf(definition: Definition, sentences: ReadonlyMap<string, string>): string;
