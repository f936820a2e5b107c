import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

import { UptimeError } from "../api/errors";
import type { Properties } from "../common/marks";
import { hiddenNames } from "../common/pulumi";
import type { Changes } from "../lifecycle/diff";
import type { EngineOptions, Outputs } from "../lifecycle/resource";
import { collectVariable, type CollectedRefusal } from "./collected";
import { Front, type CheckRequest, type CheckResult, type FrontContext } from "./front";

/** Writes down what a preview would refuse, and lets the preview go on: see {@link collectVariable}. */
export class CollectingFront extends Front {
  override readonly isCollecting = true;

  constructor(
    context: FrontContext,
    private readonly file: string,
  ) {
    super(context);
  }

  override async check(request: CheckRequest): Promise<CheckResult> {
    const { declaration, news } = request;
    let result: CheckResult;
    try {
      result = await super.check(request);
    } catch (error) {
      result = { inputs: this.markSecrets(news, news), problems: [this.redactorFor(news).error(error)] };
    }
    const { inputs, problems } = result;
    if (problems.length === 0) return result;
    const resource = declaration.options.urn ?? randomUUID();
    const importId = typeof declaration.importId === "string" ? declaration.importId : undefined;
    this.add({ resource, importId, problems: [...problems] });
    return { inputs: { ...inputs, [hiddenNames.refused]: resource }, problems: [] };
  }

  override diff(id: string, outputs: Outputs, news: Properties, options: EngineOptions): Changes {
    // Only a change gets a step in the preview, whose URN says which resource it is. The engine refuses an import that changes
    // something, but tells its plugins the URN.
    const step: Changes = {
      changed: options.urn === undefined ? [hiddenNames.refused] : [],
      replaces: [],
      deleteBeforeReplace: false,
    };
    if (news[hiddenNames.refused] !== undefined) return step;
    try {
      return super.diff(id, outputs, news, options);
    } catch (error) {
      this.add({ resource: options.urn, id, problems: [this.redactorFor(news).error(error)] });
      return step;
    }
  }

  override save(): never {
    return refuseWrites();
  }

  override delete(): never {
    return refuseWrites();
  }

  private add(refusal: Omit<CollectedRefusal, "label">): void {
    const { label } = this.definition;
    appendFileSync(this.file, `${JSON.stringify({ label, ...refusal })}\n`);
  }
}

function refuseWrites(): never {
  throw new UptimeError(
    `${collectVariable} is set, so this run only collects what a preview would refuse. Unset it to create, update or delete.`,
  );
}
