import { KeyRefusedError, UptimeError } from "../api/errors";
import { counted } from "../definitions/text";
import { Session } from "../lifecycle/session";

/** More lines would push errors off the screen. */
const announcementLimit = 19;

/** A session with what the fronts of a process share besides: what a run tells people only once, or only so often. */
export class FrontSession extends Session {
  /** A program has declared a resource, so the settings are its own. */
  hasProgram = false;
  /** The settings whose keys the API has refused. */
  private readonly refusedKeys = new Set<string>();
  /** How many imports and adoptions there were. */
  private announced = 0;
  private hasRefused = false;

  /** Shows an import or adoption, unless there were many. */
  announce(show: () => void): void {
    if (++this.announced <= announcementLimit) show();
  }

  /** Notes that a check has refused inputs. The engine stops at the first one, so the end of the log names `doctor`. */
  rememberRefusal(): void {
    this.hasRefused = true;
  }

  /** Only the first error about a refused key explains what to do; others refer to it. */
  explainKeyOnce(error: unknown): unknown {
    if (!(error instanceof KeyRefusedError)) return error;
    const { keySource } = error;
    if (!this.refusedKeys.has(keySource)) {
      this.refusedKeys.add(keySource);
      return error;
    }
    return new UptimeError(
      `The API does not accept the key from ${keySource}; the error of another resource says what to do.`,
      { cause: error },
    );
  }

  /** Prints a hint after a refusal, how many announcements were left out, and the log's summary. */
  override endLogs(): void {
    const more = this.announced - announcementLimit;
    if (this.hasRefused)
      this.print("uptime: pulumi-uptime doctor --program lists everything that the preview refuses.");
    if (more > 0)
      this.print(
        `uptime: ${counted(more, "more record")} imported or adopted; pulumi-uptime doctor --program lists all imports.`,
      );
    this.announced = 0;
    this.hasRefused = false;
    super.endLogs();
  }
}
