import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

/** A Pulumi project's folders, all in one. */
export interface Folders {
  readonly project: string;
  readonly home: string;
  readonly backend: string;
}

/** The folders of a project in this folder. */
export function foldersIn(folder: string): Folders {
  return { project: join(folder, "project"), home: join(folder, "home"), backend: join(folder, "backend") };
}

const projectFile = "name: workspace\nruntime: nodejs\n";

/** What `stack init` writes, by path; it is the same for each project, and asking the CLI takes a second. */
let blank: Promise<ReadonlyMap<string, Buffer>> | undefined;

async function initStack(stack: string, env: (folders: Folders) => NodeJS.ProcessEnv) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "pulumi-uptime-blank-")));
  try {
    const folders = foldersIn(folder);
    for (const path of Object.values(folders) as string[]) await mkdir(path);
    await writeFile(join(folders.project, "Pulumi.yaml"), projectFile);
    const options = { cwd: folders.project, env: env(folders) };
    await promisify(execFile)("pulumi", ["stack", "init", stack, "--non-interactive"], options);
    const selection = selectionOf(folders);
    const files = new Map([["selection", await readFile(selection)]]);
    for (const part of [folders.backend, folders.project])
      for (const entry of await readdir(part, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        // The project's own file is the test's.
        if (entry.isFile() && entry.name !== "Pulumi.yaml")
          files.set(relative(folder, path), await readFile(path));
      }
    return files;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where the CLI keeps which stack of a project is selected. */
function selectionOf({ home, project }: Folders): string {
  const hash = createHash("sha1").update(join(project, "Pulumi.yaml")).digest("hex");
  return join(home, "workspaces", `workspace-${hash}-workspace.json`);
}

/** Lays a project with a new stack, which is selected, as `stack init` would. */
export async function layBlankStack(
  folder: string,
  stack: string,
  env: (folders: Folders) => NodeJS.ProcessEnv,
): Promise<void> {
  blank ??= initStack(stack, env);
  for (const [path, content] of await blank) {
    const target = path === "selection" ? selectionOf(foldersIn(folder)) : join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
}
