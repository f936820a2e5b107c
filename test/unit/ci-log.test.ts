import { runInNewContext } from "node:vm";

import { message, quote } from "../../provider/api/errors";
import { jsonText } from "../../provider/cli/shared/json";
import {
  codeBlock,
  codeSpan,
  printable,
  fenceFor,
  markdownRow,
  stringLiteral,
} from "../../provider/cli/shared/quoting";
import { Redactor } from "../../provider/engine/redactor";

// A runner of GitHub or Azure looks for commands in everything that a job prints.

const commands = [
  "##[debug]hidden",
  "x ##[set-env name=A]b",
  "###[error]",
  "##vso[task.setvariable variable=a]b",
  "##teamcity[buildStatus]",
];
const lines = ["::error::x", "  ::add-mask::y", "\t::stop-commands::z", "\u0085 ::warning::v"];

/** Whether a runner would find a command in a log. */
const hasCommand = (log: string): boolean =>
  /##\w*\[/.test(log) || log.split(/\r\n|[\n\r]/).some((line) => /^[\s\u0085]*::/.test(line));

test("the commands of this test are commands, and ordinary text is none", () => {
  for (const one of [...commands, ...lines]) expect(hasCommand(one)).toBe(true);
  for (const one of ["## A heading", "a::b", "[x] ##", "std::vector"]) {
    expect(hasCommand(one)).toBe(false);
    expect(printable(one)).toBe(one);
  }
});

test.each([...commands, ...lines])("no command is in what is printed about %j", (text) => {
  const redactor = new Redactor([]);
  const printed = [
    redactor.message([quote(text)]),
    redactor.message([text]),
    redactor.message(message`First line.${["\n", quote(text)]}`),
    redactor.error(new Error(text)),
    printable(text),
    codeSpan(text),
    codeBlock(["before", text, "after"]),
    markdownRow(["a", text, text]),
    stringLiteral(text),
    jsonText({ name: text, list: [text] }),
  ];
  for (const one of printed) expect(hasCommand(one)).toBe(false);
});

test.each([...commands, ...lines])("a program and JSON still mean %j", (text) => {
  expect(runInNewContext(stringLiteral(text))).toBe(text);
  expect(JSON.parse(jsonText({ text }))).toEqual({ text });
});

test.each([
  ["a bidirectional override", "left\u202eright", "left\\u202eright"],
  ["an isolate", "a\u2066b", "a\\u2066b"],
  ["a space without width", "pay\u200bpal", "pay\\u200bpal"],
  ["a byte order mark", "a\ufeffb", "a b"],
  ["an escape sequence", "a\u001b[31mred", "a [31mred"],
])("%s in the server's words is shown", (_, text, expected) => {
  expect(new Redactor([]).message([quote(text)])).toBe(expected);
});

test("JSON has no invisible characters, and the same values", () => {
  const value = { name: "a\u009b31mred\u202e evil", list: ["##[error]x", 1, null] };
  const text = jsonText(value);
  expect(text).toMatch(/^[\x20-\x7e\n]+$/);
  expect(JSON.parse(text)).toEqual(value);
});

test("a text with very many groups of backticks gets a fence", () => {
  expect(fenceFor("`` ".repeat(200_000), 1)).toBe("```");
  expect(codeSpan("` ".repeat(200_000)).startsWith("`` ")).toBe(true);
});
