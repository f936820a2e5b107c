import * as pulumi from "@pulumi/pulumi";
import { Monitor } from "pulumi-uptime";

// Each team has a stack of its own; its file, such as Pulumi.checkout.yaml, has the hosts that it runs.
const team = pulumi.getStack();
const hosts = new pulumi.Config().requireObject<string[]>("hosts");

const monitors = hosts.map(
  (host) => new Monitor(host, { name: `${team}: ${host}`, url: `https://${host}/health`, interval: 300 }),
);

export const monitorIds = monitors.map(({ id }) => id);
