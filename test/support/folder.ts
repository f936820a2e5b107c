import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An empty folder, which is removed after the test. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-uptime-")));
  folders.push(folder);
  return folder;
}
