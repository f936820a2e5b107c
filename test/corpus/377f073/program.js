// Declares every kind of thing that state can have. The state was left by three runs: CORPUS_RUN 1, 2 and 3.
const run = Number(process.env.CORPUS_RUN ?? 4);
const front = process.env.CORPUS_FRONT;
const pulumi = require("@pulumi/pulumi");
const { Domain, Monitor, Provider } = require(front === "native" ? "pulumi-uptime/native" : "pulumi-uptime");
const site = (name, more) => ({ name, url: "https://shop.example/", interval: 60, ...more });

const shop = new Domain("shop", {
  name: "Shop.Example",
  homepageUrl: "https://shop.example/",
  notFoundUrl: "https://shop.example/404",
});
Domain.get("read", shop.id);
new Monitor("least", site("Least", { url: "https://shop.example" }));
const most = {
  name: "Most & more",
  url: "https://SHOP.example/a?b=c",
  interval: 300,
  alertCondition: "url_text",
  alertTextLookup: "Öl",
  alertChannelIds: [2, "1"],
  requestMethod: "POST",
  requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
  requestAuthUsername: "user",
  requestAuthPassword: "password of the corpus",
  cacheBuster: true,
  sslAlertDays: 7,
  domainAlertDays: 0,
  maintenanceStartAt: "2030-01-31T22:00:00",
  maintenanceEndAt: "2030-01-31T23:00:00",
  pause: true,
};
new Monitor("most", most, { dependsOn: shop });
const emptied = { requestAuthUsername: "probe", requestHeaders: [], sslAlertDays: 14, alertChannelIds: [3], pause: true };
new Monitor("emptied", site("Emptied", { interval: 600, ...(run === 1 && emptied) }));
const options = { ignoreChanges: ["interval"], replaceOnChanges: ["url"], customTimeouts: { create: "1m" } };
new Monitor("options", site("Options", { interval: 900 }), { ...options, protect: run < 4 });

const eu = new Monitor("eu", site("Europe", { account: "eu" }));
Monitor.get("read-eu", eu.id, { account: "eu" });

// Records that were there before.
new Domain("imported", { name: "imported.example", homepageUrl: "https://hand.example/" }, { import: "1" });
const secret = {
  requestAuthPassword: "password of the corpus",
  requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
};
new Monitor("home", site("Home", secret), { import: "1" });
new Monitor("ignored", site("Ignored", { interval: 300 }), { import: "2", ignoreChanges: ["interval"] });
new Domain("adopted", { name: "adopted.example" });
if (run === 1) new Monitor("found", site("Adopted"));
else new Monitor("renamed", site("Adopted"), { aliases: [{ name: "found" }] });
class Site extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Site", name);
    new Monitor("child", site("Child"), { parent: this, import: "4" });
    new Monitor("adopted-child", site("Adopted child"), { parent: this });
    this.registerOutputs({});
  }
}
new Site("parent");

// The last run ended in the middle: one monitor is not paused yet, and a domain that was replaced is not deleted yet.
const replaced = new Domain("replaced", { name: run < 3 ? "old.example" : "new.example" });
if (run > 2) new Monitor("partial", site("Partial", { pause: true }), { dependsOn: replaced });
if (front === "native") {
  const provider = new Provider("own", { baseUrl: "http://own.api.example", allowHttp: true });
  new Monitor("explicit", site("Explicit"), { provider });
  // By the command `pulumi import`.
  if (run > 3) new Monitor("hand", site("By hand", { sslAlertDays: 7 }));
}
