export interface Run {
  n: number;
  latency: number;
  repetition: number;
  kind: "ours" | "floor" | "conventional";
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
  peak?: number;
}

export interface Results {
  machine: string;
  runs: Run[];
  sizes: Size[];
}

export const commands: Record<string, string>;
export function limitsOf(results: Results): {
  what: string;
  measured: number | undefined;
  holds: boolean | undefined;
}[];
export function ownBytes(text: string, fields: readonly string[]): number;
export function markdownOf(results: Results): string;
export function merged(before: Results, after: Results): Results;
export function textOf(results: Results): string;
export function svgOf(results: Results): string;
export function between(text: string, marker: string, content: string): string;
