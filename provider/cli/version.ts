import { basename, dirname } from "node:path";

import { ownPackage, packageAbove } from "../engine/package";

/** The version of this package. */
export function version(): string {
  return ownPackage().version;
}

/** The folder of this package. */
export function packageFolder(): string {
  return ownPackage().folder;
}

/** The dependency that gives a project this package: its version, or the checkout that it runs from. */
export function dependency(from = __dirname): string {
  const { folder, version } = packageAbove(from);
  return basename(dirname(folder)) === "node_modules" ? `^${version}` : `file:${folder}`;
}
