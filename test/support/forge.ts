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

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Sent;
}

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
        const answer = status
          ? { status, value: { message: "no" } }
          : this.answer({ method, path: pathname, query: searchParams, body });
        if (method !== "GET") this.writes.push(`${method} ${pathname}`);
        const headers: Record<string, string> = { "content-type": "application/json" };
        let { value } = answer;
        const items = this.itemsOf(value);
        if (items) {
          const size = Math.min(100, Number(searchParams.get("per_page") ?? 20));
          const page = Number(searchParams.get("page") ?? 1);
          value = this.withItems(value, items.slice((page - 1) * size, page * size));
          searchParams.set("page", String(page + 1));
          if (items.length > page * size)
            headers.link = `<${this.url}${pathname}>; rel="first", <${this.url}${pathname}?${searchParams.toString()}>; rel="next"`;
        }
        response.writeHead(answer.status ?? 200, headers).end(JSON.stringify(value));
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
  protected abstract answer(request: Request): { status?: number; value: unknown };

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

  protected edit(id: string | undefined, body: unknown): { value: unknown } {
    for (const { comments } of this.pulls.values())
      for (const comment of comments)
        if (comment.id === Number(id)) {
          comment.body = String(body);
          comment.at = this.now();
        }
    return { value: {} };
  }

  protected openIssue(title: unknown, body: unknown): { value: unknown } {
    this.issues.push({
      number: this.issues.length + 1,
      title: String(title),
      body: String(body),
      isOpen: true,
    });
    return { value: {} };
  }

  protected issue(number: string | undefined): Issue {
    const issue = this.issues[Number(number) - 1];
    if (!issue) throw new Error(`There is no issue ${String(number)}.`);
    return issue;
  }
}

type Route = (
  match: readonly (string | undefined)[],
  request: Request,
) => { status?: number; value: unknown };

function routed(
  routes: Readonly<Record<string, Route>>,
  request: Request,
): { status?: number; value: unknown } {
  for (const [pattern, route] of Object.entries(routes)) {
    const match = new RegExp(`^${pattern}$`).exec(`${request.method} ${request.path}`);
    if (match) return route(match, request);
  }
  return { status: 404, value: { message: `Not Found: ${request.method} ${request.path}` } };
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

  protected answer(request: Request): { status?: number; value: unknown } {
    const shown = ({ number, mergedAt, head, base }: Pull) => ({
      number,
      merged_at: mergedAt ?? null,
      head: { sha: head },
      base: { ref: base },
    });
    const repository = "/repos/team/monitors";
    return routed(
      {
        [`GET ${repository}`]: () => ({ value: { default_branch: "main" } }),
        [`GET ${repository}/branches/main`]: () => ({ value: { commit: { sha: this.main.at(-1) } } }),
        [`GET ${repository}/actions/workflows/apply.yml/runs`]: (_, { query }) => {
          if (query.get("status") !== "success" || query.get("branch") !== "main")
            return { status: 422, value: {} };
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
          const runs = [...own, ...foreign].reverse();
          const event = query.get("event");
          const wanted = runs.filter((run) => event === null || run.event === event);
          return { value: { workflow_runs: wanted.slice(0, Number(query.get("per_page") ?? 30)) } };
        },
        [`GET ${repository}/compare/(\\w+)\\.\\.\\.(\\w+)`]: ([, base = "", head = ""]) => {
          if (base === "gone") return { status: 404, value: { message: "Not Found" } };
          const commits = this.since(base, head).map((sha) => ({ sha }));
          const status = commits.length === 0 ? "identical" : this.main.includes(base) ? "ahead" : "diverged";
          return { value: { status, commits } };
        },
        [`GET ${repository}/commits/(\\w+)/pulls`]: ([, commit = ""]) => ({
          value: this.pullsWith(commit).map(shown),
        }),
        [`GET ${repository}/issues/(\\d+)/events`]: ([, number]) => ({
          value: [
            { event: "mentioned", created_at: this.now() },
            ...this.pull(number).labels.map(({ name, isAdded, by, at }) => ({
              event: isAdded ? "labeled" : "unlabeled",
              actor: { login: by },
              label: { name },
              created_at: at,
            })),
          ],
        }),
        [`GET ${repository}/issues/(\\d+)/comments`]: ([, number]) => ({
          value: this.pull(number).comments.map(({ id, author, body, at }) => ({
            id,
            user: author === "" ? null : { login: author },
            body,
            updated_at: at,
          })),
        }),
        [`POST ${repository}/issues/(\\d+)/comments`]: ([, number], { body }) => {
          this.comment(Number(number), this.bot, String(body.body));
          return { status: 201, value: {} };
        },
        [`PATCH ${repository}/issues/comments/(\\d+)`]: ([, id], { body }) => this.edit(id, body.body),
        [`GET ${repository}/issues`]: () => ({ value: this.issues.filter(({ isOpen }) => isOpen) }),
        [`POST ${repository}/labels`]: () => ({ status: 422, value: { message: "already_exists" } }),
        [`POST ${repository}/issues`]: (_, { body }) => this.openIssue(body.title, body.body),
        [`PATCH ${repository}/issues/(\\d+)`]: ([, number], { body }) => {
          if (body.body !== undefined) this.issue(number).body = String(body.body);
          if (body.state === "closed") this.issue(number).isOpen = false;
          return { value: {} };
        },
      },
      request,
    );
  }
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

  protected answer(request: Request): { status?: number; value: unknown } {
    const project = "/projects/7";
    return routed(
      {
        "GET /user": () => ({ value: { username: this.bot } }),
        [`GET ${project}/repository/branches/main`]: () => ({ value: { commit: { id: this.main.at(-1) } } }),
        [`GET ${project}/deployments`]: (_, { query }) =>
          query.get("environment") === "uptime-apply/test" && query.get("status") === "success"
            ? {
                value: [
                  ...this.applied.map((sha) => ({ sha, ref: "main", deployable: { tag: false } })),
                  ...this.appliedElsewhere.map((sha) => ({ sha, ref: "topic", deployable: { tag: false } })),
                  ...this.appliedElsewhere.map((sha) => ({ sha, ref: "main", deployable: { tag: true } })),
                ].reverse(),
              }
            : { status: 400, value: {} },
        [`GET ${project}/repository/compare`]: (_, { query }) => {
          const base = query.get("from") ?? "";
          if (!this.main.includes(base)) return { status: 404, value: {} };
          return { value: { commits: this.since(base, query.get("to") ?? "").map((id) => ({ id })) } };
        },
        [`GET ${project}/repository/commits/(\\w+)/merge_requests`]: ([, commit = ""]) => ({
          value: this.pullsWith(commit).map(({ number, mergedAt, head, base }) => ({
            iid: number,
            state: mergedAt === undefined ? "opened" : "merged",
            merged_at: mergedAt ?? null,
            target_branch: base,
            sha: head,
          })),
        }),
        [`GET ${project}/merge_requests/(\\d+)/resource_label_events`]: ([, number]) => ({
          value: [
            { action: "add", label: null, created_at: this.now() },
            ...this.pull(number).labels.map(({ name, isAdded, at }) => ({
              action: isAdded ? "add" : "remove",
              label: { name },
              created_at: at,
            })),
          ],
        }),
        [`GET ${project}/merge_requests/(\\d+)/notes`]: ([, number]) => ({
          value: this.pull(number).comments.map(({ id, author, body, at }) => ({
            id,
            author: { username: author },
            system: author === "",
            body,
            updated_at: at,
          })),
        }),
        [`POST ${project}/merge_requests/(\\d+)/notes`]: ([, number], { body }) => {
          this.comment(Number(number), this.bot, String(body.body));
          return { status: 201, value: {} };
        },
        [`PUT ${project}/merge_requests/\\d+/notes/(\\d+)`]: ([, id], { body }) => this.edit(id, body.body),
        [`GET ${project}/issues`]: () => ({
          value: this.issues
            .filter(({ isOpen }) => isOpen)
            .map(({ number, ...rest }) => ({ iid: number, ...rest })),
        }),
        [`POST ${project}/issues`]: (_, { body }) => this.openIssue(body.title, body.description),
        [`PUT ${project}/issues/(\\d+)`]: ([, number], { body }) => {
          if (body.description !== undefined) this.issue(number).body = String(body.description);
          if (body.state_event === "close") this.issue(number).isOpen = false;
          return { value: {} };
        },
      },
      request,
    );
  }
}
