// What commands print, as pictures: a terminal, and a comment on a pull request. `npm run demo -- --picture` draws them.
import { isDeepStrictEqual, stripVTControlCharacters } from "node:util";

const [fontSize, lineHeight, margin] = [13, 19, 16];
/** The width of a character in the fonts that are named below, or a little more. */
const advance = 0.605 * fontSize;
/** The terminal's width. The longest URN of the demo fits. */
const columns = 90;
const width = Math.ceil(2 * margin + advance * columns);

/** What was printed, without colours and times, which are different in each run. */
export function stable(printed) {
  return stripVTControlCharacters(printed)
    .replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"…"')
    .replace(/[^\S\n]+$/gm, "")
    .trimEnd();
}

/** The picture of a command and what the engine of this version has printed. */
export function terminalPicture(text, engine) {
  const lines = text.split("\n");
  const long = lines.find((line) => line.length > columns);
  if (long !== undefined) throw new Error(`A line has more than ${columns} characters: ${long}`);
  const drawn = lines.map((line, index) =>
    textAt(margin, margin + lineHeight * index + fontSize, classOf(line), escaped(line)),
  );
  const description = `Printed by Pulumi ${engine}, drawn by npm run demo -- --picture.`;
  return svgOf(lines[0], description, 2 * margin + lineHeight * lines.length, drawn);
}

/** The picture of a comment that `pulumi-uptime comment` has written, about as GitHub shows it. */
export function commentPicture(markdown) {
  const [, ...paragraphs] = markdown.trim().split("\n\n");
  const drawn = [];
  let y = margin;
  for (const paragraph of paragraphs) {
    const lines = paragraph.split("\n");
    if (lines[0] === "```diff") y = drawCode(drawn, y, lines.slice(1, -1));
    else if (lines[0].startsWith("|")) y = drawTable(drawn, y, lines);
    else y = drawProse(drawn, y, paragraph);
  }
  const description = "Written by pulumi-uptime comment, drawn by npm run demo -- --picture.";
  return svgOf("The comment on a pull request", description, y, drawn);
}

function drawProse(drawn, top, paragraph) {
  const [, mark, prose] = /^(#+ |\*\*)?(.*?)(?:\*\*)?$/.exec(paragraph);
  const [size, name] = mark === "### " ? [20, "title"] : mark === "#### " ? [15, "heading"] : [14, "strong"];
  // Bold letters are somewhat wider than half of their height.
  const room = (width - 2 * margin) / (0.57 * size);
  const lines = [""];
  for (const [word] of prose.matchAll(/(?:`[^`]*`|[^\s`])+/g)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length > room) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  for (const [index, line] of lines.entries())
    drawn.push(textAt(margin, top + size * (1.4 * index + 1), `prose ${name}`, spans(line)));
  return top + Math.ceil(size * 1.4 * lines.length) + 12;
}

function drawCode(drawn, top, lines) {
  const height = lineHeight * lines.length + margin;
  drawn.push(rectAt(margin, top, width - 2 * margin, height, "block"));
  for (const [index, line] of lines.entries())
    drawn.push(textAt(1.5 * margin, top + 8 + lineHeight * index + fontSize, classOf(line), escaped(line)));
  return top + height + margin;
}

function drawTable(drawn, top, lines) {
  const cellsOf = (line) => line.slice(2, -2).split(" | ");
  const [heads, , ...rows] = lines.map(cellsOf);
  const widths = heads.map((head, column) => {
    const longest = Math.max(head.length, ...rows.map((row) => row[column].length));
    return Math.ceil(advance * longest) + 2 * margin;
  });
  const height = lineHeight + 12;
  for (const [index, row] of [heads, ...rows].entries()) {
    let x = margin;
    for (const [column, cell] of row.entries()) {
      const y = top + height * index;
      drawn.push(rectAt(x, y, widths[column], height, "cell"));
      drawn.push(textAt(x + 10, y + 20, index === 0 ? "prose strong" : "prose", spans(cell)));
      x += widths[column];
    }
  }
  return top + height * (rows.length + 1) + margin;
}

function svgOf(title, description, height, drawn) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>
  text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
  rect { fill: #ffffff; stroke: #d1d9e0 }
  .frame { rx: 8px }
  .block { fill: #f6f8fa; stroke: none }
  .prose { font: 14px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif }
  .title { font-size: 20px } .heading { font-size: 15px }
  .title, .heading, .strong, .command { font-weight: 600 }
  .code { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .added { fill: #116329 } .changed { fill: #8a4600 } .removed { fill: #a40e26 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    rect { fill: #0d1117; stroke: #484f58 }
    .block { fill: #161b22 }
    .added { fill: #56d364 } .changed { fill: #e3b341 } .removed { fill: #ff7b72 }
  }
</style>
${rectAt(0.5, 0.5, width - 1, height - 1, "frame")}
<g xml:space="preserve">
${drawn.join("\n")}
</g>
</svg>
`;
}

const textAt = (x, y, name, content) => `<text x="${x}" y="${y}"${classed(name)}>${content}</text>`;

const rectAt = (x, y, wide, high, name) =>
  `<rect x="${x}" y="${y}" width="${wide}" height="${high}"${classed(name)}/>`;

const classed = (name) => (name === "" ? "" : ` class="${name}"`);

/** A line of Markdown whose code spans have a font of their own. */
const spans = (line) => escaped(line).replace(/`([^`]*)`/g, '<tspan class="code">$1</tspan>');

/** The text that a terminal's picture shows. */
function textIn(svg) {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line]) => unescaped(line)).join("\n");
}

/** The engine's version that has printed it. */
function engineIn(svg) {
  return /Printed by Pulumi (\S+),/.exec(svg)?.[1];
}

/**
 * Whether a terminal's picture shows what an engine has printed. Another version may say the same in other words, so of its
 * text only the lines with a sign are compared.
 */
export function shows(svg, text, engine) {
  if (engine === engineIn(svg)) return textIn(svg) === text;
  return isDeepStrictEqual(signed(textIn(svg)), signed(text));
}

const signed = (text) => text.match(/^ *[~+-] .*$/gm)?.map((line) => line.replace(/\s+/g, " "));

function classOf(line) {
  if (line.startsWith("$ ")) return "command";
  const classes = { "+": "added", "~": "changed", "!": "changed", "-": "removed" };
  const [, sign] = /^ *([~!+-])[ +-]/.exec(line) ?? [];
  return sign && !line.includes("--outputs:--") ? classes[sign] : "";
}

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

const escaped = (text) => text.replace(/[&<>]/g, (character) => entities[character]);

const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
