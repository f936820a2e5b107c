/** A secret value of this name. */
export function canary(name: string): string;

/** Which secrets are in a text: the names, and "key" for the emulator's key. */
export function leaksIn(text: string): string[];

/** Looks through texts that come in pieces, cut anywhere. */
export class LeakWatch {
  readonly leaks: Set<string>;
  add(text: string): void;
}
