import * as pulumi from "@pulumi/pulumi";
import { Domain, Monitor } from "pulumi-uptime";

const config = new pulumi.Config();
const name = config.get("domain") ?? "shop.example";

const shop = new Domain("shop", {
  name,
  homepageUrl: `https://www.${name}/`,
  notFoundUrl: `https://www.${name}/not-found`,
});

const home = new Monitor("home", {
  name: "Home page",
  url: pulumi.interpolate`https://${shop.name}/`,
  interval: 60,
  sslAlertDays: 14,
  domainAlertDays: 30,
});

const checkout = new Monitor("checkout", {
  name: "Checkout",
  url: "https://pay.shop.example/health",
  interval: 300,
  alertCondition: "url_no_text",
  alertTextLookup: "all good",
  requestHeaders: [{ key: "X-Probe", value: config.getSecret("probeToken") ?? "none" }],
  alertChannelIds: [1, 2],
});

export const domainId = shop.id;
export const monitorIds = { home: home.id, checkout: checkout.id };
