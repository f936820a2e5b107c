// What Pulumi's registry publishes and checks of a package: two pages of docs/, which stand alone there, and the plugin's schema.
// The rules are those of scripts/ci/community-package in github.com/pulumi/registry, and of its list for reviewers.
import { addressOf, ownerOf } from "./package.mjs";
import { between } from "./shared.mjs";

/** The pages by what they are. */
export const registryPages = {
  overview: "docs/_index.md",
  installation: "docs/installation-configuration.md",
};

/** The examples of a resource or function in the schema, by language. */
function examplesOf({ description }) {
  const blocks = [...description.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return new Map(blocks.filter(([, language]) => language !== "sh").map(([, ...example]) => example));
}

/** From where Pulumi downloads the plugin's archives: a release of the repository. */
export function downloadUrlOf(manifest) {
  const { hostname, pathname } = new URL(addressOf(manifest));
  return `github://api.${hostname}${pathname}`;
}

const installCommandOf = (manifest) =>
  `pulumi plugin install resource uptime ${manifest.version} --server ${downloadUrlOf(manifest)}`;

/**
 * A page with the present address and version; the overview with an example in each language.
 * @returns {string}
 */
export function registryPageOf(page, text, { manifest, schema }) {
  const present = text
    .replace(/https:\/\/(?!www\.npmjs\.com)[\w.-]+\/[\w.-]+\/pulumi-uptime(?=[/#])/g, addressOf(manifest))
    .replace(/pulumi plugin install resource uptime \S+ --server \S+/g, installCommandOf(manifest));
  if (page !== registryPages.overview) return present;
  const examples = examplesOf(schema.resources["uptime:index:Monitor"]);
  const choices = [...examples].map(
    ([language, code]) =>
      `{{% choosable language ${language} %}}\n\n\`\`\`${language}\n${code}\`\`\`\n\n{{% /choosable %}}`,
  );
  const languages = [...examples.keys()].join(",");
  const chooser = [`{{< chooser language "${languages}" >}}`, ...choices, "{{< /chooser >}}"];
  return between(page, present, "generated:examples", chooser.join("\n\n"));
}

/** What breaks where the registry shows a page. */
const lint = [
  [/<img[^>]+src=["'](?!https?:)/, "has an image that is not at an absolute address"],
  [/<a[^>]+href=["'](?!https?:)/, "has a link that is not absolute"],
  [/\]\((?!https?:|#)/, "has a link or image that is not absolute, and nothing is beside the page there"],
];

/**
 * What the registry would refuse or warn of, as sentences.
 * @param {{ manifest: object, schema: object, overview: string, installation: string }} release
 */
export function problemsOfRegistry({ manifest, schema, overview, installation }) {
  const problems = [];
  const expect = (holds, problem) => holds || problems.push(problem);
  const texts = { [registryPages.overview]: overview, [registryPages.installation]: installation };
  for (const [page, text] of Object.entries(texts)) {
    expect(
      /^---\n(?:.*\n)*?layout: package\n(?:.*\n)*?---\n/.test(text),
      `${page} is not of the layout package.`,
    );
    text.split("\n").forEach((line, index) => {
      for (const [pattern, problem] of lint)
        expect(!pattern.test(line), `${page}:${index + 1} ${problem}: ${line}`);
    });
  }
  const titled = (page, title) =>
    expect(texts[page].includes(`\ntitle: ${title}\n`), `${page} must have the title "${title}".`);
  titled(registryPages.overview, schema.displayName);
  titled(registryPages.installation, `${schema.displayName} Installation & Configuration`);
  for (const language of examplesOf(schema.resources["uptime:index:Monitor"]).keys())
    expect(
      overview.includes(`\`\`\`${language}\n`),
      `${registryPages.overview} has no example in ${language}.`,
    );
  expect(
    installation.includes(installCommandOf(manifest)),
    `${registryPages.installation} must show the command \`${installCommandOf(manifest)}\`.`,
  );
  expect(
    installation.includes(`https://www.npmjs.com/package/${manifest.name})`),
    `${registryPages.installation} must link the SDK on npm.`,
  );
  expect(schema.publisher === ownerOf(manifest), `The schema's publisher must be ${ownerOf(manifest)}.`);
  expect(
    schema.pluginDownloadURL === downloadUrlOf(manifest),
    `The schema's pluginDownloadURL must be ${downloadUrlOf(manifest)}.`,
  );
  // The workflow publishes one package, on npm; the registry tries to install whatever else is named.
  const { nodejs, python, go } = schema.language;
  expect(
    nodejs.packageName === manifest.name,
    `The schema must name ${manifest.name} as the package on npm.`,
  );
  expect(python === undefined, "The schema names a package in Python, which is not published.");
  expect(go === undefined, "The schema names a module in Go, which is not published.");
  return problems;
}
