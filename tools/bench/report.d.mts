export interface Run {
  n: number;
  latency: number;
  repetition: number;
  kind: "ours" | "native" | "yaml" | "floor" | "conventional";
  command: string;
  seconds: number;
  requests: Record<string, number>;
  date: string;
}

export interface Size {
  n: number;
  latency: number;
  kind: Run["kind"];
  state: number;
  own?: number;
  attributes?: number;
  peak?: number;
}

export interface Results {
  machine: string;
  runs: Run[];
  sizes: Size[];
}

export interface Limit {
  what: string;
  measured: number | undefined;
  holds: boolean | undefined;
}

export function limitsOfAll(all: readonly Results[]): Limit[];
export function attributesBytes(text: string): number;
export function ownBytes(text: string, fields: readonly string[]): number;
export function markdownOf(all: readonly Results[]): string;
export function textOf(all: readonly Results[]): string;
export function svgOf(all: readonly Results[]): string;
export function between(text: string, marker: string, content: string): string;
