import type { Definition } from "../../definitions/field";
import { unknown } from "../../definitions/unknown";
import type { Lifecycle, Properties } from "../../lifecycle/lifecycle";
import type { Inputs, Options, Outputs, State } from "../../lifecycle/resource";
import { unknownValue } from "../marks";
import type { Life } from "./provider";
import { outputsIn } from "./state";

/** The old lifecycle behind the new seam, until the new one is there. */
export function oldLife(definition: Definition, life: Lifecycle): Life {
  const own = (options: Options): object => ({
    __options: {
      ignoreChanges: options.ignoreChanges,
      importer: options.resource,
      ...(options.timeout && {
        customTimeouts: Object.fromEntries(["create", "update", "delete"].map((key) => [key, `${options.timeout ?? 0}ms`])),
      }),
    },
  });
  const wire = (value: unknown): unknown => (value === unknown ? unknownValue : value);
  const inputs = ({ values, account, importId }: Inputs, options: Options): Properties => ({
    ...Object.fromEntries(Object.entries(values).map(([key, value]) => [key, wire(value)])),
    ...(account !== undefined && { account }),
    ...(importId !== undefined && { importId }),
    ...own(options),
  });
  const outputs = (o: Outputs): Properties => ({
    ...o.values,
    attributes: o.attributes,
    ...(o.account !== undefined && { account: o.account }),
    ...(o.server !== undefined && { __server: o.server }),
    ...(o.isReadOnly && { __readOnly: true }),
  });
  const state = ({ id, outputs: out }: { id: string; outputs: Properties }): State => ({
    id,
    outputs: outputsIn(definition, out),
  });
  return {
    async check({ declared, account, importId, old, options }) {
      const olds = old ? inputs(old, options) : {};
      const news = {
        ...Object.fromEntries(Object.entries(declared).map(([key, value]) => [key, wire(value)])),
        ...(account !== undefined && { account }),
        ...(importId !== undefined && { importId }),
        ...own(options),
      };
      const checked = life.check(olds, news);
      const notes = await life.checkImport(olds, news, checked);
      const { account: acc, importId: imp, __options, ...values } = checked.inputs;
      return {
        inputs: {
          values: Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v === unknownValue ? unknown : v])),
          account: acc as string | undefined,
          importId: imp as string | undefined,
        },
        problems: checked.problems,
        notes,
      };
    },
    diff: (r) => life.diff(r.id, outputs(r.outputs), inputs(r.inputs, r.options)),
    create: async (i, o) => state(await life.create(inputs(i, o))),
    read: async (id, out) => {
      const s = await life.read(id, outputs(out));
      return s && state(s);
    },
    get: async (id, account) => {
      const s = await life.read(id, account === undefined ? {} : { account });
      if (!s) throw new Error(`There is no ${definition.singular} ${id}.`);
      return state(s);
    },
    update: async (id, out, i, o) => state(await life.update(id, outputs(out), inputs(i, o))),
    delete: (id, out) => life.delete(id, outputs(out)),
  };
}
