import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as zlib from "node:zlib";

import { transformSync } from "esbuild";
import * as undici from "undici";

import type { Owner, SimulatedTime } from "./time";

const repository = join(__dirname, "..", "..", "..");

/** Carries requests of a simulated process to a simulated server. */
export interface Network {
  /** Calls exactly one of `answer` and `fail`, at any time. */
  send(request: SentRequest, answer: (answer: WireAnswer) => void, fail: (error: Error) => void): void;
}

export interface SentRequest {
  readonly method: string;
  readonly origin: string;
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** The connection is cut after this many bytes. */
  readonly cutAfter?: number;
}

type Evaluate = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: object },
  ...globals: unknown[]
) => void;

// Those that are no part of the provider are shared by all processes.
const packages = module.require.bind(module);
const compiled = new Map<string, Evaluate>();
/** Modules that remember nothing: one copy of them, and of what they load, serves all processes, since schemas take long to make. */
const stateless =
  /[\\/](definitions[\\/]\w+|api[\\/](errors|settings|answer)|lifecycle[\\/]validate|engine[\\/]marks)\.ts$/;
const shared = new Map<string, { exports: object }>();
const globalNames = [
  "__dirname",
  "Date",
  "performance",
  "setTimeout",
  "clearTimeout",
  "AbortSignal",
  "process",
  "console",
  "Math",
];

/** One file of the provider, compiled once for all simulated processes. */
function compile(file: string): Evaluate {
  let evaluate = compiled.get(file);
  if (!evaluate) {
    const { code } = transformSync(readFileSync(file, "utf8"), {
      loader: "ts",
      format: "cjs",
      target: "es2022",
    });
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the provider's own code, once for each process
    evaluate = new Function(
      "exports",
      "require",
      "module",
      ...globalNames,
      `${code}\n//# sourceURL=${file}`,
    ) as Evaluate;
    compiled.set(file, evaluate);
  }
  return evaluate;
}

/**
 * A process of its own for the provider: its modules are evaluated anew, so nothing is remembered from another one, and
 * it has its own time and network.
 */
export class SimulatedProcess {
  /** What it has printed. */
  readonly printed: string[] = [];
  private isDead = false;
  private readonly modules = new Map<string, { exports: object }>();
  private readonly owner: Owner = {};
  private readonly globals: unknown[];
  private readonly replaced: Readonly<Record<string, unknown>>;

  constructor(
    private readonly time: SimulatedTime,
    network: Network,
    env: Readonly<Record<string, string>> = {},
  ) {
    const { owner, printed } = this;
    const sleep = (milliseconds = 0, value?: unknown, options?: { signal?: AbortSignal }): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const signal = options?.signal;
        const abort = (): void => {
          cancel();
          reject(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
        };
        const cancel = time.after(milliseconds, owner, () => {
          signal?.removeEventListener("abort", abort);
          resolve(value);
        });
        if (signal?.aborted) abort();
        else signal?.addEventListener("abort", abort, { once: true });
      });
    const simulatedProcess = Object.create(process, {
      env: { value: env },
      stderr: { value: { write: (text: string) => printed.push(text) } },
      // What it wants to do at its end is not done: it may be killed.
      on: { value: () => simulatedProcess },
      once: { value: () => simulatedProcess },
    }) as object;
    const print = (...parts: unknown[]): void => void printed.push(parts.map(String).join(" "));
    this.globals = [
      repository,
      dateOf(time),
      { now: () => time.now },
      (run: () => void, milliseconds?: number) => timerOf(time, owner, run, milliseconds),
      (timer?: { cancel?: () => void }) => timer?.cancel?.(),
      signalsOf(time, owner),
      simulatedProcess,
      { log: print, warn: print, error: print, info: print, debug: print },
      Math,
    ];
    this.replaced = {
      undici: undiciOver(this.own(network), time, owner),
      "node:timers/promises": { setTimeout: sleep },
      "node:zlib": synchronousZlib,
    };
  }

  /** A module of the repository, such as `provider/engine/dynamic`. */
  load(path: string): object {
    return this.evaluate(join(repository, `${path}.ts`));
  }

  /** Ends it where it is: what it waits for never comes. What it has sent is carried out all the same. */
  kill(): void {
    this.isDead = true;
    this.time.drop(this.owner);
  }

  /** The network as long as this process lives. */
  private own(network: Network): Network {
    return {
      send: (request, answer, fail) => {
        if (this.isDead) return;
        network.send(
          request,
          (result) => {
            if (!this.isDead) answer(result);
          },
          (error) => {
            if (!this.isDead) fail(error);
          },
        );
      },
    };
  }

  private evaluate(file: string, forShared = false): object {
    const isShared = forShared || stateless.test(file);
    const modules = isShared ? shared : this.modules;
    const known = modules.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(file, module);
    const load = (name: string): unknown => {
      if (name in this.replaced) return this.replaced[name];
      if (!name.startsWith(".")) return packages(name) as unknown;
      const target = join(dirname(file), name);
      const path = exists(`${target}.ts`) ? `${target}.ts` : join(target, "index.ts");
      return this.evaluate(path, isShared);
    };
    compile(file)(module.exports, load, module, ...this.globals);
    return module.exports;
  }
}

type Decoder = (bytes: Buffer, options: object) => Buffer;

/** Compression takes real time, in which simulated time would pass. */
const synchronousZlib = Object.fromEntries(
  Object.entries({
    gunzip: zlib.gunzipSync,
    inflate: zlib.inflateSync,
    brotliDecompress: zlib.brotliDecompressSync,
  } as Record<string, Decoder>).map(([name, decode]) => [
    name,
    (bytes: Buffer, options: object, done: (error: unknown, result?: Buffer) => void) => {
      let result: Buffer;
      try {
        result = decode(bytes, options);
      } catch (error) {
        done(error);
        return;
      }
      done(null, result);
    },
  ]),
);

const existing = new Map<string, boolean>();

function exists(file: string): boolean {
  let answer = existing.get(file);
  if (answer === undefined) existing.set(file, (answer = existsSync(file)));
  return answer;
}

function dateOf(time: SimulatedTime): typeof Date {
  return class extends Date {
    constructor(...parts: unknown[]) {
      if (parts.length === 0) super(time.date());
      else super(...(parts as [number]));
    }

    static override now(): number {
      return time.date();
    }
  } as typeof Date;
}

function timerOf(time: SimulatedTime, owner: Owner, run: () => void, milliseconds = 0): object {
  const timer = {
    cancel: time.after(milliseconds, owner, run),
    ref: () => timer,
    unref: () => timer,
    hasRef: () => false,
  };
  return timer;
}

function signalsOf(time: SimulatedTime, owner: Owner): object {
  return {
    timeout(milliseconds: number): AbortSignal {
      const controller = new AbortController();
      time.after(milliseconds, owner, () => {
        controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
      });
      return controller.signal;
    },
    any: (signals: AbortSignal[]) => AbortSignal.any(signals),
    abort: (reason?: unknown) => AbortSignal.abort(reason),
  };
}

/** The real undici, and under it a network of our own in place of sockets. */
function undiciOver(network: Network, time: SimulatedTime, owner: Owner): object {
  class Wire extends undici.Dispatcher {
    override dispatch(options: undici.Dispatcher.DispatchOptions, handler: object): boolean {
      const { method, path, origin, headers, body } = options;
      deliver(
        network,
        {
          method,
          path,
          origin: String(origin),
          headers: Object.fromEntries(
            Object.entries((headers ?? {}) as Record<string, unknown>).map(([name, value]) => [
              name.toLowerCase(),
              String(value),
            ]),
          ),
          body: typeof body === "string" ? body : body ? Buffer.from(body as Uint8Array).toString() : "",
        },
        handler as Handler,
        (run) => void time.after(0, owner, run),
      );
      return true;
    }

    override close(): Promise<void> {
      return Promise.resolve();
    }

    override destroy(): Promise<void> {
      return Promise.resolve();
    }
  }
  return { ...undici, Agent: Wire, Pool: Wire, Client: Wire };
}

/** What undici 7 hands to a dispatcher. */
interface Handler {
  onConnect(abort: (reason: Error) => void, context: object): void;
  onHeaders(status: number, headers: Buffer[], resume: () => void, text: string): boolean;
  onData(chunk: Buffer): boolean;
  onComplete(trailers: Buffer[]): void;
  onError(error: Error): void;
}

function deliver(
  network: Network,
  request: SentRequest,
  handler: Handler,
  later: (run: () => void) => void,
): void {
  const state = { isOver: false };
  const fail = (error: Error): void => {
    if (state.isOver) return;
    state.isOver = true;
    handler.onError(error);
  };
  handler.onConnect(fail, {});
  // It is given up at once when its signal is over already.
  if (state.isOver) return;
  const answer = ({ status, headers, body, cutAfter }: WireAnswer): void => {
    if (state.isOver) return;
    const bytes = Buffer.from(body).subarray(0, cutAfter);
    const raw = Object.entries(headers).flatMap((pair) => pair.map((part) => Buffer.from(part, "latin1")));
    handler.onHeaders(status, raw, () => undefined, "");
    handler.onData(bytes);
    if (cutAfter !== undefined) {
      later(() => {
        fail(networkError("UND_ERR_SOCKET", "other side closed"));
      });
      return;
    }
    state.isOver = true;
    handler.onComplete([]);
  };
  network.send(request, answer, fail);
}

/** An error as Node.js or undici reports it. */
export function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
