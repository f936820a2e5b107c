// Which packages the bundles contain, and what is published about them: their licenses, and a list for scanners.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readJson, root } from "./shared.mjs";

/**
 * @typedef {{ name: string, version: string, license: string, texts: string[] }} Bundled
 */

/**
 * The packages of which there is anything in the bundles, by name.
 * @param {import("esbuild").Metafile[]} metafiles
 * @param {string} from the folder that their paths begin in
 * @returns {Bundled[]}
 */
export function packagesIn(metafiles, from = root) {
  const folders = new Set();
  for (const { outputs } of metafiles)
    for (const { inputs } of Object.values(outputs))
      for (const [path, { bytesInOutput }] of Object.entries(inputs))
        if (bytesInOutput > 0 && path.includes("node_modules/")) folders.add(folderOf(resolve(from, path)));
  const packages = [...folders].map(readPackage);
  return packages.sort((one, other) => keyOf(one).localeCompare(keyOf(other), "en"));
}

const keyOf = ({ name, version }) => `${name} ${version}`;

/** The folder of the package that a file belongs to. Folders inside it may have a package.json too, without a name. */
function folderOf(file) {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && readJson(manifest).version) return folder;
  }
}

function readPackage(folder) {
  const { name, version, license } = readJson(join(folder, "package.json"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (files.length === 0)
    throw new Error(`${name} has no file with its license, and whoever gets a copy of it must get one.`);
  return { name, version, license, texts: files.sort().map((file) => readText(join(folder, file))) };
}

const readText = (file) => readFileSync(file, "utf8").replaceAll("\r\n", "\n").trim();

/** The packages and their licenses. Those with the same text share it. */
export function noticesOf(packages) {
  const byText = new Map();
  for (const one of packages) {
    const text = one.texts.join("\n\n");
    byText.set(text, [...(byText.get(text) ?? []), `${keyOf(one)} (${one.license})`]);
  }
  const line = "-".repeat(80);
  return [
    "provider.cjs in this folder, and dist/provider/provider.js of the npm package, contain parts of these packages.",
    ...[...byText].map(([text, names]) => [line, ...names, line, "", text].join("\n")),
    "",
  ].join("\n\n");
}

/** The same packages as a list for scanners, in the format CycloneDX. Its serial number follows from what it lists. */
export function sbomOf(packages, { name, version, license }) {
  const componentOf = (type, one) => {
    const purl = `pkg:npm/${one.name.replace("@", "%40")}@${one.version}`;
    return {
      ...{ type, "bom-ref": purl, name: one.name, version: one.version },
      ...{ licenses: [{ expression: one.license }], purl },
    };
  };
  const metadata = { component: componentOf("application", { name, version, license }) };
  const components = packages.map((one) => componentOf("library", one));
  const hash = createHash("sha256")
    .update(JSON.stringify([metadata, components]))
    .digest("hex");
  // Version 8 of UUIDs is made of anything.
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, "$1-$2-8$3-8$4-$5");
  return {
    ...{ bomFormat: "CycloneDX", specVersion: "1.5", serialNumber: `urn:uuid:${uuid}`, version: 1 },
    ...{ metadata, components },
  };
}
