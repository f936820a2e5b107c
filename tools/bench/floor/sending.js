// The floor with one bare request for each create, update and delete.
const { send } = require("./send");

const formOf = ({ name, url, interval }) => ({ name, url, interval });

module.exports = {
  create: async (inputs) => {
    const { data } = await send("POST", "", formOf(inputs));
    return { id: String(data.id), outs: inputs };
  },
  update: async (id, olds, news) => {
    await send("PATCH", `/${id}`, formOf(news));
    return { outs: news };
  },
  delete: async (id) => {
    await send("DELETE", `/${id}`);
  },
};
