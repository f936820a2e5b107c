// The requests to GitHub or GitLab of this folder's setups: `node uptime-ci.mjs comment|review|refresh|alert …`. Needs only Node.js 20.
//   comment FILE          writes FILE as a comment on the pull request, or updates the one that is there
//   review                stops unless this run may apply, then prints the comments that count as reviewed, for `comment --reviewed`
//   refresh STACK FILE    reads the edits by hand that FILE, the output of `drift --json`, lists into state, so that the next `up`
//                         undoes these and no others
//   alert STACK [FILE]    opens or updates the issue about a stack's drift, or closes it if there is no FILE
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const { env } = process;
const label = "uptime-drift";
const allowDeletes = "allow-deletes";
/** The user of a GitHub workflow's token. */
const workflowUser = "github-actions[bot]";
/** How many applies are searched for a review of the code in state. */
const mostApplied = 10;
const marker = /^<!-- pulumi-uptime comment v2 title=(\S+) /;

/** A variable that the platform or the recipe sets. */
function setting(name) {
  const value = env[name];
  if (value) return value;
  throw new Error(`The variable ${name} is not set.`);
}

/** A platform's API. A failed request ends the command, so that nothing is decided by half an answer. */
class Api {
  constructor(base, headers) {
    this.base = base;
    this.headers = headers;
  }

  async send(method, path, body) {
    const response = await fetch(path.startsWith("http") ? path : `${this.base}${path}`, {
      method,
      headers: { ...this.headers, ...(body && { "content-type": "application/json" }) },
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok)
      throw Object.assign(new Error(`${method} ${response.url}: ${response.status} ${text.slice(0, 500)}`), {
        status: response.status,
      });
    return { response, value: text === "" ? undefined : JSON.parse(text) };
  }

  async get(path) {
    return (await this.send("GET", path)).value;
  }

  /** All pages: both platforms name the next one in the header Link. */
  async list(path, itemsOf = (value) => value) {
    const items = [];
    for await (const page of this.pages(path)) items.push(...itemsOf(page));
    return items;
  }

  async *pages(path) {
    let next = `${path}${path.includes("?") ? "&" : "?"}per_page=100`;
    while (next) {
      const { response, value } = await this.send("GET", next);
      yield value;
      next = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
    }
  }
}

class GitHub {
  api = new Api(`${setting("GITHUB_API_URL")}/repos/${setting("GITHUB_REPOSITORY")}`, {
    authorization: `Bearer ${setting("GITHUB_TOKEN")}`,
    accept: "application/vnd.github+json",
  });
  commit = setting("GITHUB_SHA");

  async defaultBranch() {
    return (await this.api.get("")).default_branch;
  }

  isOn(branch) {
    return setting("GITHUB_REF") === `refs/heads/${branch}`;
  }

  async headOf(branch) {
    return (await this.api.get(`/branches/${encodeURIComponent(branch)}`)).commit.sha;
  }

  /**
   * The commits of the last runs of this workflow that have succeeded, the last one first. Runs of pull requests do not count: a
   * fork may have a branch of the same name, with another version of the workflow.
   */
  async lastApplied(branch) {
    const [, file] = /\/([^/]+)@/.exec(setting("GITHUB_WORKFLOW_REF")) ?? [];
    const query = `branch=${encodeURIComponent(branch)}&status=success&per_page=${mostApplied}`;
    const found = [];
    for (const event of ["push", "workflow_dispatch"]) {
      const path = `/actions/workflows/${file}/runs?${query}&event=${event}`;
      found.push(...(await this.api.get(path)).workflow_runs);
    }
    return found.sort((a, b) => b.run_number - a.run_number).map(({ head_sha: sha }) => sha);
  }

  async commitsSince(base) {
    const commits = await this.api.list(`/compare/${base}...${this.commit}`, ({ status, commits }) => {
      if (status === "ahead" || status === "identical") return commits;
      // The branch was rewritten, or the run was one of a tag with the branch's name.
      throw Object.assign(new Error(`${base} is not on the branch.`), { status: 404 });
    });
    return commits.map(({ sha }) => sha);
  }

  async mergedWith(commit, branch) {
    const pulls = await this.api.list(`/commits/${commit}/pulls`);
    return pulls
      .filter(({ merged_at: at, base }) => at && base.ref === branch)
      .map(({ number, merged_at: mergedAt, head }) => ({ number, mergedAt, head: head.sha }));
  }

  /** A label that a workflow has added does not count: previews run code of branches with that token. */
  async labelEvents(number) {
    const events = await this.api.list(`/issues/${number}/events`);
    return events.flatMap(({ event, label, actor, created_at: at }) =>
      event === "labeled" || event === "unlabeled"
        ? [{ name: label.name, isAdded: event === "labeled" && actor?.login !== workflowUser, at }]
        : [],
    );
  }

  /** The comments that this workflow's token has written. */
  async ownComments(number) {
    const comments = await this.api.list(`/issues/${number}/comments`);
    return comments
      .filter(({ user }) => user?.login === workflowUser)
      .map(({ id, body, updated_at: at }) => ({ id, body, at }));
  }

  pull() {
    return setting("PULL_REQUEST");
  }

  write(number, body, id) {
    return id
      ? this.api.send("PATCH", `/issues/comments/${id}`, { body })
      : this.api.send("POST", `/issues/${number}/comments`, { body });
  }

  async openIssue(title) {
    const issues = await this.api.list(`/issues?labels=${label}&state=open`);
    return issues.find((issue) => issue.title === title)?.number;
  }

  async createIssue(title, body) {
    // 422: it is there already.
    await this.api.send("POST", "/labels", { name: label, color: "d93f0b" }).catch((error) => {
      if (error.status !== 422) throw error;
    });
    return this.api.send("POST", "/issues", { title, body, labels: [label] });
  }

  updateIssue(number, body) {
    return this.api.send("PATCH", `/issues/${number}`, { body });
  }

  closeIssue(number) {
    return this.api.send("PATCH", `/issues/${number}`, { state: "closed" });
  }
}

class GitLab {
  api = new Api(`${setting("CI_API_V4_URL")}/projects/${setting("CI_PROJECT_ID")}`, {
    "private-token": setting("GITLAB_TOKEN"),
  });
  commit = setting("CI_COMMIT_SHA");

  defaultBranch() {
    return setting("CI_DEFAULT_BRANCH");
  }

  isOn(branch) {
    return env.CI_COMMIT_BRANCH === branch;
  }

  async headOf(branch) {
    return (await this.api.get(`/repository/branches/${encodeURIComponent(branch)}`)).commit.id;
  }

  /**
   * The commits of the branch's last deployments to this job's environment that have succeeded, the last one first. A job of another
   * branch may use the same environment.
   */
  async lastApplied(branch) {
    const environment = encodeURIComponent(setting("CI_ENVIRONMENT_NAME"));
    const query = `environment=${environment}&status=success&order_by=id&sort=desc`;
    for await (const deployments of this.api.pages(`/deployments?${query}`)) {
      const own = deployments.filter(({ ref, deployable }) => ref === branch && !deployable?.tag);
      if (own.length > 0) return own.map(({ sha }) => sha);
    }
    return [];
  }

  async commitsSince(base) {
    const { commits } = await this.api.get(`/repository/compare?from=${base}&to=${this.commit}`);
    return commits.map(({ id }) => id);
  }

  async mergedWith(commit, branch) {
    const requests = await this.api.list(`/repository/commits/${commit}/merge_requests`);
    return requests
      .filter(({ state, target_branch: target }) => state === "merged" && target === branch)
      .map(({ iid, merged_at: mergedAt, sha }) => ({ number: iid, mergedAt, head: sha }));
  }

  async labelEvents(number) {
    const events = await this.api.list(`/merge_requests/${number}/resource_label_events`);
    return events.map(({ action, label, created_at: at }) => ({
      name: label?.name,
      isAdded: action === "add",
      at,
    }));
  }

  /** The comments of the previews' token. An apply has another token, so it needs the name of that user. */
  async ownComments(number) {
    const isPreview = command === "comment";
    const author = isPreview
      ? (await this.api.get(`${setting("CI_API_V4_URL")}/user`)).username
      : setting("REVIEWER");
    const notes = await this.api.list(`/merge_requests/${number}/notes?sort=asc&order_by=created_at`);
    return notes
      .filter((note) => note.author.username === author && !note.system)
      .map(({ id, body, updated_at: at }) => ({ id, body, at }));
  }

  pull() {
    return setting("CI_MERGE_REQUEST_IID");
  }

  write(number, body, id) {
    const notes = `/merge_requests/${number}/notes`;
    return id ? this.api.send("PUT", `${notes}/${id}`, { body }) : this.api.send("POST", notes, { body });
  }

  async openIssue(title) {
    const issues = await this.api.list(`/issues?labels=${label}&state=opened`);
    return issues.find((issue) => issue.title === title)?.iid;
  }

  createIssue(title, description) {
    return this.api.send("POST", "/issues", { title, description, labels: label });
  }

  updateIssue(number, description) {
    return this.api.send("PUT", `/issues/${number}`, { description });
  }

  closeIssue(number) {
    return this.api.send("PUT", `/issues/${number}`, { state_event: "close" });
  }
}

async function comment(platform, file) {
  const body = readFileSync(file, "utf8");
  const [start] = marker.exec(body) ?? [];
  if (!start) throw new Error(`${file} does not begin as \`pulumi-uptime comment\` writes it.`);
  const number = platform.pull();
  const present = (await platform.ownComments(number)).find((comment) => comment.body.startsWith(start));
  await platform.write(number, body, present?.id);
}

async function review(platform) {
  const branch = await platform.defaultBranch();
  if (!platform.isOn(branch)) throw new Error(`Nothing is applied: this run is not on the branch ${branch}.`);
  const head = await platform.headOf(branch);
  if (head !== platform.commit)
    throw new Error(
      `Nothing is applied: ${platform.commit} is not the head of ${branch} any more. The run of ${head} applies what this one would.`,
    );
  // Somebody has run this by hand, with the digest of all that it may do.
  if (env.REVIEWED) return console.log("[]");
  const [base, ...older] = [...new Set(await platform.lastApplied(branch))].slice(0, mostApplied);
  const pulls = await mergedSinceApplied(platform, branch, base);
  const reviewed = [];
  for (const pull of pulls) reviewed.push(...(await reviewsOf(platform, pull)));
  reviewed.push(...(await lastReviewOf(platform, branch, base ? [base, ...older] : [])));
  const numbers = pulls.map(({ number }) => `#${number}`).join(", ");
  console.error(`Merged since the last apply: ${numbers || "no pull request"}.`);
  console.log(JSON.stringify(reviewed));
}

/** The pull requests whose changes this run may be the first to apply. */
async function mergedSinceApplied(platform, branch, base) {
  // Before the first apply, and when the branch was rewritten, nobody knows more than the last commit.
  const commits = base
    ? await platform.commitsSince(base).catch((error) => {
        if (error.status === 404) return [platform.commit];
        throw error;
      })
    : [platform.commit];
  const pulls = new Map();
  for (const commit of commits)
    for (const pull of await platform.mergedWith(commit, branch)) pulls.set(pull.number, pull);
  return [...pulls.values()];
}

/** The last comments that were applied. Only the code that they show counts, because state has held it since then. */
async function lastReviewOf(platform, branch, applied) {
  for (const commit of applied) {
    const reviewed = [];
    for (const pull of await platform.mergedWith(commit, branch))
      reviewed.push(...(await reviewsOf(platform, pull)));
    if (reviewed.length > 0) return reviewed.map((one) => ({ ...one, deletes: false, applied: true }));
  }
  return [];
}

/** The comments of a pull request as they were when it was merged. */
async function reviewsOf(platform, { number, mergedAt, head }) {
  const merged = Date.parse(mergedAt);
  const wasBefore = ({ at }) => Date.parse(at) <= merged;
  const labels = (await platform.labelEvents(number)).filter(wasBefore);
  labels.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const isAllowed = labels.findLast(({ name }) => name === allowDeletes)?.isAdded ?? false;
  const reviews = new Map();
  for (const { body, at } of await platform.ownComments(number)) {
    const [, title] = marker.exec(body) ?? [];
    // A preview updates the first one.
    if (title === undefined || reviews.has(title)) continue;
    if (!wasBefore({ at }))
      console.error(`The comment on #${number} was written after the merge, so it does not count.`);
    reviews.set(title, wasBefore({ at }) ? [{ body, pull: number, head, deletes: isAllowed }] : []);
  }
  return [...reviews.values()].flat();
}

/** Without a target, Pulumi would read all resources, and the `up` would undo edits that nobody has seen, other packages' too. */
function refresh(stack, file) {
  const { drifted } = JSON.parse(readFileSync(file, "utf8"));
  if (drifted.length === 0) return;
  const wild = drifted.find(({ urn }) => urn.includes("*"));
  if (wild)
    throw new Error(
      `Pulumi takes the * in --target=${wild.urn} for any name, so it would refresh other resources too, and nothing is refreshed. ` +
        "Undo the edit by hand, or give the resource a name without *.",
    );
  const args = [
    "refresh",
    "--stack",
    stack,
    "--yes",
    "--skip-preview",
    "--non-interactive",
    "--color",
    "never",
  ];
  const targets = drifted.map(({ urn }) => `--target=${urn}`);
  const { status, error } = spawnSync("pulumi", [...args, ...targets], { stdio: "inherit" });
  if (error) throw error;
  process.exitCode = status ?? 1;
}

async function alert(platform, stack, file) {
  const title = `Drift: the monitors of ${stack} were edited by hand`;
  const issue = await platform.openIssue(title);
  if (!file) return issue && platform.closeIssue(issue);
  const body = readFileSync(file, "utf8");
  return issue ? platform.updateIssue(issue, body) : platform.createIssue(title, body);
}

const [command, ...args] = process.argv.slice(2);
try {
  const action = { comment, review, alert }[command];
  if (command === "refresh") refresh(...args);
  else if (action) await action(env.GITHUB_ACTIONS ? new GitHub() : new GitLab(), ...args);
  else
    throw new Error(
      "Usage: node uptime-ci.mjs comment FILE | review | refresh STACK FILE | alert STACK [FILE]",
    );
} catch (error) {
  const cause = error.cause ? ` (${error.cause.message})` : "";
  console.error(`${env.GITHUB_ACTIONS ? "::error::" : ""}${error.message}${cause}`.replaceAll("\n", " "));
  process.exitCode = 1;
}
