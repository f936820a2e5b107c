// The programs that the benchmark compares: the same monitors, declared in several ways.

/**
 * The defaults are declared too: what the provider would fill in, other programs would not have in state.
 * @param secretEvery how many monitors there are for each one with request headers, which are secret
 */
const monitors = (count, edited, secretEvery = Infinity) =>
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

const classes = (module) => `
const { Monitor } = require("${module}");
monitors.forEach((args, index) => new Monitor("service-" + index, args));
`;

/** The same monitors in YAML: JSON is YAML. */
function yamlOf(list) {
  const resources = list.map((properties, index) => [
    `service-${index}`,
    { type: "uptime:Monitor", properties },
  ]);
  return `resources: ${JSON.stringify(Object.fromEntries(resources))}\n`;
}

/**
 * What the engine and the SDK cost without any provider's work: nothing is compared. Headers are as secret as ours.
 * @param module what the host of dynamic providers loads
 */
const floor = (module) => `
const pulumi = require("@pulumi/pulumi");
class Monitor extends pulumi.CustomResource {
  constructor(name, { requestHeaders, ...args }, options) {
    const __provider = 'exports.handler=()=>require("${module}")';
    const secret = requestHeaders && { requestHeaders: pulumi.secret(requestHeaders) };
    super("pulumi-nodejs:dynamic/floor:Monitor", name, { ...args, ...secret, __provider }, options);
  }
}
monitors.forEach((args, index) => new Monitor("service-" + index, args));
`;

/** The package that the floor's `__provider` loads. */
export const floorPackage = `
module.exports = {
  create: async (inputs) => ({ id: "1", outs: inputs }),
  update: async (id, olds, news) => ({ outs: news }),
};
`;

/** The same, with one bare request for each create, update and delete. */
export const sendingFloorPackage = `
const { request } = require("undici");
const { update } = require(".");

async function send(method, path, form) {
  const { statusCode, body } = await request(process.env.UPTIME_BASE_URL + "/api/v1/monitors" + path, {
    method,
    headers: {
      accept: "application/json",
      authorization: "Bearer " + process.env.UPTIME_API_KEY,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: form && new URLSearchParams(form).toString(),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(method + " was answered with " + statusCode + ": " + text);
  return text === "" ? {} : JSON.parse(text).data;
}

const formOf = ({ name, url, interval }) => ({ name, url, interval });

module.exports = {
  create: async (inputs) => {
    const { id } = await send("POST", "", formOf(inputs));
    return { id: String(id), outs: inputs };
  },
  update: async (id, olds, news) => {
    await send("PATCH", "/" + id, formOf(news));
    return update(id, olds, news);
  },
  delete: async (id) => {
    await send("DELETE", "/" + id);
  },
};
`;

/** A dynamic provider as Pulumi's own documentation shows them, for the same API. */
const conventional = `
const pulumi = require("@pulumi/pulumi");

const fields = ["name", "url", "interval", "alertCondition", "alertTextLookup", "alertChannelIds", "requestMethod",
  "requestHeaders", "requestAuthUsername", "requestAuthPassword", "cacheBuster", "sslAlertDays", "domainAlertDays",
  "maintenanceStartAt", "maintenanceEndAt"];
const wireOf = (field) => field.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

function toForm(inputs) {
  const form = new URLSearchParams();
  for (const field of fields) {
    const value = inputs[field];
    if (value === undefined) continue;
    if (field === "alertChannelIds") value.forEach((id) => form.append("alert_channel_ids[]", String(id)));
    else if (field === "requestHeaders")
      value.forEach((header, index) => {
        form.append("request_headers[" + index + "][key]", header.key);
        form.append("request_headers[" + index + "][value]", header.value);
      });
    else form.append(wireOf(field), typeof value === "boolean" ? String(Number(value)) : String(value));
  }
  return form;
}

function fromRecord(record) {
  const shown = fields.filter((field) => field !== "requestAuthPassword");
  const values = Object.fromEntries(shown.map((field) => [field, record[wireOf(field)]]));
  return { ...values, interval: Number(record.interval), cacheBuster: Boolean(Number(record.cache_buster)) };
}

async function request(method, path, form) {
  const response = await fetch(process.env.UPTIME_BASE_URL + "/api/v1" + path, {
    method: method,
    headers: {
      Accept: "application/json",
      Authorization: "Bearer " + process.env.UPTIME_API_KEY,
      ...(form ? { "Content-Type": "application/x-www-form-urlencoded" } : {}),
    },
    body: form ? form.toString() : undefined,
  });
  if (response.status === 404) return undefined;
  const text = await response.text();
  if (!response.ok) {
    throw new Error(method + " " + path + " failed with status " + response.status + ": " + text);
  }
  if (text === "") return {};
  const body = JSON.parse(text);
  return body.data !== undefined ? body.data : body;
}

const monitorProvider = {
  async create(inputs) {
    const record = await request("POST", "/monitors", toForm(inputs));
    return { id: String(record.id), outs: { ...inputs, ...fromRecord(record) } };
  },
  async read(id, props) {
    const record = await request("GET", "/monitors/" + id);
    if (record === undefined) return {};
    return { id: id, props: { ...props, ...fromRecord(record) } };
  },
  async update(id, olds, news) {
    const record = await request("PUT", "/monitors/" + id, toForm(news));
    return { outs: { ...news, ...fromRecord(record) } };
  },
  async diff(id, olds, news) {
    const changes = fields.some(
      (field) => news[field] !== undefined && JSON.stringify(olds[field]) !== JSON.stringify(news[field]),
    );
    return { changes: changes };
  },
  async delete(id) {
    await request("DELETE", "/monitors/" + id);
  },
};

class Monitor extends pulumi.dynamic.Resource {
  constructor(name, args, options) {
    super(monitorProvider, name, args, options);
  }
}
monitors.forEach((args, index) => new Monitor("service-" + index, args));
`;

const declarations = {
  ours: classes("pulumi-uptime"),
  native: classes("pulumi-uptime/native"),
  floor: floor("uptime-floor"),
  sendingFloor: floor("uptime-floor/sending"),
  conventional,
};

/** The source of a program with this many monitors; `edited` changes one field of one of them. */
export function programOf(kind, count, edited = false, secretEvery = undefined) {
  const list = monitors(count, edited, secretEvery);
  return kind === "yaml" ? yamlOf(list) : `const monitors = ${JSON.stringify(list)};\n${declarations[kind]}`;
}
