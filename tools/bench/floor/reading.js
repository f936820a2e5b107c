// The second floor: the least that a provider does whose refresh looks at the API and whose state has `attributes`. It reads as many
// pages of the list as ours, parses them, and returns state's own object.
const { send } = require("./send");

const secret = ["request_headers", "request_auth_password"];
const wireName = (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** What ours keeps of a record beside the managed fields. */
function attributesOf(record, inputs) {
  const left = new Set(["id", ...secret, ...Object.keys(inputs).map(wireName)]);
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => value !== null && !left.has(name)),
  );
}

/** The ids in the list, read once for all resources of the process. */
let ids;
async function readIds() {
  const found = new Set();
  for (let query = "?per_page=100"; query;) {
    const { data, links } = await send("GET", query);
    for (const { id } of data) found.add(String(id));
    query = links.next && new URL(links.next).search;
  }
  return found;
}

module.exports = {
  create: async (inputs) => {
    const { name, url, interval } = inputs;
    const { data } = await send("POST", "", { name, url, interval });
    return { id: String(data.id), outs: { ...inputs, attributes: attributesOf(data, inputs) } };
  },
  read: async (id, props) => {
    ids ??= readIds();
    return (await ids).has(id) ? { id, props } : {};
  },
  delete: async (id) => {
    await send("DELETE", `/${id}`);
  },
};
