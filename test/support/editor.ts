import { basename, join } from "node:path";

import ts from "typescript";

const root = join(__dirname, "..", "..");
const program = join(root, "examples", "program.ts");

/** An editor in this repository, where the built package is installed. The files that it opens are nowhere else. */
export class Editor {
  private open: Readonly<Record<string, string>> = {};
  private version = 0;
  private readonly service: ts.LanguageService;

  /** @param preface the first lines of each program that is not a file with a name */
  constructor(
    options: ts.CompilerOptions,
    private readonly preface = "",
  ) {
    this.service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => Object.keys(this.open),
      getScriptVersion: (path) => (path in this.open ? String(this.version) : "0"),
      getScriptSnapshot: (path) => {
        const text = this.open[path] ?? ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (path) => path in this.open || ts.sys.fileExists(path),
      readFile: (path) => ts.sys.readFile(path),
      directoryExists: (path) => ts.sys.directoryExists(path),
      realpath: (path) => ts.sys.realpath?.(path) ?? path,
    });
  }

  /** What is underlined in red in a program, or in files by their paths in the repository. */
  problems(files: string | Readonly<Record<string, string>>): string[] {
    if (typeof files === "string") this.show({ [program]: this.preface + files });
    else this.show(Object.fromEntries(Object.entries(files).map(([path, text]) => [join(root, path), text])));
    return Object.keys(this.open).flatMap((path) =>
      [...this.service.getSyntacticDiagnostics(path), ...this.service.getSemanticDiagnostics(path)].map(
        ({ messageText }) => `${basename(path)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
      ),
    );
  }

  /** The description that is shown with hovering over each of the places that `¦` marks. */
  hovers(marked: string): string[] {
    return this.quickInfos(marked, "documentation");
  }

  /** The tags of that description, such as `throws if no domain matches`. */
  tags(marked: string): string[][] {
    return this.marksIn(marked).map((position) => {
      const { tags = [] } = this.service.getQuickInfoAtPosition(program, position) ?? {};
      return tags.map(({ name, text }) => `${name} ${ts.displayPartsToString(text)}`.replace(/\s+/g, " "));
    });
  }

  /** The declaration above that description. */
  declarations(marked: string): string[] {
    return this.quickInfos(marked, "displayParts");
  }

  /** The declarations to which "go to definition" leads at the place that `¦` marks: each file, and what is written there. */
  definitions(marked: string): { file: string; text: string }[] {
    const [position = 0] = this.marksIn(marked);
    const found = this.service.getDefinitionAtPosition(program, position) ?? [];
    return found.map(({ fileName, contextSpan }) => {
      const { start = 0, length = 0 } = contextSpan ?? {};
      const text = (ts.sys.readFile(fileName) ?? "").slice(start, start + length);
      return { file: fileName, text: text.replace(/^export (?:declare )?/, "") };
    });
  }

  private quickInfos(marked: string, part: "documentation" | "displayParts"): string[] {
    return this.marksIn(marked).map((position) => {
      const info = this.service.getQuickInfoAtPosition(program, position);
      return ts.displayPartsToString(info?.[part]).replace(/\s+/g, " ");
    });
  }

  /** What is offered at the place that `¦` marks. */
  completions(marked: string): string[] {
    const [position = 0] = this.marksIn(marked);
    const { entries = [] } = this.service.getCompletionsAtPosition(program, position, {}) ?? {};
    return entries.map(({ name }) => name);
  }

  /** Opens a program without its marks, and returns where they were. */
  private marksIn(marked: string): number[] {
    const parts = (this.preface + marked).split("¦");
    this.show({ [program]: parts.join("") });
    return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("").length);
  }

  private show(files: Readonly<Record<string, string>>): void {
    this.version += 1;
    this.open = files;
  }
}
