// What a command printed, as a picture of a terminal: `npm run demo -- --picture` draws the preview with drift.
import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";

const [fontSize, lineHeight, margin] = [13, 19, 20];
/** The width of a character in the fonts that are named below, or a little more. */
const advance = 0.605 * fontSize;

/** What was printed, without what is different in each run: colours, and the times at which records were made. */
export function stable(printed) {
  return stripVTControlCharacters(printed)
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replace(/[^\S\n]+$/gm, "")
    .trimEnd();
}

/** The picture of a text, and of the engine's version that has printed it. */
export function svgOf(text, engine) {
  const lines = text.split("\n");
  const width = Math.ceil(2 * margin + advance * Math.max(...lines.map((line) => line.length)));
  const height = 2 * margin + lineHeight * lines.length;
  const drawn = lines.map((line, index) => {
    const y = margin + lineHeight * index + fontSize;
    return `<text x="${margin}" y="${y}"${classOf(line)}>${escaped(line)}</text>`;
  });
  // Dark whatever the page is like, as most terminals are; the edge is for dark pages.
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(lines[0] ?? "")}</title>
<desc id="description">Printed by Pulumi ${escaped(engine)}, drawn by npm run demo -- --picture.</desc>
<style>
  text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre }
  .command { fill: #ffffff; font-weight: bold }
  .added { fill: #56d364 } .changed { fill: #e3b341 } .removed { fill: #ff7b72 }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="#161b22" stroke="#484f58"/>
<g xml:space="preserve">
${drawn.join("\n")}
</g>
</svg>
`;
}

/** The text that a picture shows. */
export function textIn(svg) {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line]) => unescaped(line)).join("\n");
}

/** The engine's version that has printed it. */
export function engineIn(svg) {
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
