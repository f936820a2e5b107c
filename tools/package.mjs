// `npm run release:pack`: the tarball that is published, and the archives of the plugin from which Pulumi installs it. The tarball
// differs from what `npm pack` makes in what follows from the public address, `repository` in package.json: homepage, bugs, and
// absolute links on the page that the registry shows. All are the same, byte for byte, whenever they are made of the same commit
// with the same version of Node.js; SHA256SUMS says what they are.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, posix } from "node:path";
import { parseArgs } from "node:util";
import { archiveOf } from "./archive.mjs";
import { jsonText, readManifest, root, runAsCommand } from "./shared.mjs";

/** The repository's page on the web, from `repository` in package.json. */
export function addressOf({ repository }) {
  return repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
}

/** Who has the repository. */
export function ownerOf(manifest) {
  return new URL(addressOf(manifest)).pathname.split("/")[1];
}

/** Whether that page is there: in package.json of a clone, its owner is still to be filled in. */
export function hasPublicAddress({ repository }) {
  return repository !== undefined && !repository.url.includes("/OWNER/");
}

/** package.json as it is published. */
export function publishedManifest(manifest) {
  const address = addressOf(manifest);
  const { repository, ...others } = manifest;
  return { ...others, repository, homepage: `${address}#readme`, bugs: { url: `${address}/issues` } };
}

/** A page with absolute links to everything that `isPacked` does not have beside it. */
function withAbsoluteLinks(text, { page, manifest, isPacked }) {
  const [address, tag] = [addressOf(manifest), `v${manifest.version}`];
  return text.replace(/(!?)(\[[^\]]*\])\(([^)\s]+)\)/g, (whole, image, label, target) => {
    if (/^([a-z]+:|#)/i.test(target)) return whole;
    const [path, anchor] = target.split("#");
    const file = posix.join(posix.dirname(page), path);
    if (isPacked(file)) return whole;
    const kind = image ? "raw" : "blob";
    return `${image}${label}(${address}/${kind}/${tag}/${file}${anchor === undefined ? "" : `#${anchor}`})`;
  });
}

/** Packs the repository into a folder; returns the tarball and the files in it. */
export function pack(folder) {
  const work = mkdtempSync(join(tmpdir(), "pulumi-uptime-pack-"));
  try {
    const manifest = readManifest();
    const { files } = npmPack(root, "--dry-run");
    for (const file of files) {
      mkdirSync(dirname(join(work, file)), { recursive: true });
      cpSync(join(root, file), join(work, file));
    }
    for (const page of files.filter((file) => file.endsWith(".md"))) {
      // The registry shows the README alone, so nothing is beside it.
      const isPacked = (file) => page !== "README.md" && files.includes(file);
      const text = readFileSync(join(work, page), "utf8");
      writeFileSync(join(work, page), withAbsoluteLinks(text, { page, manifest, isPacked }));
    }
    writeFileSync(join(work, "package.json"), jsonText(publishedManifest(manifest)));
    mkdirSync(folder, { recursive: true });
    const packed = npmPack(work, "--pack-destination", realpathSync(folder));
    return { tarball: join(folder, basename(packed.filename)), files: packed.files };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Packs the plugin for each platform, under the names by which Pulumi downloads it; returns the archives. */
function packPlugin(folder) {
  const { version } = readManifest();
  return ["linux", "darwin", "windows"].flatMap((system) =>
    ["amd64", "arm64"].map((architecture) => {
      const archive = join(folder, `pulumi-resource-uptime-v${version}-${system}-${architecture}.tar.gz`);
      // Pulumi looks for an .exe on Windows, and then for this.
      const executable = `pulumi-resource-uptime${system === "windows" ? ".cmd" : ""}`;
      const files = [executable, ...filesOfPlugin].map((name) => ({
        name,
        content: readFileSync(join(root, "plugin", name)),
        isExecutable: name === executable,
      }));
      writeFileSync(archive, archiveOf(files));
      return archive;
    }),
  );
}

/** What each platform's archive has beside the executable. */
const filesOfPlugin = ["LICENSE", "THIRD-PARTY-NOTICES.txt", "provider.cjs", "sbom.cdx.json", "schema.json"];

/** Writes the hashes of files into a file beside them, in the form that `sha256sum --check` reads. */
function writeChecksums(folder, files) {
  const lines = files.map((file) => {
    const hash = createHash("sha256").update(readFileSync(file)).digest("hex");
    return `${hash}  ${basename(file)}\n`;
  });
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

function npmPack(cwd, ...args) {
  const output = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--loglevel=error", ...args], {
    cwd,
    encoding: "utf8",
  });
  const [{ filename, files }] = JSON.parse(output);
  return { filename, files: files.map(({ path }) => path) };
}

runAsCommand(import.meta.url, (args) => {
  const { values } = parseArgs({
    args,
    options: { out: { type: "string", default: join(root, "dist", "package") }, json: { type: "boolean" } },
  });
  const packed = { ...pack(values.out), archives: packPlugin(values.out) };
  const sbom = join(values.out, "sbom.cdx.json");
  cpSync(join(root, "plugin", "sbom.cdx.json"), sbom);
  writeChecksums(values.out, [packed.tarball, ...packed.archives, sbom]);
  console.log(values.json ? JSON.stringify(packed) : [packed.tarball, ...packed.archives].join("\n"));
});
