/** Inputs or outputs of a resource, as the engine keeps them. */
export type Properties = Readonly<Record<string, unknown>>;
