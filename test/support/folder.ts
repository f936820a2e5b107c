import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

// What a test has started may still write there when it is stopped.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An empty folder, which is removed after the tests of the file. */
export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pulumi-uptime-")));
  folders.push(folder);
  return folder;
}
