// `node tools/audit.mjs`: known vulnerabilities of what users get: packages that are installed with this one, and those that its
// bundles contain, which are development packages here. Needs `npm run build`.
import { spawnSync } from "node:child_process";
import { readJson, root, runAsCommand } from "./shared.mjs";

/**
 * What a report of `npm audit --json` has of those packages, as sentences.
 * @param {{ vulnerabilities: Record<string, { severity: string, nodes: string[], via: (string | { title: string, url: string })[] }> }} report
 * @param {{ lock: { packages: Record<string, { dev?: boolean }> }, bundled: string[] }} present
 */
export function vulnerabilitiesOf({ vulnerabilities }, { lock, bundled }) {
  const isGiven = (path) => {
    const { dev } = lock.packages[path] ?? {};
    return !dev || bundled.some((name) => path.endsWith(`node_modules/${name}`));
  };
  return Object.entries(vulnerabilities).flatMap(([name, { severity, nodes, via }]) => {
    if (!nodes.some(isGiven)) return [];
    // A name is another package of the report, by which this one is affected.
    const reasons = via.map((reason) =>
      typeof reason === "string" ? `by ${reason}` : `${reason.title}, ${reason.url}`,
    );
    return [`${name} (${severity}): ${reasons.join("; ")}`];
  });
}

runAsCommand(import.meta.url, () => {
  // Ends with 1 if it has found something.
  const { stdout, stderr } = spawnSync("npm", ["audit", "--json"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const report = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  if (!report.vulnerabilities) throw new Error(`npm audit has failed:\n${stdout}${stderr}`);
  const bundled = readJson("plugin/sbom.cdx.json").components.map(({ name }) => name);
  const found = vulnerabilitiesOf(report, { lock: readJson("package-lock.json"), bundled });
  if (found.length > 0) throw new Error(found.join("\n"));
  console.log("No vulnerability is known of what is installed with this package or bundled in it.");
});
