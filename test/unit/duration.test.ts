import fc from "fast-check";

import { parseDuration } from "../../provider/engine/properties";
import { assertProperty } from "../support/property";

test.each<[string, number]>([
  ["90s", 90_000],
  ["1h30m", 5_400_000],
  [".5h", 1_800_000],
  ["0.5h", 1_800_000],
  ["1.h", 3_600_000],
  ["1m0.25s", 60_250],
  ["250ms", 250],
  ["2h2h", 14_400_000],
  ["+5s", 5000],
])("%s is %d ms", (duration, expected) => {
  expect(parseDuration(duration)).toBeCloseTo(expected, 6);
});

test.each(["0", "0s", "500us", "-1.5s", ""])("%j sets no time", (duration) => {
  expect(parseDuration(duration)).toBeUndefined();
});

test("units add up in any order and number", () => {
  const unit = fc.constantFrom(["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]) as fc.Arbitrary<
    [string, number]
  >;
  assertProperty(
    fc.property(fc.array(fc.tuple(fc.nat(1000), unit), { minLength: 1 }), (parts) => {
      const duration = parts.map(([amount, [name]]) => `${amount}${name}`).join("");
      const expected = parts.reduce((sum, [amount, [, factor]]) => sum + amount * factor, 0);
      expect(parseDuration(duration) ?? 0).toBe(expected);
      expect(parseDuration(`-${duration}`)).toBeUndefined();
    }),
  );
});
