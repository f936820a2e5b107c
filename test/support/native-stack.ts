import type { Clock } from "../../provider/api/clock";
import { systemClock } from "../../provider/api/clock";
import type { Engine } from "../../provider/engine/plugin/engine";
import { methodsOf } from "../../provider/engine/plugin/grpc";
import { PluginSession as Session } from "../../provider/engine/plugin/session";
import type { Provider } from "./calls";
import { ModelStack } from "./model";
import type { Inputs } from "./model";
import { nativeCalls } from "./native-calls";

/**
 * The same with the provider plugin, as a program in YAML uses it. Each command has a process of its own, because the plugin
 * knows resources by their URNs, and takes nothing that it has made for what state holds.
 */
export class NativeStack extends ModelStack {
  constructor(
    kind: "monitor" | "domain",
    config: Readonly<Record<string, string>>,
    options = {},
    clock: Clock = systemClock,
  ) {
    super(kind, config, options, clock, nativeProcess);
  }

  override preview(declared: Inputs): ReturnType<ModelStack["preview"]> {
    this.nextRun();
    return super.preview(declared);
  }

  override refresh(): Promise<void> {
    this.nextRun();
    return super.refresh();
  }

  override destroy(): Promise<void> {
    this.nextRun();
    return super.destroy();
  }
}

/** The plugin in a process of its own. */
export function nativeProcess(
  kind: "monitor" | "domain",
  config: Readonly<Record<string, string>>,
  clock: Clock = systemClock,
): Provider {
  const engine = {
    attach: () => undefined,
    log: () => undefined,
    flush: () => Promise.resolve(),
  } as unknown as Engine;
  const session = new Session(engine, {}, clock && { clock });
  const methods = methodsOf(engine, "1.0.0", { session: () => session, schema: () => "" });
  return nativeCalls(methods, `uptime:index:${kind === "monitor" ? "Monitor" : "Domain"}`, config);
}
