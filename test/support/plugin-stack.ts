import type { Clock } from "../../provider/api/clock";
import type { Kind, Settings } from "./calls";
import { ModelStack, type Inputs } from "./model";
import { startPlugin } from "./plugin-calls";

/**
 * The same with the provider plugin. Each command has a process of its own, because the plugin knows resources by their
 * URNs, and takes nothing that it has made for what state holds.
 */
export class PluginStack extends ModelStack {
  constructor(kind: Kind, config: Settings, options = {}, clock?: Clock, start = startPlugin) {
    super(kind, config, options, clock, start);
  }

  override preview(declared: Inputs): ReturnType<ModelStack["preview"]> {
    this.nextRun();
    return super.preview(declared);
  }

  override refresh(): Promise<void> {
    this.nextRun();
    return super.refresh();
  }
}
