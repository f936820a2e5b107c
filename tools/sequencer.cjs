// Tests on the engine take longest: they start first, so that short ones fill the gap at the end, also on a fresh clone.
const { default: Sequencer } = require("@jest/test-sequencer");

const order = ["engine", "package", "unit"];
const place = ({ context }) => order.indexOf(context.config.displayName.name);

module.exports = class extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return sorted.sort((one, other) => place(one) - place(other));
  }
};
