import { join, sep } from "node:path";

/**
 * Limits V8's stack traces while the SDK registers a resource, until they are restored.
 *
 * The SDK captures several traces for every property, to report where an output was made that nobody awaits. Without
 * them, a program of 1000 resources takes 4.8 s of CPU instead of 8.1 s. One more trace goes into state as the
 * resource's source position; it is cut after the line of the program that makes the resource, because every byte of
 * state is written for each resource of a run.
 */
export class LimitedTraces {
  private readonly limit = v8.stackTraceLimit;
  private readonly format = v8.prepareStackTrace;

  constructor() {
    const format = this.format ?? (process.sourceMapsEnabled ? undefined : asText);
    v8.stackTraceLimit = 0;
    // Without a format, Node.js itself maps positions to sources, which cannot be asked for from here.
    if (format) v8.prepareStackTrace = (error, frames) => format(error, shortened(frames));
  }

  restore(): void {
    v8.stackTraceLimit = this.limit;
    v8.prepareStackTrace = this.format;
  }

  /** An error that was thrown meanwhile, with the trace that it lacks: from the line that makes the resource. */
  completed(error: unknown, resource: NewableFunction): unknown {
    this.restore();
    if (error instanceof Error) Error.captureStackTrace(error, resource);
    return error;
  }
}

/**
 * The frames that the SDK expects: its own, one of a resource's class, and the program's line. The SDK finds that line by
 * its place, so of the classes of this package only the last frame may stay.
 */
function shortened(frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  const files = frames.map((frame) => frame.getFileName() ?? "");
  const line = files.findIndex((file) => !isSdk(file) && !file.startsWith(ownFolder));
  if (line < 0) return frames;
  return frames.filter((frame, index) =>
    index === line
      ? hasPosition.test(lineOf(frame))
      : index === line - 1 || (index < line && isSdk(files[index] ?? "")),
  );
}

/** A frame whose position the SDK can read, which is none of a function without a name; others are empty in state. */
const hasPosition = /\(.*:\d+:\d+\)$/;

/** The folder of this package's code. */
const ownFolder = join(__dirname, "..") + sep;

const isSdk = (file: string): boolean => /[\\/]node_modules[\\/]@pulumi[\\/]pulumi[\\/]/.test(file);

type Format = (error: Error, frames: NodeJS.CallSite[]) => unknown;

/** V8's settings for all traces. */
const v8: { stackTraceLimit: number; prepareStackTrace?: Format | undefined } = Error;

/** A frame in V8's own format. */
const lineOf: (frame: NodeJS.CallSite) => string = String;

const asText: Format = (error, frames) => [String(error), ...frames.map(lineOf)].join("\n    at ");
