import { connect } from "node:net";

import { Front, type CheckRequest, type CheckResult, type FrontContext } from "./front";
import type { ToldInputs } from "./told";

/** Tells the process that runs the preview what a program declares: see `tellVariable`. */
export class TellingFront extends Front {
  constructor(
    context: FrontContext,
    private readonly socket: string,
  ) {
    super(context);
  }

  override async check(request: CheckRequest): Promise<CheckResult> {
    const result = await super.check(request);
    if (request.name !== undefined) await this.tell({ name: request.name, inputs: result.inputs });
    return result;
  }

  /** Ends once all is told, because this process may end after the last check. If nobody listens any more, nothing is told. */
  private tell(told: ToldInputs): Promise<void> {
    return new Promise((resolve) => {
      const connection = connect(this.socket);
      connection
        .on("error", () => undefined)
        .on("close", () => {
          resolve();
        });
      connection.resume().end(JSON.stringify(told));
    });
  }
}
