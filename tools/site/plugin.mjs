// A TypeDoc plugin: the site's pages are those that the README lists, with their own titles and file names.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { Application, Converter, KindRouter, PageEvent } from "typedoc";
import { readManifest, root } from "../shared.mjs";
import { addressOf, hasPublicAddress } from "../package.mjs";

/** The lists of pages under "Documentation" in the README: the heading of each, and the files that it links. */
function pageGroups() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, section = ""] = /\n## Documentation\n(.*?)\n## /s.exec(readme) ?? [];
  const groups = [];
  for (const line of section.split("\n")) {
    const title = /^(\w.*):$/.exec(line)?.[1];
    if (title) groups.push({ title, files: [] });
    else groups.at(-1)?.files.push(...[...line.matchAll(/\]\(([^)#]+\.md)\)/g)].map(([, file]) => file));
  }
  return groups;
}

/** The pages of the package on other sites; undefined as long as package.json does not say who has the repository. */
function publicPages() {
  const manifest = readManifest();
  if (!hasPublicAddress(manifest)) return undefined;
  const address = addressOf(manifest);
  return {
    Repository: address,
    Package: `https://www.npmjs.com/package/${manifest.name}`,
    Changelog: `${address}/blob/HEAD/CHANGELOG.md`,
  };
}

/** The titles of the entry points. */
const moduleNames = { index: "API reference", native: "pulumi-uptime/native" };

/** Called by TypeDoc. */
export function load(app) {
  const groups = pageGroups();
  const fileOf = new Map();
  // Before that, TypeDoc reads its options once more.
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    const files = groups.flatMap((group) => group.files);
    app.options.setValue(
      "projectDocuments",
      files.map((file) => join(root, file)),
    );
    app.options.setValue("navigationLinks", publicPages() ?? {});
    app.options.setValue("groupOrder", [...groups.map(({ title }) => title), "*"]);
  });

  // The type of a list's values, `(typeof list)[number]`, is shown as these values.
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    const [declaration] = context.getSymbolFromReflection(reflection)?.declarations ?? [];
    if (declaration?.type?.kind === ts.SyntaxKind.IndexedAccessType)
      reflection.comment?.modifierTags.add("@useDeclaredType");
  });
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const file = document.project.files.getReflectionPath(document) ?? "";
    const relative = file.slice(root.length + 1);
    fileOf.set(document, relative);
    document.name = /^# (.*)$/m.exec(readFileSync(file, "utf8"))?.[1].replaceAll("`", "") ?? document.name;
    document.frontmatter.group = groups.find(({ files }) => files.includes(relative))?.title;
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const module of project.children ?? []) module.name = moduleNames[module.name] ?? module.name;
    // The page has the project's name as its title already.
    const [first] = project.readme ?? [];
    if (first) first.text = first.text.replace(/^# .*\n/, "");
  });
  app.renderer.on(PageEvent.END, (page) => {
    // Pages that Pulumi's registry shows too have commands for it.
    page.contents = page.contents.replace(/<p>\{\{.*?\}\}<\/p>\n/g, "");
    if (publicPages()) return;
    const deadLink = /<a href="https:\/\/(?:github\.com\/OWNER|www\.npmjs\.com)\/[^>]*>(.*?)<\/a>/gs;
    page.contents = page.contents.replace(deadLink, "$1");
  });
  app.renderer.defineRouter(
    "pages",
    class extends KindRouter {
      getIdealBaseName(reflection) {
        const file = fileOf.get(reflection);
        if (file === undefined) return super.getIdealBaseName(reflection).replace("API_reference.", "");
        const name = basename(file, ".md").toLowerCase();
        return name === "readme" ? dirname(file) : `docs/${name}`;
      }
    },
  );
}
