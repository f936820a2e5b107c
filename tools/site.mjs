// `npm run docs:site` builds the site into dist/site; with `--check` it also reads every page in a headless Chromium.
/* global document, getComputedStyle -- inside `evaluate`, in the page */
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { which } from "./engine/command.mjs";
import { runAsCommand } from "./main.mjs";

const root = join(fileURLToPath(import.meta.url), "..", "..");
const phone = { width: 400, height: 800 };

/** Builds the site into a folder, or, without one, only looks for what would be wrong in it. */
export function buildSite(out) {
  const typedoc = join(root, "node_modules", "typedoc", "bin", "typedoc");
  const where = out === undefined ? ["--emit", "none"] : ["--out", out];
  const { status, stdout, stderr } = spawnSync(process.execPath, [typedoc, ...where], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`The site could not be built:\n${stdout}${stderr}`);
}

/** What is wrong with a built site, as sentences. The browser reaches this machine only. */
export async function problemsIn(folder) {
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".html"))
    .map((name) => name.replaceAll(sep, "/"));
  if (!pages.includes("index.html")) return [`${folder} has no index.html.`];
  const server = await serve(folder);
  const profile = mkdtempSync(join(tmpdir(), "pulumi-uptime-site-"));
  const { port } = server.address();
  const origin = `http://127.0.0.1:${port}`;
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: chromiumPath(),
      args: ["--disable-gpu", "--disable-quic", "--no-first-run"],
      chromiumSandbox: process.getuid?.() !== 0,
      viewport: phone,
    });
    try {
      const problems = [];
      const note = (page, text) => problems.push(`${page}: ${text}`);
      // Nothing that a reader opens may be fetched from elsewhere.
      await context.route(
        (url) => url.origin !== origin,
        (route) => {
          note("site", `asks for ${route.request().url()}.`);
          return route.abort();
        },
      );
      const tab = await context.newPage();
      let present = "";
      tab.on("pageerror", (error) => note(present, `a script fails: ${error.message}`));
      const found = new Map();
      for (const page of pages) {
        present = page;
        found.set(page, await lookAt(tab, `${origin}/${page}`, (text) => note(page, text)));
      }
      problems.push(...brokenLinks(found, origin, folder));
      present = "search";
      await search(tab, origin, (text) => note("search", text));
      return problems;
    } finally {
      await context.close();
    }
  } finally {
    server.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Opens a page on a phone, in light and dark, and returns its links and anchors. */
async function lookAt(tab, url, note) {
  await tab.emulateMedia({ colorScheme: "light" });
  await tab.goto(url);
  await tab.waitForFunction(() => document.body.style.display !== "none");
  const { over, links, ids, broken } = await tab.evaluate(() => ({
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    links: [...document.querySelectorAll("a[href]")].map(({ href }) => href),
    ids: [...document.querySelectorAll("[id]")].map(({ id }) => id),
    broken: [...document.images].flatMap(({ complete, naturalWidth, src }) =>
      complete && naturalWidth > 0 ? [] : [src],
    ),
  }));
  if (over > 0) note(`is ${over} pixels wider than a phone.`);
  for (const src of broken) note(`does not show the picture ${src}.`);
  const light = await brightness(tab);
  await tab.emulateMedia({ colorScheme: "dark" });
  const dark = await brightness(tab);
  if (!(light > 128 && dark < 128)) note("is not light in light mode and dark in dark mode.");
  return { links, ids: new Set(ids) };
}

/** The brightness of a page's background, from 0 to 255. */
function brightness(tab) {
  return tab.evaluate(() => {
    const [red, green, blue] = getComputedStyle(document.body)
      .backgroundColor.match(/[\d.]+/g)
      .map(Number);
    return (red + green + blue) / 3;
  });
}

/** Links within the site that lead to no file, or to no place in a page. */
function brokenLinks(found, origin, folder) {
  return [...found].flatMap(([page, { links }]) =>
    [...new Set(links)].flatMap((link) => {
      const url = new URL(link);
      if (url.origin !== origin) return [];
      const path = decodeURIComponent(url.pathname)
        .replace(/^\//, "")
        .replace(/(^|\/)$/, "$1index.html");
      const id = decodeURIComponent(url.hash.slice(1));
      const target = found.get(path);
      const isThere = target
        ? id === "" || target.ids.has(id)
        : readdirSync(folder, { recursive: true, encoding: "utf8" }).includes(normalize(path));
      return isThere ? [] : [`${page}: the link ${path}${url.hash} leads nowhere.`];
    }),
  );
}

async function search(tab, origin, note) {
  await tab.goto(`${origin}/index.html`);
  await tab.click("#tsd-search-trigger");
  await tab.fill("#tsd-search-input", "drift");
  const hit = tab.locator("#tsd-search-results a", { hasText: "Drift" }).first();
  try {
    await hit.waitFor({ timeout: 10_000 });
    await hit.click();
    await tab.waitForURL(/\/docs\/drift\.html/, { timeout: 10_000 });
  } catch {
    note("does not find the page on drift.");
  }
}

const types = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
};

async function serve(folder) {
  const server = createServer(({ url }, response) => {
    const path = normalize(decodeURIComponent(new URL(url, "http://site").pathname));
    try {
      const content = readFileSync(join(folder, path));
      response.writeHead(200, { "Content-Type": types[extname(path)] ?? "text/plain" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function chromiumPath() {
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const found = process.env.CHROMIUM ?? names.map((name) => which(name, process.env.PATH)).find(Boolean);
  if (found) return found;
  throw new Error(
    `The check needs a browser: install ${names.slice(0, 2).join(" or ")}, or name one in CHROMIUM.`,
  );
}

async function main(args) {
  const { values } = parseArgs({
    args,
    options: { out: { type: "string", default: join(root, "dist", "site") }, check: { type: "boolean" } },
  });
  buildSite(values.out);
  console.log(`The site is in ${values.out}.`);
  if (!values.check) return;
  const problems = await problemsIn(values.out);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
  else console.log("Every page can be read on a phone, in light and dark, and every link leads somewhere.");
}

runAsCommand(import.meta.url, main);
