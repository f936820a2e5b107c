// A dynamic provider as in Pulumi's own documentation, for the same API.
const pulumi = require("@pulumi/pulumi");

const fields = [
  "name",
  "url",
  "interval",
  "alertCondition",
  "alertTextLookup",
  "alertChannelIds",
  "requestMethod",
  "requestHeaders",
  "requestAuthUsername",
  "requestAuthPassword",
  "cacheBuster",
  "sslAlertDays",
  "domainAlertDays",
  "maintenanceStartAt",
  "maintenanceEndAt",
];
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
require("./monitors.json").forEach((args, index) => new Monitor("service-" + index, args));
