import type { Emulator, Fields } from "../../provider/emulator";

/** Names that people have, and names that break what is not careful. */
const names: readonly string[] = [
  "Home page",
  "Home page",
  "home-page",
  "home page 2",
  "homePage2",
  "class",
  "default",
  "import",
  "constructor",
  "__proto__",
  "exports",
  "config",
  "pulumi",
  "Monitor",
  "then",
  "undefined",
  "arguments",
  "404",
  "2nd check",
  "Überwachung äöü ß",
  "Статус",
  "状態確認ページ",
  "مراقبة",
  "👩‍🚀🚀",
  "…",
  '"double" quotes',
  "'single' quotes",
  `both "one" and 'two'`,
  "`backticks` and ${injected}",
  "*/ ends a comment // and begins one",
  "</script><script>alert(1)</script>",
  "Tom &amp; Jerry &lt;3",
  "back\\slash \\u0041 \\",
  "two\nlines\r\nand\ttabs",
  "line\u2028and\u2029paragraph",
  "left\u202eright\u202c and \u200bzero",
  "a\u0000null \u001b[31mred",
  "no\u00a0break",
  "$(touch pwned) %s %d",
  "x".repeat(200),
  `${"long words ".repeat(18)}end`,
  "状".repeat(200),
  "index",
  "con",
];

/** Texts as long as a line, so that the formatting turns on one letter. */
const aroundTheLimit = Array.from({ length: 8 }, (_, index) => "y".repeat(82 + index));

/** Monitors that no program could be trusted with; all of them are valid. `index` is any number. */
export function nastyMonitor(index: number): Fields {
  const name = names[index % names.length] ?? "";
  const round = Math.floor(index / names.length);
  return {
    name: round === 0 ? name : index % 3 === 0 ? name : `${name} ${round}`.slice(-200),
    url: `https://${index % 2 === 0 ? "Shop" : "www"}.example/${index}?q="a"&b='c'&d=\`\${e}\`&f=%20`,
    interval: [60, 180, 300, 600, 900, 1800, 3600][index % 7],
    ...(index % 3 === 0 && { alert_condition: "url_text", alert_text_lookup: name.trim() }),
    ...(index % 3 === 1 && { alert_text_lookup: aroundTheLimit[index % 8] }),
    ...(index % 11 === 2 && { alert_text_lookup: "確".repeat(30 + (index % 20)) }),
    ...(index % 4 === 0 && { alert_channel_ids: [3, 1, 2] }),
    ...(index % 9 === 0 && { alert_channel_ids: Array.from({ length: 40 }, (_, id) => id + 9990) }),
    ...(index % 5 === 0 && { request_method: "POST", cache_buster: 1 }),
    ...(index % 5 === 1 && {
      request_headers: [
        { key: "Authorization", value: `Bearer s3cret-${index}` },
        { key: "X-Of", value: `"${index}" & s3cret` },
        { key: "x-of", value: "s3cret twice" },
      ],
    }),
    ...(index % 6 === 0 && { request_auth_username: `user ${name}`.trim().replace(/[^ -~]/g, "?") }),
    ...(index % 7 === 0 && { ssl_alert_days: 0, domain_alert_days: 30 }),
    ...(index % 8 === 0 && {
      maintenance_start_at: "2030-01-31T22:00:00",
      maintenance_end_at: "2030-01-31T23:30:00",
    }),
    ...(index % 10 === 0 && { pause: true }),
  };
}

/** So many monitors and a few domains. */
export function addNasty({ monitors, domains }: Emulator, count: number): void {
  for (let index = 0; index < count; index++) monitors.add(nastyMonitor(index));
  for (const name of ["shop.example", "Münch.example", "class.example", "xn--4gbrim.example"])
    domains.add({ name, homepage_url: `https://${name}/?a="b"` });
}
