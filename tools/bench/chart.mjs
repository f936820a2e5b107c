// The picture of docs/performance.md: how the time of a command grows with the number of monitors.
import { fastestOf } from "./figures.mjs";

const kinds = {
  sendingFloor: "no-op resources",
  ours: "pulumi-uptime",
  native: "pulumi-uptime/native",
  conventional: "conventional provider",
};
const latency = 0.02;
const maxConcurrency = 8;
const panels = [
  { command: "checkpointed", title: "up", requests: (n) => n + 1 },
  { command: "up", title: "up without checkpoints", requests: (n) => n + 1 },
  { command: "refresh", title: "refresh", requests: (n) => n / 100 + 1 },
];
/** Both axes are logarithmic; a panel begins and ends at these. */
const [least, greatest] = [
  { n: 100, seconds: 0.1 },
  { n: 10_000, seconds: 1000 },
];
const panel = { width: 200, height: 260, gap: 28, left: 62, top: 116 };
const width = panel.left + panels.length * (panel.width + panel.gap);
const height = panel.top + panel.height + 58;

const share = (value, from, to) => Math.log(value / from) / Math.log(to / from);
const xOf = (n) => share(n, least.n, greatest.n) * panel.width;
const yOf = (seconds) => (1 - share(seconds, least.seconds, greatest.seconds)) * panel.height;
const at = ([n, seconds]) => `${xOf(n).toFixed(1)},${yOf(seconds).toFixed(1)}`;
const named = (value) => (value >= 1000 ? value.toLocaleString("en-US") : String(value));

/** Draws the wall seconds that were measured, and nothing in between or beyond but straight lines from one to the next. */
export function chartOf({ runs }) {
  const sizes = [...new Set(runs.map(({ n }) => n))].sort((a, b) => a - b);
  const drawn = panels.map(({ command, title, requests }, index) => {
    const left = panel.left + index * (panel.width + panel.gap);
    const lines = Object.keys(kinds).map((kind) => {
      const points = sizes.flatMap((n) => {
        const seconds = fastestOf(runs, { n, command, kind });
        return seconds === undefined ? [] : [[n, seconds]];
      });
      const dots = points.map((point) => {
        const [cx, cy] = at(point).split(",");
        return `<circle cx="${cx}" cy="${cy}" r="3"/>`;
      });
      return `<g class="${kind}"><polyline points="${points.map(at).join(" ")}"/>${dots.join("")}</g>`;
    });
    return `<g transform="translate(${left} ${panel.top})">
${grid(title, index === 0)}
${limitOf(requests)}
${lines.join("\n")}
</g>`;
  });
  const caption = "Seconds by the number of monitors, 20 ms of latency; both axes are logarithmic";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${caption}">
<style>
  text { font: 12px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 13px } .end { text-anchor: end } .middle { text-anchor: middle }
  .frame { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0 }
  polyline { fill: none; stroke-width: 2 }
  .sendingFloor polyline { stroke-width: 5 }
  .sendingFloor { stroke: #afb8c1; fill: #afb8c1 } .ours { stroke: #2563eb; fill: #2563eb }
  .native { stroke: #16a34a; fill: #16a34a } .conventional { stroke: #d97706; fill: #d97706 }
  .limit { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    .frame { fill: #0d1117; stroke: #484f58 } .grid { stroke: #30363d } .limit { stroke: #9198a1 }
    .sendingFloor { stroke: #656c76; fill: #656c76 } .ours { stroke: #60a5fa; fill: #60a5fa }
    .native { stroke: #56d364; fill: #56d364 } .conventional { stroke: #e3b341; fill: #e3b341 }
  }
</style>
<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text x="16" y="26">${caption}</text>
${legend()}
${drawn.join("\n")}
</svg>
`;
}

function legend() {
  const entries = [...Object.entries(kinds), ["limit", "requests × latency ÷ 8 at once"]];
  return entries
    .map(([name, title], index) => {
      const [x, y] = [16 + 240 * (index % 3), 50 + 20 * Math.floor(index / 3)];
      const line =
        name === "limit"
          ? `<path class="limit" d="M${x} ${y - 4}h16"/>`
          : `<rect class="${name}" x="${x}" y="${y - 10}" width="12" height="12" rx="2"/>`;
      return `${line}<text x="${x + 22}" y="${y}">${title}</text>`;
    })
    .join("\n");
}

function grid(title, isFirst) {
  const parts = [`<text class="title" x="0" y="-10">${title}</text>`];
  for (let seconds = least.seconds; seconds <= greatest.seconds; seconds *= 10) {
    const y = yOf(seconds).toFixed(1);
    parts.push(`<line class="grid" x1="0" y1="${y}" x2="${panel.width}" y2="${y}"/>`);
    const label = `${named(Number(seconds.toPrecision(1)))} s`;
    if (isFirst) parts.push(`<text class="end" x="-8" y="${Number(y) + 4}">${label}</text>`);
  }
  for (let n = least.n; n <= greatest.n; n *= 10) {
    const x = xOf(n).toFixed(1);
    parts.push(`<line class="grid" x1="${x}" y1="0" x2="${x}" y2="${panel.height}"/>`);
    // The last one would run into the next panel's first.
    const anchor = n === greatest.n ? "end" : "middle";
    parts.push(`<text class="${anchor}" x="${x}" y="${panel.height + 18}">${named(n)}</text>`);
  }
  parts.push(`<text class="middle" x="${panel.width / 2}" y="${panel.height + 38}">monitors</text>`);
  return parts.join("\n");
}

/** What the requests alone take; from where it is more than the panel's least. */
function limitOf(requests) {
  const seconds = (n) => (requests(n) * latency) / maxConcurrency;
  const points = [];
  for (let n = least.n; n <= greatest.n * 1.001; n *= 10 ** 0.05)
    if (seconds(n) >= least.seconds) points.push([n, seconds(n)]);
  return `<polyline class="limit" points="${points.map(at).join(" ")}"/>`;
}
