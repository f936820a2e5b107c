import fc from "fast-check";

import { dialects, domainInputs, monitorInputs } from "../support/arbitraries";
import type { Inputs } from "../support/model";
import { expected, held } from "../support/oracle";
import type { Kind } from "../support/oracle";
import { sample } from "../support/size";
import { programOf, startStack, stopStacks } from "../support/stack";
import type { Declared } from "../support/stack";

// A sample of what semantics.test.ts shows under a model of the engine, under the engine itself.
const rounds = sample(1, 1, 8);
const each = 10;

afterEach(stopStacks);

const classes = { monitor: "Monitor", domain: "Domain" } as const;

/** Pairs of declared states, one after the other; a domain keeps its name, which replacements are about. */
const pairs = fc.tuple(
  fc.array(fc.tuple(monitorInputs, monitorInputs), { minLength: each, maxLength: each }),
  fc.array(fc.tuple(domainInputs, domainInputs), { minLength: 5, maxLength: 5 }),
  dialects,
);

test("from any declared state to any other, on the real engine, in any dialect", async () => {
  await fc.assert(
    fc.asyncProperty(pairs, async ([monitors, domains, dialect]) => {
      // A refusal that names no field is told for a whole form, so each resource must be acceptable by itself.
      const { emulator, workspace } = await startStack({
        emulator: { dialect: { ...dialect, uniqueDomainNames: false } },
        config: { "uptime:goneStatuses": "403" },
      });
      const program = (step: 0 | 1): Declared[] => [
        ...monitors.map((pair, index) => ({ kind: classes.monitor, name: `m${index}`, args: pair[step] })),
        ...domains.map(([first, second], index) => ({
          kind: classes.domain,
          name: `d${index}`,
          args: { ...(step === 0 ? first : second), name: first.name },
        })),
      ];
      const histories = new Map<string, Inputs[]>();
      for (const step of [0, 1] as const) {
        const declared = program(step);
        await workspace.write(programOf(declared));
        await workspace.up();
        const resources = await workspace.resources();
        for (const { kind, name, args } of declared) {
          const history = [...(histories.get(name) ?? []), args];
          histories.set(name, history);
          const of: Kind = kind === "Monitor" ? "monitor" : "domain";
          const table = of === "monitor" ? emulator.monitors : emulator.domains;
          const wanted = expected(of, ...history);
          expect({ name, ...held(of, table.get(resources[name]?.id ?? "") ?? { id: 0 }, wanted) }).toEqual({
            name,
            ...wanted,
          });
        }
        expect([emulator.monitors.size, emulator.domains.size]).toEqual([monitors.length, domains.length]);
        emulator.forget();
        await workspace.up("--refresh", "--expect-no-changes");
        expect(emulator.writes()).toEqual([]);
      }
      await workspace.destroy();
      expect([emulator.monitors.size, emulator.domains.size]).toEqual([0, 0]);
    }),
    { numRuns: rounds, endOnFailure: true },
  );
});
