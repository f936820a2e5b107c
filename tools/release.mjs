// `npm run release:check -- v0.1.0`: whether this commit, which is built, can be released with that tag; by default, the tag of its
// version.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJson, readManifest, root, runAsCommand } from "./shared.mjs";
import { breaksSinceLastRelease, isRecorded, mayBreak } from "./compatibility.mjs";
import { hasPublicAddress } from "./package.mjs";
import { nodeVersions } from "./docs.mjs";
import { problemsOfRegistry, registryPages } from "./registry.mjs";

/**
 * @typedef {object} Release
 * @property {string} tag
 * @property {{ version: string, repository?: { url: string }, private?: boolean }} manifest
 * @property {{ version: string, packages: Record<string, { version?: string }> }} lock
 * @property {string} changelog
 * @property {boolean} hasCorpus
 * @property {{ last: string, breaks: string[] }} [sinceLast] what breaks programs of the last release
 * @property {() => string[]} registry what Pulumi's registry would refuse
 * @property {{ version: string, until: string }[]} nodes the versions of Node.js that are supported, until when
 * @property {string} today
 */

/**
 * What stands in the way of the release, as sentences; empty if nothing does.
 * @param {Release} release
 */
export function problemsOf({ tag, manifest, lock, changelog, hasCorpus, sinceLast, registry, nodes, today }) {
  const { version } = manifest;
  const problems = [];
  if (tag !== `v${version}`)
    problems.push(`The tag is ${tag}, and package.json says ${version}: the tag must be v${version}.`);
  if (lock.version !== version || lock.packages[""].version !== version)
    problems.push(`package-lock.json is not of version ${version}. Run \`npm install --package-lock-only\`.`);
  problems.push(...problemsOfChangelog(changelog, version));
  if (!hasCorpus)
    problems.push(
      `test/corpus holds no state of ${version}, or not its present schema and types. Run \`npm run release:record\`.`,
    );
  if (sinceLast && !mayBreak(sinceLast.last, version))
    for (const change of sinceLast.breaks)
      problems.push(`${version} may not break programs of ${sinceLast.last}: ${change}`);
  // npm refuses a provenance statement of a repository that the package does not name.
  if (!manifest.repository?.url)
    problems.push("package.json names no repository, which npm compares with the one that publishes.");
  else if (!hasPublicAddress(manifest))
    problems.push(
      `package.json has no public address yet: replace OWNER in the line "repository" (${manifest.repository.url}). ` +
        "Homepage, bugs, the links of the registry's page, and from where Pulumi downloads the plugin follow from it.",
    );
  else problems.push(...registry());
  if (manifest.private) problems.push("package.json is marked as private.");
  for (const { version: node, until } of nodes)
    if (until < today)
      problems.push(
        `Node.js ${node} was supported until ${until}: drop it in .github/node-versions.json and package.json, or give it a later date.`,
      );
  return problems;
}

function problemsOfChangelog(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const unreleased = sections.find((section) => section.startsWith("[Unreleased]"));
  const [newest = ""] = sections.filter((section) => section !== unreleased);
  const [heading] = newest.split("\n");
  const problems = [];
  if (unreleased?.split("\n").slice(1).join("").trim())
    problems.push(`CHANGELOG.md still has entries under Unreleased: move them under ${version}.`);
  if (!heading.startsWith(`[${version}]`))
    problems.push(`The newest release in CHANGELOG.md is ${heading || "missing"}, not [${version}].`);
  else if (!/\] - \d{4}-\d{2}-\d{2}$/.test(heading))
    problems.push(`CHANGELOG.md does not give ${version} a date: ## [${version}] - YYYY-MM-DD.`);
  if (heading.startsWith(`[${version}]`) && !/^- /m.test(newest))
    problems.push(`CHANGELOG.md lists no changes for ${version}.`);
  return problems;
}

function main([tag]) {
  const read = (name) => readFileSync(join(root, name), "utf8");
  const manifest = readManifest();
  const { version } = manifest;
  const sinceLast = breaksSinceLastRelease(version);
  const problems = problemsOf({
    tag: tag ?? `v${version}`,
    manifest,
    lock: readJson("package-lock.json"),
    changelog: read("CHANGELOG.md"),
    hasCorpus: existsSync(join(root, "test", "corpus", version, "dynamic.json")) && isRecorded(version),
    sinceLast,
    nodes: nodeVersions(),
    today: new Date().toISOString().slice(0, 10),
    registry: () =>
      problemsOfRegistry({
        manifest,
        schema: readJson("provider/engine/plugin/schema.json"),
        overview: read(registryPages.overview),
        installation: read(registryPages.installation),
      }),
  });
  for (const change of sinceLast?.breaks ?? []) console.log(`Since ${sinceLast.last}: ${change}`);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`${version} can be released.`);
}

runAsCommand(import.meta.url, main);
