/** A resource that a program declares, as far as its text tells. */
export interface DeclaredResource {
  /** The class: `Domain`, for example. */
  readonly label: string;
  readonly name: string | undefined;
  readonly account: string | undefined;
  /** The id in the option `import`. */
  readonly importId: string | undefined;
}

/** What the text of a program tells without running it. A program that computes its names or ids tells less. */
export interface SourceScan {
  readonly resources: readonly DeclaredResource[];
  /** Keys that it reads from the stack's configuration. */
  readonly configKeys: readonly string[];
}

/**
 * Reads a program in TypeScript or JavaScript, resources in comments included: those are records that an export has
 * found and that cannot be managed yet.
 */
export function scanSource(source: string, labels: readonly string[]): SourceScan {
  const { code, comments } = tokensIn(source, wholeProgram);
  // In prose a backtick may stand alone, so there a template ends with its line.
  const scans = [code, tokensIn(comments, proseWithCode).code].map((tokens) => ({
    resources: resourcesIn(tokens, labels),
    configKeys: configKeysIn(tokens),
  }));
  return {
    resources: scans.flatMap(({ resources }) => resources),
    configKeys: scans.flatMap(({ configKeys }) => configKeys),
  };
}

interface Token {
  /** A word or sign; of a string its value. */
  readonly text: string;
  readonly isString: boolean;
}

// A quote in a regular expression literal is taken for the start of a string, which ends with its line at the latest.
const patternWith = (template: string): RegExp =>
  new RegExp(
    [
      String.raw`(?<comment>//[^\n\r\u2028\u2029]*|/\*[^]*?\*/)`,
      String.raw`(?<string>"(?:[^"\\\n\r]|\\[^])*"|'(?:[^'\\\n\r]|\\[^])*'|${template})`,
      String.raw`(?<word>[\w$]+|\S)`,
    ].join("|"),
    "gu",
  );
const wholeProgram = patternWith("`(?:[^`\\\\]|\\\\[^])*`");
const proseWithCode = patternWith("`(?:[^`\\\\\n\r]|\\\\[^])*`");

function tokensIn(source: string, pattern: RegExp): { code: Token[]; comments: string } {
  const code: Token[] = [];
  const comments: string[] = [];
  for (const { groups = {} } of source.matchAll(pattern)) {
    const { comment, string, word } = groups;
    if (comment !== undefined) comments.push(comment.replace(/^\/[/*]|\*\/$/g, ""));
    else if (string !== undefined) code.push({ text: unescaped(string.slice(1, -1)), isString: true });
    else if (word !== undefined) code.push({ text: word, isString: false });
  }
  return { code, comments: comments.join("\n") };
}

const controls: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  b: "\b",
  f: "\f",
  v: "\v",
  0: "\0",
};

function unescaped(literal: string): string {
  return literal.replace(
    /\\(?:u\{(?<point>[\da-f]+)\}|u(?<unit>[\da-f]{4})|x(?<byte>[\da-f]{2})|(?<other>[^]))/giu,
    (_all, point?: string, unit?: string, byte?: string, other?: string) => {
      const code = parseInt(point ?? unit ?? byte ?? "", 16);
      if (Number.isNaN(code)) return controls[other ?? ""] ?? other ?? "";
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}

/** Calls such as `new Monitor("name", { account: "other" }, { import: "7" })`, also as `new uptime.Monitor(…)`. */
function resourcesIn(tokens: readonly Token[], labels: readonly string[]): DeclaredResource[] {
  return tokens.flatMap((token, start) => {
    if (token.isString || token.text !== "new") return [];
    let at = start + 1;
    while (tokens[at + 1]?.text === ".") at += 2;
    const label = tokens[at]?.text ?? "";
    if (!labels.includes(label) || tokens[at + 1]?.text !== "(") return [];
    return [{ label, ...argumentsOf(tokens.slice(at + 2)) }];
  });
}

/** Of the arguments of a resource: the first one if it is a string, and the two properties that tell which record it is. */
function argumentsOf(tokens: readonly Token[]): Omit<DeclaredResource, "label"> {
  let depth = 0;
  let argument = 0;
  let account: string | undefined;
  let importId: string | undefined;
  for (const [index, { text, isString }] of tokens.entries()) {
    const value = tokens[index + 2];
    const isProperty = depth === 1 && tokens[index + 1]?.text === ":" && value?.isString === true;
    if (isProperty && argument === 1 && text === "account") account = value.text;
    if (isProperty && argument === 2 && text === "import") importId = value.text;
    if (isString) continue;
    if ("([{".includes(text)) depth++;
    else if (")]}".includes(text)) depth--;
    else if (text === "," && depth === 0) argument++;
    if (depth < 0) break;
  }
  const [first, second] = tokens;
  const isName = first?.isString === true && (second?.text === "," || second?.text === ")");
  return { name: isName ? first.text : undefined, account, importId };
}

/** The keys in calls such as `config.requireSecret("token")`. */
function configKeysIn(tokens: readonly Token[]): string[] {
  return tokens.flatMap(({ text, isString }, index) => {
    const key = tokens[index + 2];
    const isRead = !isString && /^(get|require)/.test(text) && tokens[index + 1]?.text === "(";
    return isRead && key?.isString ? [key.text] : [];
  });
}
