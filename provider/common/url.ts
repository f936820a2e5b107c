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

/** Whether a value is a URL with a password, even if it cannot be parsed. */
export function hasPassword(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const url = parseUrl(value);
  if (url?.password) return true;
  if (url) return /\/\/[^/?#:]*:[^/?#]*@/.test(value);
  // A password may have characters for which a URL cannot be parsed.
  const [start, end] = [value.indexOf("://"), value.lastIndexOf("@")];
  return start !== -1 && end > start && value.slice(start + "://".length, end).includes(":");
}

/** A URL without the user name and password in it, or a placeholder if a password is still there; any other value as it is. */
export function withoutLogin(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const shown = value.replace(/^([a-z]+:\/\/)[^/?#]*@/i, "$1");
  return hasPassword(shown) ? "[not shown]" : shown;
}

/**
 * Whether a host is certainly this machine. A name such as `api.localhost` is not: some resolvers ask the network for it.
 *
 * @param hostname in the form of `URL.hostname`
 */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
