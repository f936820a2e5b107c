import * as pulumi from "@pulumi/pulumi";
import { Monitor } from "pulumi-uptime";

// Each team has its own stack. The stack's file, such as Pulumi.checkout.yaml, lists the team's hosts.
const team = pulumi.getStack();
const hosts = new pulumi.Config().requireObject<string[]>("hosts");

const monitors = hosts.map(
  (host) => new Monitor(host, { name: `${team}: ${host}`, url: `https://${host}/health`, interval: 300 }),
);

export const monitorIds = monitors.map(({ id }) => id);
