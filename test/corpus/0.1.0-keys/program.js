const pulumi = require("@pulumi/pulumi");
const { Domain, Monitor } = require("pulumi-uptime");
const shop = new Domain("shop", { name: "Shop.Example", homepageUrl: "https://shop.example/", notFoundUrl: "https://shop.example/404" });
const plain = new Domain("plain", { name: "plain.example" });
new Monitor("least", { name: "Least", url: "https://shop.example", interval: 60 });
new Monitor("most", {
  name: "Most & more", url: "https://SHOP.example/a?b=c", interval: 300, alertCondition: "url_text", alertTextLookup: "Öl",
  alertChannelIds: [2, "1"], requestMethod: "POST", requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
  requestAuthUsername: "user", requestAuthPassword: "password of the corpus", cacheBuster: true, sslAlertDays: 7,
  domainAlertDays: 0, maintenanceStartAt: "2030-01-31T22:00:00", maintenanceEndAt: "2030-01-31T23:00:00", pause: true,
}, { dependsOn: shop });
new Monitor("emptied", { name: "Emptied", url: "https://shop.example/e", interval: 600,  });
new Monitor("options", { name: "Options", url: "https://shop.example/o", interval: 900, domainAlertDays: 30 },
  { ignoreChanges: ["interval"], replaceOnChanges: ["url"], customTimeouts: { create: "1m" }, protect: true });
Domain.get("read", plain.id);
const hand = (name, more) => ({ name, url: "https://hand.example/", interval: 60, ...more });
new Domain("imported", { name: "imported.example", homepageUrl: "https://hand.example/" }, { import: "1" });
new Domain("adopted", { name: "adopted.example" });
new Monitor("home", hand("Home", {
  requestAuthPassword: "password of the corpus", requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
}), { import: "1" });
new Monitor("ignored", hand("Ignored", { interval: 300 }), { import: "2", ignoreChanges: ["interval"] });
new Monitor("found", hand("Adopted"));
class Site extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Site", name);
    new Monitor("child", hand("Child"), { parent: this, import: "4" });
    this.registerOutputs({});
  }
}
new Site("parent");
