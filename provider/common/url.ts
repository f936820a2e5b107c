/**
 * Parses a URL; undefined if it is not one. `URL.canParse` is not used because in Node.js 20, after some thousand calls, it
 * refuses letters such as ü.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** @param hostname in the form of `URL.hostname` */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
