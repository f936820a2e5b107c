// What must never be printed or kept: the key that the emulator asks for, and every secret value that `canary` makes. None
// of them stands here or in a test as it is, so that a test's own source, printed beside a failure, is no leak.
const mark = ["uptime", "canary"].join("");
const emulatorKey = ["emulator", "key"].join("-");
const pattern = new RegExp(`${mark}-[\\w-]*|${emulatorKey}`, "g");

/** A secret value of this name. */
function canary(name) {
  return `${mark}-${name}`;
}

/** Which of them are in a text: the names, and "key" for the emulator's key. */
function leaksIn(text) {
  const found = text.match(pattern) ?? [];
  return [...new Set(found.map((leak) => (leak === emulatorKey ? "key" : leak.slice(mark.length + 1))))];
}

/** Looks through texts that come in pieces, cut anywhere. */
class LeakWatch {
  #tail = "";
  leaks = new Set();

  add(text) {
    const whole = this.#tail + text;
    for (const leak of leaksIn(whole)) this.leaks.add(leak);
    this.#tail = whole.slice(-200);
  }
}

module.exports = { canary, leaksIn, LeakWatch };
