import { Domain, Monitor } from "../../provider";

const wrong = { parent: { not: "a resource" } } as never;

describe("a resource that cannot be made", () => {
  test.each([
    ["Domain", () => new Domain("shop", { name: "shop.example" }, wrong)],
    ["Monitor", () => new Monitor("home", { name: "Home", url: "https://a.example", interval: 60 }, wrong)],
  ])("says at which line of the program: %s", (_, make) => {
    const before = traceSettings();
    let thrown: unknown;
    try {
      make();
    } catch (error) {
      thrown = error;
    }
    if (!(thrown instanceof Error)) throw new Error("nothing was thrown");
    const [, first] = thrown.stack?.split("\n    at ") ?? [];
    expect(first).toMatch(/resource\.test\.ts\S*:[78]:\d+\)?$/);
    // Other errors of the program have their traces as before.
    expect(traceSettings()).toEqual(before);
  });
});

function traceSettings(): unknown[] {
  const { stackTraceLimit, prepareStackTrace } = Error as {
    stackTraceLimit: number;
    prepareStackTrace?: unknown;
  };
  return [stackTraceLimit, prepareStackTrace];
}
