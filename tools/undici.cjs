// What the provider uses of undici, for its bundles: loading the rest of it takes longer than all of the provider.
const Agent = require("undici/lib/dispatcher/agent.js");
const Dispatcher = require("undici/lib/dispatcher/dispatcher.js");

Dispatcher.prototype.request = require("undici/lib/api/api-request.js");

const request = (url, { dispatcher, ...options }) =>
  dispatcher.request({ ...options, origin: url.origin, path: url.pathname + url.search });

module.exports = { Agent, request };
