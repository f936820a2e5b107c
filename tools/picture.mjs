// What a command printed, as a picture of a terminal: `npm run demo -- --picture` draws the preview with drift.
import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";

const [fontSize, lineHeight, margin] = [13, 19, 16];
/** The width of a character in the fonts that are named below, or a little more. */
const advance = 0.605 * fontSize;
/** The terminal's width: a line of this length can still be read on a phone that is 400 pixels wide. */
const columns = 56;

/** What was printed, without colours and times, which are different in each run. */
export function stable(printed) {
  return stripVTControlCharacters(printed)
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replace(/[^\S\n]+$/gm, "")
    .trimEnd();
}

/** The picture of a text, and of the engine's version that has printed it. */
export function svgOf(text, engine) {
  // A terminal of this width would break the same lines at the same places.
  const rows = text.split("\n").flatMap((line) => {
    const parts = line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""];
    return parts.map((part, index) => ({ part, line, continues: index > 0 }));
  });
  const width = Math.ceil(2 * margin + advance * columns);
  const height = 2 * margin + lineHeight * rows.length;
  const drawn = rows.map(({ part, line, continues }, index) => {
    const y = margin + lineHeight * index + fontSize;
    const mark = continues ? ' data-continues=""' : "";
    return `<text x="${margin}" y="${y}"${classOf(line)}${mark}>${escaped(part)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(rows[0]?.line ?? "")}</title>
<desc id="description">Printed by Pulumi ${escaped(engine)}, drawn by npm run demo -- --picture.</desc>
<style>
  text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
  rect { fill: #f6f8fa; stroke: #d1d9e0 }
  .command { font-weight: bold }
  .added { fill: #116329 } .changed { fill: #8a4600 } .removed { fill: #a40e26 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    rect { fill: #161b22; stroke: #484f58 }
    .added { fill: #56d364 } .changed { fill: #e3b341 } .removed { fill: #ff7b72 }
  }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<g xml:space="preserve">
${drawn.join("\n")}
</g>
</svg>
`;
}

/** The text that a picture shows. */
function textIn(svg) {
  return [...svg.matchAll(/<text ([^>]*)>(.*)<\/text>/g)]
    .map(([, attributes, part]) => (attributes.includes("data-continues") ? "" : "\n") + unescaped(part))
    .join("")
    .slice(1);
}

/** The engine's version that has printed it. */
function engineIn(svg) {
  return /Printed by Pulumi (\S+),/.exec(svg)?.[1];
}

/**
 * Whether a picture shows what an engine has printed. Another version may say the same in other words, so of its text only
 * the lines with a sign are compared.
 */
export function shows(svg, text, engine) {
  if (engine === engineIn(svg)) return textIn(svg) === text;
  return isDeepStrictEqual(signed(textIn(svg)), signed(text));
}

const signed = (text) => text.match(/^ *[~+-] .*$/gm)?.map((line) => line.replace(/\s+/g, " "));

function classOf(line) {
  if (line.startsWith("$ ")) return ' class="command"';
  const classes = { "+": "added", "~": "changed", "-": "removed" };
  const [, sign] = /^ *([~+-])[ +-]/.exec(line) ?? [];
  return sign && !line.includes("--outputs:--") ? ` class="${classes[sign]}"` : "";
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escaped = (text) => text.replace(/[&<>]/g, (character) => entities[character]);

const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
