import * as pulumi from "@pulumi/pulumi";
import { Domain, Monitor } from "pulumi-uptime";
import type { MonitorArgs } from "pulumi-uptime";
import { domains, services } from "./services";
import type { Channel, Check, Level, Service } from "./services";

const config = new pulumi.Config();
const channelIds = {
  oncall: 1,
  chat: 2,
  mail: 3,
  ...config.getObject<Partial<Record<Channel, number>>>("channels"),
};
const probeToken = config.getSecret("probeToken") ?? pulumi.secret("none");

const channels = (...names: Channel[]) => names.map((name) => channelIds[name]);

/** What all monitors of a level share. */
const levels: Record<Level, Pick<MonitorArgs, "interval"> & Partial<MonitorArgs>> = {
  critical: { interval: 60, sslAlertDays: 14, alertChannelIds: channels("oncall", "chat") },
  normal: { interval: 300, sslAlertDays: 7, alertChannelIds: channels("chat") },
  internal: {
    interval: 900,
    alertChannelIds: channels("mail"),
    requestHeaders: [{ key: "X-Probe-Token", value: probeToken }],
  },
};

function alertOn({ expect, reject }: Check): Partial<MonitorArgs> {
  if (expect !== undefined) return { alertCondition: "url_no_text", alertTextLookup: expect };
  if (reject !== undefined) return { alertCondition: "url_text", alertTextLookup: reject };
  return {};
}

function argsOf(service: Service, check: Check): MonitorArgs {
  return {
    ...levels[service.level],
    ...alertOn(check),
    ...(service.maintenance && {
      maintenanceStartAt: service.maintenance.start,
      maintenanceEndAt: service.maintenance.end,
    }),
    ...(service.paused && { pause: true }),
    ...check.args,
    name: `${service.host}: ${check.name}`,
    url: `https://${service.host}${check.path}`,
  };
}

const owned = domains.map(
  (name) =>
    new Domain(
      name,
      {
        name,
        homepageUrl: `https://www.${name}/`,
        notFoundUrl: `https://www.${name}/not-found`,
      },
      { protect: true },
    ),
);

const monitors = services.map((service) =>
  service.checks.map((check) => new Monitor(`${service.host}/${check.name}`, argsOf(service, check))),
);

export const domainIds = owned.map(({ id }) => id);
export const monitorCount = monitors.reduce((count, ofService) => count + ofService.length, 0);
