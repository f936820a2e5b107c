import * as pulumi from "@pulumi/pulumi";

/** A resource as the program hands it to the engine. */
export interface Registered {
  readonly type: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The id of a resource that is only read. */
  readonly id?: string | undefined;
}

/** Runs programs without an engine, as a unit test of a user does. Each resource gets an id, unless this is a preview. */
export async function startMocks({
  preview = false,
  created = () => undefined,
}: {
  preview?: boolean;
  /** Called some time after the registration of a resource, when it is there. */
  created?: (name: string) => void;
} = {}): Promise<Registered[]> {
  const registered: Registered[] = [];
  const made = (name: string): string | undefined => (preview ? undefined : `${name}-id`);
  await pulumi.runtime.setMocks(
    {
      newResource: async ({ type, name, inputs, id }) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        created(name);
        registered.push({ type, name, inputs: inputs as Record<string, unknown>, id });
        return { id: id === "" || id === undefined ? made(name) : id, state: inputs as object };
      },
      call: ({ inputs }) => inputs as Record<string, unknown>,
    },
    "program",
    "test",
    preview,
  );
  return registered;
}

/** The value of an output, and whether it is known. */
export async function settled<T>(
  output: pulumi.Output<T>,
): Promise<{ value: T | undefined; isKnown: boolean }> {
  const inside = output as unknown as {
    promise(): Promise<T | undefined>;
    allResources(): Promise<unknown>;
    isKnown: Promise<boolean>;
    isSecret: Promise<boolean>;
  };
  // Each of them is rejected by an error, and must be waited for.
  const [value, isKnown] = await Promise.all([
    inside.promise(),
    inside.isKnown,
    inside.isSecret,
    inside.allResources(),
  ]);
  return { value, isKnown };
}
