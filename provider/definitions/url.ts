/**
 * The URL in a text, or undefined. Not by `URL.canParse`: once Node.js 20 has compiled it, after some thousand calls, it
 * refuses letters such as ü.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** @param hostname as `URL.hostname` has it */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
