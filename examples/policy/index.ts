import { PolicyPack } from "@pulumi/policy";
import type { ReportViolation, ResourceValidation, ResourceValidationArgs } from "@pulumi/policy";

import { reportUnwatched } from "./unwatched";

/** The fields that the policies check. A field that was declared once and then removed is null. */
interface MonitorInputs {
  url: string;
  interval: number;
  alertChannelIds?: unknown[] | null;
  requestHeaders?: unknown[] | null;
  requestAuthPassword?: string | null;
}

/** Applies to the resources of one kind, in TypeScript (dynamic resources) and on the provider plugin. */
const ofKind =
  (
    kind: "Domain" | "Monitor",
    validate: (args: ResourceValidationArgs, report: ReportViolation) => void,
  ): ResourceValidation =>
  (args, report) => {
    if ([`pulumi-nodejs:dynamic/uptime:${kind}`, `uptime:index:${kind}`].includes(args.type))
      validate(args, report);
  };

const inputsOf = ({ props }: ResourceValidationArgs) => props as MonitorInputs;

// A value that is unknown in a preview is no violation: Pulumi says that the policy can't run yet, and `pulumi up` runs it.
new PolicyPack("uptime", {
  enforcementLevel: "mandatory",
  policies: [
    {
      name: "monitor-interval",
      description: "A monitor checks at least as often as the setting maxInterval says.",
      configSchema: { properties: { maxInterval: { type: "integer", default: 900 } } },
      validateResource: ofKind("Monitor", (args, report) => {
        const { interval } = inputsOf(args);
        const { maxInterval } = args.getConfig<{ maxInterval: number }>();
        if (interval > maxInterval) report(`interval is ${interval}, and may be ${maxInterval} at most.`);
      }),
    },
    {
      name: "monitor-alerts",
      description: "A monitor alerts somebody.",
      validateResource: ofKind("Monitor", (args, report) => {
        if (!inputsOf(args).alertChannelIds?.length) report("alertChannelIds must name an alert channel.");
      }),
    },
    {
      name: "monitor-https",
      description: "A monitor sends passwords and headers over https only.",
      validateResource: ofKind("Monitor", (args, report) => {
        const { url, requestAuthPassword, requestHeaders } = inputsOf(args);
        if (!/^http:/i.test(url)) return;
        if (requestAuthPassword) report(`requestAuthPassword would be sent in plain text to ${url}.`);
        if (requestHeaders?.length) report(`requestHeaders would be sent in plain text to ${url}.`);
      }),
    },
    {
      name: "domain-protected",
      description: "A domain is protected against deletion.",
      validateResource: ofKind("Domain", ({ opts }, report) => {
        if (!opts.protect) report("The domain needs the option protect: true.");
      }),
    },
    {
      name: "unwatched-addresses",
      description: "A monitor watches each public address of the stack.",
      enforcementLevel: "advisory",
      validateStack: reportUnwatched,
    },
  ],
});
