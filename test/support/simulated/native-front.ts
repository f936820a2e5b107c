import type { methodsOf } from "../../../provider/engine/plugin/grpc";
import type { Session } from "../../../provider/engine/plugin/session";
import { nativeCalls } from "../native-calls";
import type { Front } from "./front";

/** The provider plugin, as a program in YAML uses it. */
export const nativeFront: Front = {
  name: "native",

  register: ({ args, import: importId }) =>
    Promise.resolve({
      inputs: args,
      deleteBeforeReplace: false,
      ...(importId !== undefined && { importId }),
    }),

  provider(process, kind, settings) {
    const server = process.load("provider/engine/plugin/grpc") as { methodsOf: typeof methodsOf };
    const { Session: OwnSession } = process.load("provider/engine/plugin/session") as {
      Session: typeof Session;
    };
    const engine = {
      attach: () => undefined,
      log: (_severity: string, message: string) => process.printed.push(message),
      flush: () => Promise.resolve(),
    } as unknown as ConstructorParameters<typeof Session>[0];
    const session = new OwnSession(engine, {});
    const methods = server.methodsOf(engine, "1.0.0", { session: () => session, schema: () => "" });
    return nativeCalls(methods, `uptime:index:${kind === "monitor" ? "Monitor" : "Domain"}`, settings);
  },
};
