import { connect } from "node:net";

import * as z from "zod/mini";

import { UptimeError } from "../api/errors";
import type { Changes } from "../lifecycle/diff";
import { ownerOf, type Owner } from "../lifecycle/owners";
import {
  SharedFront,
  type CheckRequest,
  type CheckResult,
  type DiffRequest,
  type FrontContext,
} from "./shared-front";

/**
 * The environment variable with which `pulumi-uptime doctor --program` and `try` run a preview. It names a socket to which the
 * provider sends each checked resource, with its secrets: the engine prints those as `[secret]`, also with `--show-secrets`, and they
 * must not be in a file. With it, checks refuse nothing, because the engine stops at the first refusal, and the provider creates,
 * updates and deletes nothing.
 */
export const collectVariable = "PULUMI_UPTIME_COLLECT";

/** What one connection carries: a resource that was checked, or whose diff was refused. */
export const collectedResource = z.object({
  urnSuffix: z.string(),
  /** The inputs, with their secrets. */
  inputs: z.record(z.string(), z.unknown()),
  /** Why it would be refused; each begins with the property. */
  problems: z.array(z.string()),
});

export type CollectedResource = z.infer<typeof collectedResource>;

/** Tells what a program declares and a preview would refuse, and lets the preview go on: see {@link collectVariable}. */
export class CollectingFront extends SharedFront {
  override readonly tellRefusal: SharedFront["tellRefusal"] = (urnSuffix, refusal) =>
    this.sendToCommand({ urnSuffix, inputs: {}, problems: [this.redactorFor({}).problem(refusal)] });

  private readonly refused = new Set<Owner>();

  constructor(
    context: FrontContext,
    private readonly socket: string,
  ) {
    super(context);
  }

  override async check(request: CheckRequest): Promise<CheckResult> {
    const { urnSuffix, news } = request;
    let result: CheckResult;
    try {
      result = await super.check(request);
    } catch (error) {
      result = { inputs: this.markSecrets(news, news), problems: [this.redactorFor(news).error(error)] };
    }
    const { inputs, problems } = result;
    const isTold =
      urnSuffix !== undefined && (await this.sendToCommand({ urnSuffix, inputs, problems: [...problems] }));
    if (!isTold) return result;
    if (problems.length > 0) this.refused.add(ownerOf(urnSuffix));
    return { inputs, problems: [] };
  }

  override async diff(request: DiffRequest): Promise<Changes> {
    const { news, options } = request;
    const { owner } = options;
    const unchanged: Changes = { changed: [], replaces: [], deleteBeforeReplace: false };
    if (owner && this.refused.has(owner)) return unchanged;
    try {
      return await super.diff(request);
    } catch (error) {
      const urnSuffix = this.context.session.owners.urnSuffixOf(owner);
      const problems = [this.redactorFor(news).error(error)];
      if (urnSuffix !== undefined && (await this.sendToCommand({ urnSuffix, inputs: news, problems })))
        return unchanged;
      throw error;
    }
  }

  override save(): never {
    return refuseWrites();
  }

  override delete(): never {
    return refuseWrites();
  }

  /**
   * Sends a resource to the command; false if the command did not receive it. Waits for the answer, because this process may end
   * after the last check.
   */
  private sendToCommand(resource: CollectedResource): Promise<boolean> {
    return new Promise((resolve) => {
      let isReceived = false;
      connect(this.socket)
        .on("data", () => (isReceived = true))
        .on("error", () => undefined)
        .on("close", () => {
          resolve(isReceived);
        })
        .end(JSON.stringify(resource));
    });
  }
}

function refuseWrites(): never {
  throw new UptimeError(
    `${collectVariable} is set, so this run only collects what a preview would refuse. Unset it to create, update or delete.`,
  );
}
