import { milliseconds } from "../../provider/engine/duration";

test.each<[string, number]>([
  ["90s", 90_000],
  ["1h30m", 5_400_000],
  [".5h", 1_800_000],
  ["0.5h", 1_800_000],
  ["1.h", 3_600_000],
  ["1m0.25s", 60_250],
  ["250ms", 250],
  ["1500us", 1.5],
  ["1500\u00b5s", 1.5],
  ["1500\u03bcs", 1.5],
  ["1000000ns", 1],
  ["2h2h", 14_400_000],
  ["+5s", 5000],
  ["-1.5s", -1500],
  ["0", 0],
  ["0s", 0],
])("%s is %d ms", (duration, expected) => {
  expect(milliseconds(duration)).toBeCloseTo(expected, 6);
});

test.each(
  [
    "",
    " ",
    "5",
    "1d",
    "5 m",
    "5m ",
    "m",
    ".",
    ".s",
    "1..5s",
    "1,5s",
    "--5s",
    "1h-5m",
    "5M",
    "1e3s",
    "5m\n",
  ].map((text) => [text]),
)("%j is no duration", (duration) => {
  expect(milliseconds(duration)).toBeUndefined();
});
