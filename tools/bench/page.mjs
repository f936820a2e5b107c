// What docs/performance.md shows of the run in scale.json: a table, and a picture that is narrow enough for a phone.
import { commands, format, table } from "./report.mjs";

const kinds = {
  ours: "pulumi-uptime",
  native: "pulumi-uptime/native",
  sendingFloor: "bare requests",
  conventional: "conventional",
};
const panels = { up: "up (state is written once)", refresh: "refresh" };
/** Both axes are logarithmic, and begin and end at these. */
const [fewest, most] = [100, 10_000];
const [least, longest] = [0.5, 300];
const width = 400;
const panel = { left: 58, width: 326, height: 170 };
const top = (index) => 120 + index * (panel.height + 66);

const share = (value, from, to) => Math.log(value / from) / Math.log(to / from);
const xOf = (n) => (share(n, fewest, most) * panel.width).toFixed(1);
const yOf = (seconds) => ((1 - share(seconds, least, longest)) * panel.height).toFixed(1);

/** How long each command takes, and what it needs with the most monitors. */
export function tableOf({ sizes, seconds, last, date, commit, machine }) {
  const rows = Object.entries(seconds.ours).map(([command, values]) => [
    commands[command],
    ...values.map(format),
    ...(last[command] ?? [null, null, null, null]).map(format),
  ]);
  const head = [
    "Command",
    ...sizes.map((n) => `${n} monitors, s`),
    ...[`requests for ${sizes.at(-1)}`, "CLI, MB", "program, MB", "provider, MB"],
  ];
  const about =
    `Measured on ${date}, commit ${commit}: ${machine}; the API takes 20 ms to respond. All commands but the last one run with ` +
    "`PULUMI_SKIP_CHECKPOINTS=true`.";
  return [table([head, ...rows]), about].join("\n\n");
}

/** Draws the wall seconds that were measured, and between them straight lines. */
export function pictureOf({ sizes, seconds }) {
  const caption = "Seconds by the number of monitors";
  const height = top(2) - 30;
  const drawn = Object.entries(panels).map(([command, title], index) => {
    const lines = Object.keys(kinds).map((kind) => {
      const points = sizes.map((n, at) => [xOf(n), yOf(seconds[kind][command][at])]);
      const dots = points.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3"/>`);
      return `<g class="${kind}"><polyline points="${points.join(" ")}"/>${dots.join("")}</g>`;
    });
    return `<g transform="translate(${panel.left} ${top(index)})">\n${grid(title)}\n${lines.join("\n")}\n</g>`;
  });
  const legend = Object.entries(kinds).map(([kind, title], index) => {
    const [x, y] = [16 + 174 * (index % 2), 46 + 22 * Math.floor(index / 2)];
    return `<rect class="${kind}" x="${x}" y="${y}" width="12" height="12" rx="2"/><text x="${x + 18}" y="${y + 11}">${title}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${caption}">
<style>
  text { font: 13px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .end { text-anchor: end } .middle { text-anchor: middle }
  .frame { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0 }
  polyline { fill: none; stroke-width: 2 }
  .sendingFloor { stroke: #afb8c1; fill: #afb8c1 } .ours { stroke: #2563eb; fill: #2563eb }
  .native { stroke: #16a34a; fill: #16a34a } .conventional { stroke: #d97706; fill: #d97706 }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0 }
    .frame { fill: #0d1117; stroke: #484f58 } .grid { stroke: #30363d }
    .sendingFloor { stroke: #656c76; fill: #656c76 } .ours { stroke: #60a5fa; fill: #60a5fa }
    .native { stroke: #56d364; fill: #56d364 } .conventional { stroke: #e3b341; fill: #e3b341 }
  }
</style>
<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="title" x="16" y="28">${caption}</text>
${[...legend, ...drawn].join("\n")}
</svg>
`;
}

function grid(title) {
  const rows = [1, 10, 100].map((seconds) => {
    const y = yOf(seconds);
    return `<path class="grid" d="M0 ${y}h${panel.width}"/><text class="end" x="-8" y="${Number(y) + 4}">${seconds} s</text>`;
  });
  const columns = [fewest, 1000, most].map((n) => {
    const x = xOf(n);
    const anchor = n === most ? "end" : "middle";
    return `<path class="grid" d="M${x} 0v${panel.height}"/><text class="${anchor}" x="${x}" y="${panel.height + 20}">${n}</text>`;
  });
  return [`<text class="title" x="0" y="-10">${title}</text>`, ...rows, ...columns].join("\n");
}
