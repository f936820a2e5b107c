import type { VirtualClock } from "../clock";
import type { ShownRecord, SimulatedApi } from "./api";
import { isGreen, SimulatedEngine, type Declared, type Entry } from "./engine";
import type { Front } from "./front";
import { messagesOf, Violation } from "./invariants";
import { SimulatedProcesses } from "./process";

const theirName = "Theirs";

/** Another stack of the same account, with an engine of its own, which runs at the same time as ours. */
export class Neighbor {
  private readonly engine: SimulatedEngine;
  private runs = 0;

  constructor(
    private readonly front: Front,
    private readonly time: VirtualClock,
    private readonly api: SimulatedApi,
  ) {
    this.engine = new SimulatedEngine(front.register);
  }

  /** Creates two records, and in each further run changes one and replaces the other. */
  async run(): Promise<void> {
    const { api, engine, front, time } = this;
    const number = ++this.runs;
    const program: Declared[] = [
      {
        kind: "monitor",
        name: "changed",
        args: { name: theirName, url: "https://theirs.example/", interval: number % 2 === 0 ? 60 : 300 },
      },
      {
        kind: "monitor",
        name: `replaced-${number}`,
        args: { name: theirName, url: `https://theirs-${number}.example/`, interval: 60 },
      },
    ];
    // It reaches the server by an address of its own.
    const settings = { "uptime:baseUrl": "https://theirs.invalid", "uptime:apiKey": api.key };
    const network = { answer: (sent: Parameters<SimulatedApi["serve"]>[0]) => api.serve(sent) };
    const processes = new SimulatedProcesses(() => front, time, network);
    const outcome = await engine.run(processes, { command: "up", settings, program });
    processes.kill();
    if (!isGreen(outcome)) throw new Violation(`another stack failed: ${messagesOf(outcome)}`);
    for (const { args, name } of program) {
      const entry = engine.state.find(({ urn }) => urn.endsWith(`::${name}`));
      const record = entry && api.get("monitor", entry.id);
      const isRight = record && Object.entries(args).every(([key, value]) => record[key] === value);
      if (!isRight) throw new Violation(`the record of another stack's ${name} is ${JSON.stringify(record)}`);
    }
    const theirs = api.all("monitor").filter((record) => record.name === theirName);
    if (theirs.length !== program.length) throw new Violation(`another stack has ${theirs.length} records`);
  }

  /** Throws if a resource of ours has one of their records. */
  assertApart(ours: readonly Pick<Entry, "id" | "kind" | "urn">[]): void {
    for (const { urn, kind, id } of ours) {
      const record = this.api.get(kind, id);
      if (record && this.has(record)) throw new Violation(`${urn} has another stack's ${kind} ${id}`);
    }
  }

  has({ name }: ShownRecord): boolean {
    return name === theirName;
  }
}
