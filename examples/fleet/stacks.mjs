// Runs the Pulumi CLI for one stack, in a process of its own.
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { clearInterval, setInterval } from "node:timers";

const readEveryMs = 500;
const running = new Set();

/** Sends a signal to all running CLIs. The first SIGINT lets Pulumi finish what it has begun, the second ends it at once. */
export function signalAll(signal) {
  for (const child of running) child.kill(signal);
}

/**
 * Runs a command and resolves to its exit code and what it wrote to the standard error. Each line of its output is passed on
 * while it runs.
 *
 * It writes to files, because a CLI that writes to a pipe is killed in the middle of its work if this process is. It has a
 * process group of its own, because a terminal sends Ctrl-C to the whole group, and Pulumi would hear it twice.
 */
export function run(command, args, { file, env = {}, onLine = () => undefined }) {
  return new Promise((resolve, reject) => {
    const output = openSync(file, "w+", 0o600);
    const errors = openSync(`${file}.errors`, "w+", 0o600);
    const child = spawn(command, args, {
      stdio: ["ignore", output, errors],
      detached: true,
      env: { ...process.env, ...env },
    });
    running.add(child);
    const read = lineReader(output, onLine);
    const timer = setInterval(read, readEveryMs);
    const end = () => {
      clearInterval(timer);
      running.delete(child);
      read(true);
      for (const descriptor of [output, errors]) closeSync(descriptor);
    };
    child.on("error", (error) => {
      end();
      reject(error);
    });
    child.on("exit", (code) => {
      end();
      resolve({ code: code ?? 1, said: readFileSync(`${file}.errors`, "utf8").trim() });
    });
  });
}

/** Passes on what was added to a file since the last call, line by line; a line without an end at the last call only. */
function lineReader(file, onLine) {
  const decoder = new StringDecoder("utf8");
  let position = 0;
  let rest = "";
  return (isLast = false) => {
    const added = Buffer.alloc(fstatSync(file).size - position);
    position += readSync(file, added, 0, added.length, position);
    const lines = (rest + decoder.write(added)).split("\n");
    rest = isLast ? "" : lines.pop();
    for (const line of lines) onLine(line);
  };
}

/** Operations that are one step of another, or no change. */
const notCounted = new Set(["same", "read", "refresh", "create-replacement", "delete-replaced"]);

/** Whether a step is about the stack itself or its providers, which need no review. */
const isPulumis = ({ type }) => type.startsWith("pulumi:");

/** The operation on a resource; undefined if there is none. */
function changeIn(metadata) {
  return !metadata || notCounted.has(metadata.op) || isPulumis(metadata) ? undefined : metadata.op;
}

/** Identifies a record among those that its resource has or had. */
const recordOf = ({ urn, old }) => `${urn} ${old?.id}`;

/** A stack of this project, and what became of it. */
export class Stack {
  /** @type {"never began" | "unchanged" | "changes wait" | "too many deletes" | "applied" | "interrupted" | "locked" | "missing" | "failed"} */
  result = "never began";
  /** How many resources the preview would create, update and so on. */
  changes = {};
  /** @type {string[]} */
  errors = [];
  done = 0;

  constructor(name, folder) {
    this.name = name;
    this.folder = folder;
  }

  /** How many records the changes would delete. */
  get deletes() {
    return (this.changes.delete ?? 0) + (this.changes.replace ?? 0);
  }

  get changeCount() {
    return Object.values(this.changes).reduce((sum, count) => sum + count, 0);
  }

  async preview() {
    const steps = [];
    const isFine = await this.pulumi("preview", [], ({ resourcePreEvent }) => {
      if (resourcePreEvent) steps.push(resourcePreEvent.metadata);
    });
    const replaced = new Set(steps.filter(({ op }) => op === "replace").map(recordOf));
    for (const step of steps) {
      // An earlier run has replaced it, and could not delete its record.
      const isLeftover = step.op === "delete-replaced" && !replaced.has(recordOf(step)) && !isPulumis(step);
      const op = isLeftover ? "delete" : changeIn(step);
      if (op) this.changes[op] = (this.changes[op] ?? 0) + 1;
    }
    if (isFine) this.result = this.changeCount > 0 ? "changes wait" : "unchanged";
  }

  async up() {
    const isFine = await this.pulumi("up", ["--yes", "--skip-preview"], ({ resOutputsEvent }) => {
      if (changeIn(resOutputsEvent?.metadata)) this.done++;
    });
    if (isFine && this.changeCount > 0) this.result = "applied";
  }

  /** The resources in its state, and the operations that a killed run has begun; none if there is no such stack. */
  async deployment() {
    const state = join(this.folder, `${this.name}.json`);
    // Encrypted values cannot be compared.
    const options = ["--file", state, "--show-secrets", "--non-interactive"];
    const args = ["stack", "export", "--stack", this.name, ...options];
    const { code, said } = await run("pulumi", args, { file: join(this.folder, `${this.name}.export`) });
    if (isMissing(said)) return {};
    if (code !== 0) throw new Error(said);
    return JSON.parse(readFileSync(state, "utf8")).deployment;
  }

  /** The command to run before the next attempt; undefined if there is none. */
  get remedy() {
    if (this.result === "locked") return `pulumi cancel --yes --stack ${this.name}`;
    return this.result === "missing" ? `pulumi stack init --no-select ${this.name}` : undefined;
  }

  /** Runs a command on the stack; false, and the reason is noted, if it fails. */
  async pulumi(command, args, onEvent) {
    const onLine = (line) => {
      const event = eventIn(line);
      const { severity, message } = event.diagnosticEvent ?? {};
      if (severity === "error") this.addError(message);
      onEvent(event);
    };
    const options = ["--stack", this.name, "--json", "--non-interactive", "--color", "never", ...args];
    const { code, said } = await run("pulumi", [command, ...options], {
      file: join(this.folder, `${this.name}.${command}`),
      // A line for each event, as `up --json` prints them, and not one report at the end.
      env: { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "true" },
      onLine,
    });
    if (code !== 0) this.fail(said);
    return code === 0;
  }

  /** The output besides the events tells why the CLI did not begin. */
  fail(said) {
    const [, holder] = /currently locked by[^]*created by (.*)/.exec(said) ?? [];
    if (holder !== undefined || /update is currently in progress/i.test(said)) {
      this.result = "locked";
      this.addError(holder === undefined ? said : `locked by ${holder}`);
    } else if (isMissing(said)) {
      this.result = "missing";
      this.addError("there is no such stack yet");
    } else {
      this.result = "failed";
      if (this.errors.length === 0) this.addError(said);
    }
  }

  addError(text) {
    const error = text.trim();
    if (error !== "" && !this.errors.includes(error)) this.errors.push(error);
  }
}

const isMissing = (said) => /no stack named/.test(said);

/** The event on a line; none if a killed CLI has not finished the line. */
function eventIn(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
