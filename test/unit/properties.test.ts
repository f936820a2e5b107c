import { monitor } from "../../provider/definitions/monitor";
import {
  asSecret,
  engineUnknown,
  specialSigKey,
  unwrapSecrets,
  type Properties,
} from "../../provider/common/marks";
import { notYetKnown } from "../../provider/common/values";
import {
  decodeDeclaration,
  decodeInputs,
  decodeOptions,
  decodeOutputs,
  encodeInputs,
  encodeOutputs,
  markSecrets,
} from "../../provider/engine/properties";
import { everything, everythingStored } from "../support/monitors";
import { fronts, Program } from "../support/program";
import { ownerOf } from "../../provider/lifecycle/owners";
import { emulator, withServer } from "../support/server";

test("inputs keep unknown keys, secrets and unknown values, and lose what Pulumi hides", () => {
  const properties = {
    name: engineUnknown,
    requestHeaders: asSecret([{ key: "X-Token", value: "a" }]),
    constructor: "of a later version",
    account: "eu",
    __provider: "code",
    __options: { owner: "my:site:Front$type::web" },
  };
  const { name, requestHeaders, constructor } = properties;
  expect(decodeInputs(monitor, properties)).toEqual({
    values: { name: notYetKnown, requestHeaders, constructor },
    account: "eu",
    importId: undefined,
  });
  expect(encodeInputs(decodeInputs(monitor, properties), properties)).toEqual({
    ...properties,
    name,
    // Pulumi's host sets it.
    __provider: undefined,
    // State has digits instead of the name, and they stay as they are.
    __options: { owner: ownerOf("my:site:Front$type::web") },
  });
  expect(ownerOf(ownerOf("type::web"))).toBe(ownerOf("type::web"));
});

test("a declared value of a wrong type is left for check to refuse", () => {
  const declaration = decodeDeclaration(monitor, {}, { name: 5, account: 6, importId: 7 });
  expect(declaration).toMatchObject({ declared: { name: 5 }, account: 6, importId: 7 });
});

test("state survives both ways, its attributes untouched", () => {
  const attributes = { id: 7, nested: { deep: [{ null: null }] } };
  const properties = {
    name: "a",
    requestAuthPassword: asSecret("b"),
    attributes,
    account: "eu",
    __server: "hash",
    __key: "abcd",
    __claim: "path",
    __partial: true,
    __options: { ignoreChanges: ["name"] },
  };
  const outputs = decodeOutputs(monitor, { ...properties, unknown: 1, __other: 2 });
  expect(outputs.attributes).toBe(attributes);
  expect(outputs.values).toEqual({ name: "a", requestAuthPassword: properties.requestAuthPassword });
  const keep = (shown: Properties): Properties => shown;
  const { requestAuthPassword, __options, ...plain } = properties;
  expect(encodeOutputs(decodeOutputs(monitor, plain), keep, {})).toEqual(plain);
  const from = { ...plain, __options };
  const refuse = (): never => {
    throw new Error("what is stored was cleaned when it was stored");
  };
  expect(encodeOutputs(decodeOutputs(monitor, from), refuse, from)).toEqual(from);
});

test("a secret field is marked in outputs also if it is empty, as the engine does it, and in inputs only with a value", () => {
  const values = { name: "a", requestHeaders: [], requestAuthPassword: null };
  expect(markSecrets(monitor, values, [])).toEqual(values);
  // The plugin calls secret what state has marked, so a refresh names them.
  for (const marked of [[], ["requestHeaders", "requestAuthPassword"]])
    expect(markSecrets(monitor, { ...values, attributes: {} }, marked)).toEqual({
      name: "a",
      requestHeaders: asSecret([]),
      requestAuthPassword: asSecret(null),
      attributes: {},
    });
});

test("a hidden property of a wrong type in state counts as missing", () => {
  const hidden = { __server: {}, __key: null, __claim: [], __partial: "yes", __options: 5 };
  const outputs = decodeOutputs(monitor, { attributes: "text", account: 5, ...hidden });
  expect(outputs).toEqual({ values: {}, attributes: {}, tookExisting: false });
  const odd = { ignoreChanges: "name", replaceOnChanges: [1], customTimeouts: { create: 5 }, owner: {} };
  expect(decodeOptions({ __options: odd }, "create")).toEqual({});
  const one = { ...odd, ignoreChanges: ["name"], customTimeouts: { create: "1m", update: 5 } };
  expect(decodeOptions({ __options: one }, "create")).toEqual({ ignoreChanges: ["name"], timeout: 60_000 });
});

test("a list of headers in state with something else in it counts as missing", () => {
  for (const header of [null, "A", { key: "A" }, { value: "b" }]) {
    const requestHeaders = [{ key: "A", value: "b" }, header];
    expect(decodeOutputs(monitor, { requestHeaders, attributes: {} }).values).toEqual({});
  }
});

test("any text in state is a claim, and the name of a resource is read as its digits", () => {
  expect(decodeOutputs(monitor, { __claim: "type::web#1b4e28ba" }).claim).toBe("type::web#1b4e28ba");
  expect(decodeOptions({ __options: { owner: "type::web" } }).owner).toBe(ownerOf("type::web"));
});

const wrongValues = ["text", 5, true, {}, [{}], [{ key: 5, value: "a" }], [["a"]]];
const fields = Object.keys(everything) as (keyof typeof everything)[];
const isRight = (key: keyof typeof everything, value: unknown): boolean =>
  typeof value === typeof everything[key] && typeof value !== "object";

describe("a managed value of a wrong type in state", () => {
  test.each(fields)("counts as missing: %s", (key) => {
    for (const value of wrongValues.filter((wrong) => !isRight(key, wrong))) {
      const properties = { ...everything, [key]: value, attributes: {} };
      const { [key]: _, ...others } = everything;
      expect(decodeInputs(monitor, properties).values).toEqual({ ...others, attributes: {} });
      expect(decodeOutputs(monitor, properties).values).toEqual(others);
    }
  });

  describe.each(fronts)("is repaired by the next runs (%s)", (front) => {
    withServer();

    test.each(wrongValues)("%j", async (value) => {
      const one = new Program(front).resource();
      await one.up(everything);
      const wrong = Object.fromEntries(
        fields.filter((key) => !isRight(key, value)).map((key) => [key, value]),
      );
      for (const from of ["inputs", "outputs"] as const) {
        if (!one.state) throw new Error("There is no state.");
        one.state = { ...one.state, [from]: { ...one.state[from], ...wrong } };
        one.nextRun();
        await one.refresh();
        one.nextRun();
        await one.up(everything);
        expect(one.state.outputs).toMatchObject(everything);
        expect(emulator.monitors.all()).toMatchObject([everythingStored]);
      }
    });
  });
});

test("what has an encrypted secret in it, at any depth, has no plain value", () => {
  const { value: _, ...mark } = asSecret("plain");
  const encrypted = { ...mark, ciphertext: "v1:x" };
  expect(mark).toEqual({ [specialSigKey]: expect.any(String) as string });
  for (const value of [encrypted, [1, encrypted], { key: "A", value: encrypted }, { list: [[encrypted]] }])
    expect(unwrapSecrets(value)).toBeUndefined();
  expect(unwrapSecrets([{ key: "A", value: { ...mark, plaintext: '"b"' } }])).toEqual([
    { key: "A", value: "b" },
  ]);
});
