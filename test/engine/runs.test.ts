import fc from "fast-check";

import type { Emulator } from "../../provider/emulator";
import type { StoredRecord } from "../../provider/emulator/table";
import { kinds } from "../support/calls";
import { answer } from "../support/emulator";
import { assertProperty } from "../support/property";
import type { ShownRecord } from "../support/simulated/api";
import { urnOf, type Declared } from "../support/simulated/engine";
import { dynamicFront } from "../support/simulated/front";
import { applyEdit, isRefused, play } from "../support/simulated/runs";
import { at, inOrder, scenarios, urnsAt } from "../support/simulated/scenarios";
import type { PlannedRun, Scenario } from "../support/simulated/scenarios";
import { sample } from "../support/size";
import { imports, startStack } from "../support/stack";
import type { Workspace } from "../support/workspace";

const real = (urn: string): string => urn.replace("stack::project", "test::workspace");

/** The program of a run, each resource waiting for the one before it. */
function programOf(all: readonly Declared[]): string {
  const lines = all.map((declared, place) => {
    const { kind, name, args, parent, import: id, formerly = [] } = declared;
    const { ignoreChanges, retainOnDelete, deleteBeforeReplace } = declared;
    const aliases = formerly.map((one) => real(urnOf({ kind, ...one })));
    const options = JSON.stringify({
      import: id,
      ignoreChanges,
      retainOnDelete,
      deleteBeforeReplace,
      aliases,
    });
    const before = place === 0 ? "" : `r${place - 1}`;
    const under = parent === undefined ? "undefined" : `part(${JSON.stringify(parent)})`;
    return `const r${place} = new ${kind === "monitor" ? "Monitor" : "Domain"}(${JSON.stringify(name)},
      ${JSON.stringify(args)}, { ...${options}, dependsOn: [${before}], parent: ${under} });`;
  });
  return `${imports}
    const parts = {};
    const part = (type) => (parts[type] ??= new pulumi.ComponentResource(type, "part"));
    ${lines.join("\n")}`;
}

async function runReal(run: PlannedRun, workspace: Workspace, emulator: Emulator): Promise<boolean> {
  const withId = (record: StoredRecord): ShownRecord => ({ ...record, id: String(record.id) });
  for (const event of run.before)
    if ("edit" in event)
      applyEdit(event, {
        all: (kind) => emulator[`${kind}s`].all().map(withId),
        add: (kind, fields) => withId(emulator[`${kind}s`].add(fields)),
        edit: (kind, id, fields) => void emulator[`${kind}s`].edit(id, fields),
        remove: (kind, id) => void emulator[`${kind}s`].remove(id),
      });
  await workspace.setConfig({ "uptime:adoptExisting": String(run.adoptExisting) });
  await workspace.write(programOf(run.program));
  const [command = "up", ...flags] = run.command.split(" ");
  const named = (flag: string, places: readonly number[] | undefined): string[] =>
    (urnsAt(run.program, places) ?? []).flatMap((urn) => [flag, real(urn)]);
  const { code } = await workspace.run([
    command,
    "--yes",
    "--skip-preview",
    ...flags,
    ...(run.isContinued && command !== "refresh" ? ["--continue-on-error"] : []),
    ...named("--target", run.targets),
    ...(run.targets && run.isForDependents ? ["--target-dependents"] : []),
    ...named("--exclude", run.excluded),
    // The component of a target is made with it.
    ...(run.targets ?? []).flatMap((place) => {
      const parent = at(run.program, place)?.parent;
      return parent === undefined ? [] : ["--target", `urn:pulumi:test::workspace::${parent}::part`];
    }),
    ...named("--replace", run.replace),
  ]);
  return code === 0;
}

/** What a person can see of a record. */
const visible = (table: { all(): readonly Record<string, unknown>[] }): unknown[] =>
  table.all().map(({ id, name, url, interval, homepage_url, ssl_alert_days, pause }) => {
    return { id, name, url, interval, homepage_url, ssl_alert_days, pause: Boolean(pause) };
  });

async function compareRuns(scenario: Scenario): Promise<void> {
  const simulated = await play(scenario, dynamicFront, { isRepaired: false });
  const { emulator, workspace } = await startStack({ emulator: { dialect: { uniqueDomainNames: false } } });
  emulator.fault = ({ body }) => (isRefused(body) ? answer(422, { message: "This is refused." }) : undefined);
  for (const { kind, fields } of scenario.records) emulator[`${kind}s`].add(fields);
  const green: boolean[] = [];
  for (const run of scenario.runs) green.push(await runReal(run, workspace, emulator));
  const { deployment } = await workspace.exportState();
  const state = (deployment.resources ?? [])
    .filter(({ type }) => type.startsWith("pulumi-nodejs:"))
    .map(({ urn, id = "", delete: isDelete = false }) => `${urn} ${id} ${isDelete}`);
  expect({
    green,
    state: state.sort(),
    records: kinds.map((kind) => visible(emulator[`${kind}s`])),
  }).toEqual({
    green: simulated.outcomes.map(({ errors }) => errors.length === 0),
    state: simulated.engine.state.map(({ urn, id, isDelete }) => `${real(urn)} ${id} ${isDelete}`).sort(),
    records: kinds.map((kind) => visible(simulated.api.tables[kind])),
  });
}

test("the real engine ends random runs like the simulated one", async () => {
  await assertProperty(
    fc.asyncProperty(scenarios.map(inOrder), compareRuns),
    // Always the same ones, because each takes long.
    { numRuns: sample(2, 2, 40), seed: 2, endOnFailure: true },
  );
});
