// The programs that the benchmark compares: the same monitors, declared in several ways.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../shared.mjs";

/**
 * The defaults are declared too: what the provider would fill in, other programs would not have in state.
 * @param edited changes one field of one of them
 * @param secretEvery how many monitors there are for each one with request headers, which are secret
 */
export const monitorsOf = (count, edited, secretEvery = Infinity) =>
  Array.from({ length: count }, (_, index) => ({
    name: `Service ${index}`,
    url: `https://service-${index}.example.com/health`,
    interval: edited && index === count - 1 ? 300 : 60,
    alertCondition: "url_unavailable",
    alertChannelIds: [1, 2],
    requestMethod: "GET",
    cacheBuster: false,
    sslAlertDays: 14,
    ...(index % secretEvery === 1 && { requestHeaders: [{ key: "X-Probe", value: `probe ${index}` }] }),
  }));

const all = `require("./monitors.json").forEach((args, index) => new Monitor("service-" + index, args));\n`;

/** A resource of a floor. Headers are as secret as ours. */
const floor = (module) => `
const pulumi = require("@pulumi/pulumi");
class Monitor extends pulumi.CustomResource {
  constructor(name, { requestHeaders, ...args }, options) {
    const __provider = 'exports.handler=()=>require("${module}")';
    const secret = requestHeaders && { requestHeaders: pulumi.secret(requestHeaders) };
    super("pulumi-nodejs:dynamic/floor:Monitor", name, { ...args, ...secret, __provider }, options);
  }
}
${all}`;

/** Each kind of program, which declares what is in monitors.json beside it. */
export const programs = {
  ours: `const { Monitor } = require("pulumi-uptime");\n${all}`,
  native: `const { Monitor } = require("pulumi-uptime/native");\n${all}`,
  floor: floor("uptime-floor"),
  sendingFloor: floor("uptime-floor/sending"),
  readingFloor: floor("uptime-floor/reading"),
  conventional: readFileSync(join(root, "tools", "bench", "conventional.js"), "utf8"),
};

/** The same monitors in YAML: JSON is YAML. */
export function yamlOf(list) {
  const resources = list.map((properties, index) => [
    `service-${index}`,
    { type: "uptime:Monitor", properties },
  ]);
  return `resources: ${JSON.stringify(Object.fromEntries(resources))}\n`;
}
