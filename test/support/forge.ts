import { z } from "zod";

import { serve } from "./http-server";

interface Comment {
  readonly id: number;
  readonly author: string;
  body: string;
  at: string;
}

interface Pull {
  readonly number: number;
  head: string;
  base: string;
  /** What it has brought to the base branch. */
  commits: string[];
  mergedAt?: string;
  readonly labels: { name: string; isAdded: boolean; by: string; at: string }[];
  readonly comments: Comment[];
}

interface Issue {
  readonly number: number;
  title: string;
  body: string;
  isOpen: boolean;
}

const sentBody = z.record(z.string(), z.union([z.string(), z.array(z.string())]));
type Sent = z.infer<typeof sentBody>;
type Field = Sent[string] | undefined;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Sent;
}

/** An answer that is no success. */
class Refusal {
  readonly message = "no";
  constructor(readonly status: number) {}
}

/** Returns what is answered; nothing for an empty object. */
type Route = (match: readonly (string | undefined)[], request: Request) => unknown;

/**
 * A stand-in for a platform's API, with what the recipes use of it; everything else is an error. It shows at most 100 of a
 * list, as the platforms do.
 */
export abstract class Forge {
  url = "";
  readonly main = ["c0"];
  readonly pulls = new Map<number, Pull>();
  /** The commits whose apply has succeeded. */
  readonly applied: string[] = [];
  /** Those of newer runs that succeeded elsewhere: of a fork's branch `main`, or of another branch. */
  readonly appliedElsewhere: string[] = [];
  readonly issues: Issue[] = [];
  /** What was sent, such as `POST /issues`. */
  readonly writes: string[] = [];
  /** Answers a request with this status and without an effect. */
  fault: ((method: string, path: string) => number | undefined) | undefined;
  abstract readonly name: "GitHub" | "GitLab";
  /** The author of what the recipes' previews write. */
  abstract readonly bot: string;
  private clock = Date.parse("2030-01-01T00:00:00Z");
  private lastId = 1000;

  async start(): Promise<this> {
    this.url = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { pathname, searchParams } = new URL(request.url ?? "", this.url);
        const { method = "" } = request;
        const text = Buffer.concat(chunks).toString();
        const body = sentBody.parse(JSON.parse(text || "{}"));
        const token = request.headers.authorization ?? request.headers["private-token"];
        const status = token === this.token ? this.fault?.(method, pathname) : 401;
        let value = status
          ? new Refusal(status)
          : this.answer({ method, path: pathname, query: searchParams, body });
        if (method !== "GET") this.writes.push(`${method} ${pathname}`);
        const headers: Record<string, string> = { "content-type": "application/json" };
        const items = this.itemsOf(value);
        if (items) {
          const size = Math.min(100, Number(searchParams.get("per_page") ?? 20));
          const page = Number(searchParams.get("page") ?? 1);
          value = this.withItems(value, items.slice((page - 1) * size, page * size));
          searchParams.set("page", String(page + 1));
          if (items.length > page * size)
            headers.link = `<${this.url}${pathname}>; rel="first", <${this.url}${pathname}?${searchParams.toString()}>; rel="next"`;
        }
        response.writeHead(value instanceof Refusal ? value.status : 200, headers).end(JSON.stringify(value));
      });
    });
    return this;
  }

  /** A minute later than the last time. */
  now(): string {
    this.clock += 60_000;
    return new Date(this.clock).toISOString();
  }

  open(number: number, head: string): Pull {
    const pull: Pull = { number, head, base: "main", commits: [], labels: [], comments: [] };
    this.pulls.set(number, pull);
    return pull;
  }

  /** Brings commits to the default branch. */
  merge(number: number, ...commits: string[]): void {
    const pull = this.pull(number);
    pull.commits = commits;
    pull.mergedAt = this.now();
    this.main.push(...commits);
  }

  label(number: number, isAdded = true, by = "bob"): void {
    this.pull(number).labels.push({ name: "allow-deletes", isAdded, by, at: this.now() });
  }

  comment(number: number, author: string, body: string): Comment {
    const comment = { id: ++this.lastId, author, body, at: this.now() };
    this.pull(number).comments.push(comment);
    return comment;
  }

  /** Those of the recipes. */
  ownComments(number: number): Comment[] {
    return this.pull(number).comments.filter(({ author }) => author === this.bot);
  }

  /** What the platform sets for a job. */
  abstract env(commit: string, branch?: string): Record<string, string>;
  abstract readonly token: string;
  /** What answers a request, by a pattern of its method and path. */
  protected abstract readonly routes: Readonly<Record<string, Route>>;

  private answer(request: Request): unknown {
    for (const [pattern, route] of Object.entries(this.routes)) {
      const match = new RegExp(`^${pattern}$`).exec(`${request.method} ${request.path}`);
      if (match) return route(match, request) ?? {};
    }
    return new Refusal(404);
  }

  protected itemsOf(value: unknown): unknown[] | undefined {
    return Array.isArray(value) ? (value as unknown[]) : undefined;
  }

  protected withItems(_: unknown, items: unknown[]): unknown {
    return items;
  }

  protected pull(number: number | string | undefined): Pull {
    const pull = this.pulls.get(Number(number));
    if (!pull) throw new Error(`There is no pull request ${String(number)}.`);
    return pull;
  }

  protected since(base: string, head: string): string[] {
    return this.main.slice(this.main.indexOf(base) + 1, this.main.indexOf(head) + 1);
  }

  protected pullsWith(commit: string): Pull[] {
    return [...this.pulls.values()].filter(({ commits, head }) => [...commits, head].includes(commit));
  }

  protected edit(id: string | undefined, body: Field): void {
    const comments = [...this.pulls.values()].flatMap((pull) => pull.comments);
    const comment = comments.find((one) => one.id === Number(id));
    if (comment) Object.assign(comment, { body: String(body), at: this.now() });
  }

  protected openIssue(title: Field, body: Field): void {
    const number = this.issues.length + 1;
    this.issues.push({ number, title: String(title), body: String(body), isOpen: true });
  }

  /** Gives an issue another body, or closes it. */
  protected updateIssue(number: string | undefined, body: Field, isClosed: boolean): void {
    const issue = this.issues[Number(number) - 1];
    if (!issue) throw new Error(`There is no issue ${String(number)}.`);
    if (body !== undefined) issue.body = String(body);
    if (isClosed) issue.isOpen = false;
  }
}

export class GitHubForge extends Forge {
  readonly name = "GitHub";
  readonly bot = "github-actions[bot]";
  readonly token = "Bearer token-of-github";

  env(commit: string, branch = "main"): Record<string, string> {
    return {
      GITHUB_ACTIONS: "true",
      GITHUB_API_URL: this.url,
      GITHUB_REPOSITORY: "team/monitors",
      GITHUB_SHA: commit,
      GITHUB_REF: `refs/heads/${branch}`,
      GITHUB_WORKFLOW_REF: `team/monitors/.github/workflows/apply.yml@refs/heads/${branch}`,
    };
  }

  protected override itemsOf(value: unknown): unknown[] | undefined {
    const { commits } = value as { commits?: unknown[] };
    return commits ?? super.itemsOf(value);
  }

  protected override withItems(value: unknown, items: unknown[]): unknown {
    return Array.isArray(value) ? items : { ...(value as object), commits: items };
  }

  protected readonly routes: Readonly<Record<string, Route>> = inFolder("/repos/team/monitors", {
    "GET ": () => ({ default_branch: "main" }),
    "GET /branches/main": () => ({ commit: { sha: this.main.at(-1) } }),
    "GET /actions/workflows/apply.yml/runs": (_, { query }) => {
      if (query.get("status") !== "success" || query.get("branch") !== "main") return new Refusal(422);
      const own = this.applied.map((head_sha, index) => ({
        head_sha,
        run_number: index,
        event: index % 2 === 0 ? "push" : "workflow_dispatch",
      }));
      const foreign = this.appliedElsewhere.map((head_sha, index) => ({
        head_sha,
        run_number: 1000 + index,
        event: "pull_request",
      }));
      const event = query.get("event");
      const runs = [...own, ...foreign].reverse().filter((run) => event === null || run.event === event);
      return { workflow_runs: runs.slice(0, Number(query.get("per_page") ?? 30)) };
    },
    "GET /compare/(\\w+)\\.\\.\\.(\\w+)": ([, base = "", head = ""]) => {
      if (base === "gone") return new Refusal(404);
      const commits = this.since(base, head).map((sha) => ({ sha }));
      const status = commits.length === 0 ? "identical" : this.main.includes(base) ? "ahead" : "diverged";
      return { status, commits };
    },
    "GET /commits/(\\w+)/pulls": ([, commit = ""]) =>
      this.pullsWith(commit).map(({ number, mergedAt, head, base }) => ({
        number,
        merged_at: mergedAt ?? null,
        head: { sha: head },
        base: { ref: base },
      })),
    "GET /issues/(\\d+)/events": ([, number]) => [
      { event: "mentioned", created_at: this.now() },
      ...this.pull(number).labels.map(({ name, isAdded, by, at }) => ({
        event: isAdded ? "labeled" : "unlabeled",
        actor: { login: by },
        label: { name },
        created_at: at,
      })),
    ],
    "GET /issues/(\\d+)/comments": ([, number]) =>
      this.pull(number).comments.map(({ id, author, body, at }) => ({
        id,
        user: author === "" ? null : { login: author },
        body,
        updated_at: at,
      })),
    "POST /issues/(\\d+)/comments": ([, number], { body }) =>
      this.comment(Number(number), this.bot, String(body.body)),
    "PATCH /issues/comments/(\\d+)": ([, id], { body }) => this.edit(id, body.body),
    "GET /issues": () => this.issues.filter(({ isOpen }) => isOpen),
    // It exists already.
    "POST /labels": () => new Refusal(422),
    "POST /issues": (_, { body }) => this.openIssue(body.title, body.body),
    "PATCH /issues/(\\d+)": ([, number], { body }) =>
      this.updateIssue(number, body.body, body.state === "closed"),
  });
}

export class GitLabForge extends Forge {
  readonly name = "GitLab";
  readonly bot = "project_7_bot";
  readonly token = "token-of-gitlab";

  env(commit: string, branch = "main"): Record<string, string> {
    return {
      CI_API_V4_URL: this.url,
      CI_PROJECT_ID: "7",
      CI_COMMIT_SHA: commit,
      CI_DEFAULT_BRANCH: "main",
      CI_COMMIT_BRANCH: branch,
      CI_ENVIRONMENT_NAME: "uptime-apply/test",
      CI_JOB_URL: "https://gitlab.example/jobs/99",
      GITLAB_TOKEN: this.token,
      REVIEWER: this.bot,
    };
  }

  protected readonly routes: Readonly<Record<string, Route>> = {
    "GET /user": () => ({ username: this.bot }),
    ...inFolder("/projects/7", {
      "GET /repository/branches/main": () => ({ commit: { id: this.main.at(-1) } }),
      "GET /deployments": (_, { query }) => {
        if (query.get("environment") !== "uptime-apply/test" || query.get("status") !== "success")
          return new Refusal(400);
        const runs = (commits: readonly string[], ref: string, tag: boolean) =>
          commits.map((sha) => ({ sha, ref, deployable: { tag } }));
        return [
          ...runs(this.applied, "main", false),
          ...runs(this.appliedElsewhere, "topic", false),
          ...runs(this.appliedElsewhere, "main", true),
        ].reverse();
      },
      "GET /repository/compare": (_, { query }) => {
        const base = query.get("from") ?? "";
        if (!this.main.includes(base)) return new Refusal(404);
        return { commits: this.since(base, query.get("to") ?? "").map((id) => ({ id })) };
      },
      "GET /repository/commits/(\\w+)/merge_requests": ([, commit = ""]) =>
        this.pullsWith(commit).map(({ number, mergedAt, head, base }) => ({
          iid: number,
          state: mergedAt === undefined ? "opened" : "merged",
          merged_at: mergedAt ?? null,
          target_branch: base,
          sha: head,
        })),
      "GET /merge_requests/(\\d+)/resource_label_events": ([, number]) => [
        { action: "add", label: null, created_at: this.now() },
        ...this.pull(number).labels.map(({ name, isAdded, at }) => ({
          action: isAdded ? "add" : "remove",
          label: { name },
          created_at: at,
        })),
      ],
      "GET /merge_requests/(\\d+)/notes": ([, number]) =>
        this.pull(number).comments.map(({ id, author, body, at }) => ({
          id,
          author: { username: author },
          system: author === "",
          body,
          updated_at: at,
        })),
      "POST /merge_requests/(\\d+)/notes": ([, number], { body }) =>
        this.comment(Number(number), this.bot, String(body.body)),
      "PUT /merge_requests/\\d+/notes/(\\d+)": ([, id], { body }) => this.edit(id, body.body),
      "GET /issues": () =>
        this.issues.filter(({ isOpen }) => isOpen).map(({ number, ...rest }) => ({ iid: number, ...rest })),
      "POST /issues": (_, { body }) => this.openIssue(body.title, body.description),
      "PUT /issues/(\\d+)": ([, number], { body }) =>
        this.updateIssue(number, body.description, body.state_event === "close"),
    }),
  };
}

/** Both, by their names. */
export const platforms = [
  ["GitHub", GitHubForge],
  ["GitLab", GitLabForge],
] as const;

/** Routes whose paths begin in a folder. */
function inFolder(folder: string, routes: Readonly<Record<string, Route>>): Record<string, Route> {
  return Object.fromEntries(
    Object.entries(routes).map(([pattern, route]) => [pattern.replace(" ", ` ${folder}`), route]),
  );
}
