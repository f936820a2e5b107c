/** The oldest Node.js that the package runs on, as `engines` in package.json says. */
export const oldestNode = "20.18";

/** An error for a person whose Node.js is too old; undefined if it is not. */
export function problemOfNode(version = process.versions.node): string | undefined {
  if (version.localeCompare(oldestNode, "en", { numeric: true }) >= 0) return undefined;
  return `pulumi-uptime needs Node.js ${oldestNode} or later, and this is ${version}: install a newer one, or put it first on PATH.`;
}
