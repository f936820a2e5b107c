import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A PostgreSQL server of its own on the loopback address, in a temporary folder, with password authentication. */
export class Postgres {
  private constructor(
    /** As `PULUMI_BACKEND_URL` takes it, the password included. */
    readonly url: string,
    readonly password: string,
    private readonly folder: string,
    private readonly server: ChildProcess,
  ) {}

  /** @throws {Error} when there is no PostgreSQL here, or it cannot be started. */
  static async start(): Promise<Postgres> {
    const bin = programsOfPostgres();
    const folder = mkdtempSync(join(tmpdir(), "pulumi-uptime-postgres-"));
    const data = join(folder, "data");
    const password = randomBytes(12).toString("hex");
    const passwordFile = join(folder, "password");
    writeFileSync(passwordFile, password);
    // PostgreSQL refuses to run as root.
    const owner = ownerOf();
    if (owner) for (const path of [folder, passwordFile]) chownSync(path, owner.uid, owner.gid);
    const as = { ...owner, cwd: folder };
    const port = await freePort();
    let server: ChildProcess | undefined;
    try {
      const set = [
        "-U",
        "pulumi",
        "-A",
        "scram-sha-256",
        "--pwfile",
        passwordFile,
        "-E",
        "UTF8",
        "--locale=C",
      ];
      execFileSync(join(bin, "initdb"), ["-D", data, ...set, "--no-sync"], { ...as, stdio: "pipe" });
      const quick = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"];
      server = spawn(join(bin, "postgres"), ["-D", data, "-p", String(port), ...quick], {
        ...as,
        stdio: ["ignore", "ignore", "pipe"],
      });
      await ready(server);
    } catch (error) {
      server?.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    const url = `postgres://pulumi:${password}@127.0.0.1:${port}/postgres?sslmode=disable`;
    return new Postgres(url, password, folder, server);
  }

  async stop(): Promise<void> {
    const ended = once(this.server, "exit");
    // A fast shutdown: clients are cut off.
    this.server.kill("SIGINT");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Debian keeps the server's programs off PATH, one folder for each version. */
function programsOfPostgres(): string {
  const debian = "/usr/lib/postgresql";
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    ...(existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : []),
  ];
  const found = folders.find((folder) =>
    ["initdb", "postgres"].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new Error(
    "This test needs a PostgreSQL server: `initdb` and `postgres` are neither on PATH nor in /usr/lib/postgresql. " +
      "Install it, for example with `apt-get install postgresql`, and run `npm run test:full` again.",
  );
}

function ownerOf(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (what: string) => Number(execFileSync("id", [what, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("There is no free port.");
  return address.port;
}

async function ready(server: ChildProcess): Promise<void> {
  let log = "";
  server.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  while (!log.includes("database system is ready to accept connections")) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with code ${server.exitCode}:\n${log}`);
    await sleep(50);
  }
}
