// The floor: what the engine and the SDK cost with a provider that does nothing.
module.exports = {
  create: async (inputs) => ({ id: "1", outs: inputs }),
  update: async (id, olds, news) => ({ outs: news }),
};
