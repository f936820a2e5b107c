const pulumi = require("@pulumi/pulumi");
const { Domain, Monitor } = require("pulumi-uptime");
const site = (name, more) => ({ name, url: "https://shop.example/", interval: 60, ...more });
const shop = new Domain("shop", { name: "shop.example", homepageUrl: "https://shop.example/" }, { import: "1" });
new Domain("adopted", { name: "adopted.example" });
new Monitor("home", site("Home", {
  requestAuthPassword: "password of the corpus", requestHeaders: [{ key: "X-Token", value: "token of the corpus" }],
}), { import: "1" });
new Monitor("options", site("Options", { interval: 300 }), { import: "2", ignoreChanges: ["interval"], dependsOn: shop });
new Monitor("found", site("Adopted"));
class Site extends pulumi.ComponentResource {
  constructor(name) {
    super("test:index:Site", name);
    new Monitor("child", site("Child"), { parent: this, import: "4" });
    this.registerOutputs({});
  }
}
new Site("parent");
Domain.get("read", shop.id);
