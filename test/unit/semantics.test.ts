import fc from "fast-check";

import { definitions } from "../../provider/definitions";
import { completeDialect, type Dialect, type Table } from "../../provider/emulator";
import { dialects, domainInputs, monitorInputs } from "../support/arbitraries";
import type { Kind } from "../support/calls";
import { VirtualClock } from "../support/clock";
import { engineUnknown } from "../support/marks";
import type { Inputs, ModelResource } from "../support/model";
import { canonical, comparable, expected, held, snake, toRecord } from "../support/oracle";
import { fronts, Program, type Front } from "../support/program";
import { assertProperty } from "../support/property";
import { apiKey, origin, SimulatedApi } from "../support/simulated/api";
import { SimulatedProcess } from "../support/simulated/process";
import { sample } from "../support/size";

/** The fields that are managed only if they are declared. */
const optionalKeys = (kind: Kind): string[] =>
  Object.entries(definitions.find(({ singular }) => singular === kind)?.fields ?? {})
    .filter(([, field]) => !field.required && field.default === undefined)
    .map(([key]) => key);

let time: VirtualClock;
let api: SimulatedApi;

/** Runs cases, each against a server of its own. */
function holds<Case>(
  cases: fc.Arbitrary<Case>,
  numRuns: number,
  run: (one: Case) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(cases, (one) => {
    time = new VirtualClock();
    api = new SimulatedApi(time);
    return time.until(run(one));
  });
  return assertProperty(property, { numRuns });
}

const tableOf = (kind: Kind): Table => api.tables[kind];

function stackFor(
  front: Front,
  kind: Kind,
  dialect: Partial<Dialect>,
  ignoreChanges: string[] = [],
): ModelResource {
  api.dialect = completeDialect(dialect);
  const config = { "uptime:baseUrl": origin, "uptime:apiKey": apiKey };
  const { clock, transport, runNote, print } = new SimulatedProcess(time, api);
  const surroundings = { clock, transport, runNote, print, restarts: front === "plugin" };
  return new Program(front, config, surroundings).resource(kind, { ignoreChanges });
}

function recordOf(kind: Kind, stack: ModelResource): Readonly<Record<string, unknown>> {
  const record = tableOf(kind).get(stack.state?.id ?? "");
  if (!record) throw new Error("the API holds no such record");
  return record;
}

function assertHeld(kind: Kind, stack: ModelResource, ...history: Inputs[]): void {
  const wanted = expected(kind, ...history);
  expect(held(kind, recordOf(kind, stack), wanted)).toEqual(wanted);
}

const inputsOf = { monitor: monitorInputs, domain: domainInputs };

const subjects = fronts.flatMap((front) =>
  (["monitor", "domain"] as const).map((kind) => [front, kind] as const),
);

describe.each(subjects)("a %s %s, whatever the dialect", (front, kind) => {
  const inputs = inputsOf[kind];
  // Each command of a stack on the plugin has a process of its own, which takes its time.
  const runs = front === "plugin" ? sample(2, 3, 1000) : sample(3, 8, 1000);

  test("from any declared state to any other, the API holds what is declared and the next preview is empty", async () => {
    await holds(fc.tuple(inputs, inputs, inputs, dialects), runs, async ([first, second, third, dialect]) => {
      const stack = stackFor(front, kind, dialect);
      const history: Inputs[] = [];
      for (const declared of [first, second, third]) {
        const plan = await stack.up(declared);
        // A replacement begins a new record, where nothing was declared before.
        if (plan === "replace") history.length = 0;
        history.push(declared);
        assertHeld(kind, stack, ...history);
        const writes = api.writes().length;
        expect(await stack.up(declared)).toBe("same");
        await stack.refresh();
        expect(await stack.preview(declared)).toBe("same");
        await stack.refresh();
        expect(await stack.up(declared)).toBe("same");
        expect(api.writes()).toHaveLength(writes);
      }
      expect(tableOf(kind).size).toBe(1);
      stack.nextRun();
      await stack.destroy();
      expect(tableOf(kind).size).toBe(0);
    });
  });

  test("an unknown value is accepted in a preview, and is a change", async () => {
    const unknownKeys = fc.infiniteStream(fc.boolean());
    await holds(
      fc.tuple(inputs, inputs, unknownKeys, dialects),
      runs,
      async ([first, second, isUnknown, dialect]) => {
        const stack = stackFor(front, kind, dialect);
        const keys = Object.keys(second).filter(() => isUnknown.next().value === true);
        const declared = { ...second, ...Object.fromEntries(keys.map((key) => [key, engineUnknown])) };
        expect(await stack.preview(declared)).toBe("create");
        await stack.up(first);
        const writes = api.writes().length;
        const plan = await stack.preview(declared);
        if (keys.length > 0) expect(plan).toMatch(/^(update|replace)$/);
        expect(api.writes()).toHaveLength(writes);
      },
    );
  });

  test("a field that is not managed keeps an edit by hand, which is never a change", async () => {
    await holds(fc.tuple(inputs, inputs, inputs, dialects), runs, async ([first, other, second, dialect]) => {
      const stack = stackFor(front, kind, dialect);
      await stack.up(first);
      const free = optionalKeys(kind).filter((key) => !(key in first));
      const byHand = Object.fromEntries(
        free.filter((key) => key in other).map((key) => [snake(key), toRecord(key, other[key])]),
      );
      tableOf(kind).edit(Number(stack.state?.id), byHand);
      await stack.refresh();
      await stack.refresh();
      expect(await stack.up(first)).toBe("same");
      const plan = await stack.up({ ...second, name: first.name });
      expect(plan).not.toBe("replace");
      for (const key of free.filter((one) => !(one in second)))
        if (key in other)
          expect(canonical(kind, key, recordOf(kind, stack)[snake(key)])).toEqual(
            canonical(kind, key, toRecord(key, other[key])),
          );
    });
  });

  test("a field in ignoreChanges stays as it is in the API, and the others become what is declared", async () => {
    // An ignored condition may not fit the declared text, and an ignored date not the declared one.
    const keys = optionalKeys(kind).filter((key) => !/^(alertTextLookup|maintenance)/.test(key));
    const ignored = fc.subarray([
      ...keys,
      ...(kind === "monitor" ? ["url", "interval", "requestMethod"] : []),
    ]);
    await holds(fc.tuple(inputs, inputs, inputs, ignored, dialects), runs, async (drawn) => {
      const [first, edited, second, ignoreChanges, dialect] = drawn;
      const stack = stackFor(front, kind, dialect, ignoreChanges);
      await stack.up(first);
      const byHand = ignoreChanges.filter((key) => key in edited);
      const values = byHand.map((key) => [snake(key), toRecord(key, edited[key])] as const);
      tableOf(kind).edit(Number(stack.state?.id), Object.fromEntries(values));
      await stack.refresh();
      const before = { ...recordOf(kind, stack) };
      const declared = { ...second, name: first.name };
      await stack.up(declared);
      const record = recordOf(kind, stack);
      for (const key of ignoreChanges) expect(record[snake(key)]).toEqual(before[snake(key)]);
      const others = Object.entries(expected(kind, first, declared));
      const wanted = Object.fromEntries(others.filter(([key]) => !ignoreChanges.includes(key)));
      expect(held(kind, record, wanted)).toEqual(wanted);
      expect(await stack.up(declared)).toBe("same");
    });
  });

  test("an edit by hand of any managed field is found and repaired", async () => {
    await holds(fc.tuple(inputs, inputs, dialects), runs, async ([first, edited, dialect]) => {
      const stack = stackFor(front, kind, dialect);
      await stack.up(first);
      const before = recordOf(kind, stack);
      const shown = (key: string): boolean =>
        key !== "requestAuthPassword" &&
        !(key === "pause" && dialect.pauseShown === "hidden") &&
        dialect.hidden?.includes(snake(key)) !== true;
      const changes = Object.keys(first)
        .filter((key) => key in edited && shown(key) && !(kind === "domain" && key === "name"))
        .filter((key) => !(dialect.emptyAs === "absent" && isNothing(edited[key])));
      const byHand = Object.fromEntries(changes.map((key) => [snake(key), toRecord(key, edited[key])]));
      tableOf(kind).edit(Number(stack.state?.id), byHand);
      const isReal = changes.some(
        (key) =>
          JSON.stringify(comparable(kind, key, before[snake(key)])) !==
          JSON.stringify(comparable(kind, key, byHand[snake(key)])),
      );
      await stack.refresh();
      expect(await stack.preview(first)).toBe(isReal ? "update" : "same");
      await stack.up(first);
      // What means the same to a person is left as the other person wrote it.
      const wanted = expected(kind, first);
      const record = recordOf(kind, stack);
      for (const key of Object.keys(wanted))
        expect(comparable(kind, key, record[snake(key)])).toEqual(
          comparable(kind, key, toRecord(key, key in first ? first[key] : wanted[key])),
        );
    });
  });
});

const isNothing = (value: unknown): boolean => value === "" || (Array.isArray(value) && value.length === 0);
