import { isRefused } from "../collect";
import type { Collector } from "../collect";
import type { Host, PropertyChange, ReadResult, ResourceRequest } from "./resource-request";
import { PluginResources } from "./resources";

/** The resources of one kind in the plugin, collecting what a preview would refuse. */
export class CollectingResources extends PluginResources {
  /** The ids of imports, by URN, and why a record cannot be read. The engine reads before it checks, and stops if that fails. */
  private readonly found = new Map<string, { readonly id: string; readonly problem?: string }>();

  constructor(
    host: Host,
    private readonly collector: Collector,
    /** The name of an explicit provider. */
    private readonly provider: () => string | undefined,
  ) {
    super(host);
  }

  override async check(request: ResourceRequest): ReturnType<PluginResources["check"]> {
    const { urn, inputs: news } = request;
    const imported = this.found.get(urn);
    const olds = imported ? {} : request.oldInputs;
    const { inputs } = await this.collector.check(
      { olds, news, importId: imported?.id, key: urn, provider: this.provider() },
      async () => {
        const { inputs, problems } = await super.check(request);
        return {
          inputs,
          problems: imported?.problem === undefined ? problems : [...problems, imported.problem],
        };
      },
    );
    return { inputs, problems: [] };
  }

  override diff(request: ResourceRequest): ReturnType<PluginResources["diff"]> {
    const { urn, inputs } = request;
    const change = { kind: "update", replaces: false, isOfInputs: true } as const;
    const result = (changed: readonly string[]) => ({
      changes: new Map<string, PropertyChange>(changed.map((property) => [property, change])),
      deleteBeforeReplace: false,
    });
    // A change would make the engine refuse an import.
    if (this.found.has(urn)) return result([]);
    if (isRefused(inputs)) return result(Object.keys(inputs).slice(0, 1));
    try {
      return super.diff(request);
    } catch (error) {
      this.collector.addFailure(error, inputs, urn);
      return result([]);
    }
  }

  override create(request: ResourceRequest): ReturnType<PluginResources["create"]> {
    return request.isPreview ? super.create(request) : this.collector.refuse();
  }

  override update(request: ResourceRequest): ReturnType<PluginResources["update"]> {
    return request.isPreview ? super.update(request) : this.collector.refuse();
  }

  override delete(): Promise<void> {
    return this.collector.refuse();
  }

  override async read(request: ResourceRequest): Promise<ReadResult | undefined> {
    const { urn, id } = request;
    if (!request.isImport) return super.read(request);
    try {
      const read = await super.read(request);
      this.found.set(urn, { id });
      return read;
    } catch (error) {
      this.found.set(urn, {
        id,
        problem: `import of ${this.definition.singular} ${id} is not possible: ${this.collector.encoder.error(error)}`,
      });
      return { id, outputs: {}, inputs: {} };
    }
  }
}
