import { rmSync } from "node:fs";
import { join } from "node:path";

import { reviewHash } from "../../provider/common/hash";
import type { Outcome } from "../support/cli";
import {
  bucket,
  bucketUrn,
  comment,
  create,
  drifted,
  folder,
  gone,
  inputs,
  marker,
  monitorType,
  preview,
  remove,
  report,
  run,
  step,
  update,
  urnOf,
  withFolder,
  withStates,
  write,
} from "../support/comment";
import { engineUnknown } from "../support/marks";

// What was reviewed is what runs.

withFolder();

type Steps = readonly object[];

const changedA = inputs("a", { interval: 300, sslAlertDays: 14 });
const changes = [
  step("update", "a", inputs("a"), changedA),
  create("b", { importId: "7" }),
  remove("c"),
  create("d", { url: engineUnknown, requestAuthPassword: "[secret]" }),
  bucket("create"),
];
const edits = [drifted("e", 900), drifted("f", "Edited", "name", "F")];
const changed = (at: number, present: object): object[] =>
  changes.map((one, index) => (index === at ? present : one));

const hashesOf = async (
  steps: Steps,
  drift: Steps | object = edits,
  env: NodeJS.ProcessEnv = {},
): Promise<string[]> =>
  / changes=(\S*) -->$/.exec(marker(await run(steps, drift, [], env)))?.[1]?.match(/.{10}/g) ?? [];
const digestOf = async (steps: Steps, drift: Steps | object = edits): Promise<string> =>
  (await run(steps, drift, ["--digest"])).stdout.trim();
const digestsOf = async (all: readonly Steps[], drift?: Steps): Promise<Set<string>> => {
  const digests = new Set<string>();
  for (const steps of all) digests.add(await digestOf(steps, drift));
  return digests;
};

/** What an apply with these comments, or with what is given, says: its exit code and why it stops. */
async function apply(
  steps: Steps | object,
  drift: Steps | object = [],
  reviewed = "comments.json",
  ...args: string[]
): Promise<Outcome> {
  return run(steps, drift, ["--reviewed", reviewed, ...args]);
}
/** Writes a comment as the only one that was reviewed. */
const writeReviewed = ({ stdout }: Outcome): void => write("comments.json", [{ body: stdout }]);
/** Writes the comment on these changes as the only one that was reviewed. */
async function review(steps: Steps | object, drift: Steps | object = []): Promise<void> {
  writeReviewed(await run(steps, drift));
}
const isApplied = { code: 0, stderr: "" };

describe("hashes and digest", () => {
  /** With the keys of each object in the opposite order, which makes no difference to JSON. */
  const turned = (value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .reverse()
            .map(([key, one]) => [key, turned(one)]),
        )
      : value;
  const time = "2026-01-02T03:04:05Z";
  const timed = JSON.parse(
    JSON.stringify(changes).replaceAll('"type":', `"created":"${time}","modified":"${time}","type":`),
  ) as object[];

  test.each<[string, Steps, Steps?]>([
    ["the order of steps", changes.toReversed()],
    ["the order of properties", changes.map((one) => turned(one) as object)],
    ["the order of drift", changes, edits.toReversed()],
    ["times", timed],
    ["what is hidden", changed(2, step("delete", "c", inputs("c", { __provider: "other" })))],
    ["values of other packages", changed(4, bucket("create", { tags: "b" }))],
    ["properties of other packages", changed(4, bucket("create", { acl: "public" }))],
    ["what does not change", [...changes, step("same", "x", inputs("x"), inputs("x"))]],
  ])("do not depend on %s", async (_, steps, found = edits) => {
    const hashes = await hashesOf(changes);
    // Of the program four, an update's two values, its secret and the rest of it, a create's record; another package's; and of drift two.
    expect(hashes).toHaveLength(12);
    expect(await hashesOf(steps, found)).toEqual(hashes);
    expect(await digestOf(steps, found)).toBe(await digestOf(changes));
  });

  const withOption = (option: object) => withStates(step("update", "a", inputs("a"), changedA), {}, option);
  test.each<[string, Steps]>([
    ["another value", changed(0, step("update", "a", inputs("a"), { ...changedA, interval: 600 }))],
    ["another value before", changed(0, step("update", "a", inputs("a", { interval: 180 }), changedA))],
    ["another property", changed(0, step("update", "a", inputs("a"), { ...changedA, pause: true }))],
    ["another operation", changed(0, remove("a"))],
    ["another option", changed(0, withOption({ protect: true }))],
    ["the option retainOnDelete", changed(0, withOption({ retainOnDelete: true }))],
    ["another resource", changed(2, step("delete", "x", inputs("c")))],
    ["another record", changed(1, create("b", { importId: "8" }))],
    ["a value that is known now", changed(3, create("d"))],
    ["another package's operation", changed(4, bucket("delete"))],
    ["another package's resource", changed(4, bucket("create", {}, `${bucketUrn}-2`))],
    [
      "a change of options alone",
      [...changes, withStates(step("same", "x", inputs("x"), inputs("x")), { protect: true })],
    ],
    ["a change more", [...changes, remove("x")]],
    ["what an earlier run has left", [...changes, step("delete-replaced", "x", inputs("x"))]],
  ])("change with %s: one hash, and that of what an apply may leave of it", async (_, steps) => {
    const [before, digest] = [await hashesOf(changes), await digestOf(changes)];
    const after = (await hashesOf(steps)).filter((hash) => !before.includes(hash));
    expect(after.length).toBeGreaterThan(0);
    expect(after.length).toBeLessThanOrEqual(3);
    expect(await digestOf(steps)).not.toBe(digest);
  });

  test("tell apart the id of what another package deletes, and the options that change", async () => {
    const unprotected = (id: string, before: object) => {
      const state = { type: "aws:s3/bucket:Bucket", id };
      return { op: "same", urn: bucketUrn, oldState: { ...state, ...before }, newState: state };
    };
    const deleted = (id: string) => ({ ...bucket("delete"), oldState: { type: "aws:s3/bucket:Bucket", id } });
    const before = [{ protect: true }, { retainOnDelete: true }].map((one) => unprotected("a", one));
    const all = [...before, { ...unprotected("a", {}), op: "update" }, deleted("a"), deleted("b")];
    const alone = all.map((one) => [one]);
    expect(await digestsOf(alone, [])).toHaveProperty("size", all.length);
  });

  test("tell apart drift, whether or not the program changes the same value", async () => {
    const before = await hashesOf(changes);
    const other = [drifted("e", 901), ...edits.slice(1)];
    expect((await hashesOf(changes, other)).filter((hash) => !before.includes(hash))).toHaveLength(1);
    expect(await digestOf(changes, other)).not.toBe(await digestOf(changes));
    const edit = [drifted("a", 900)];
    const apart = [...(await hashesOf(changes, [])), ...(await hashesOf([], edit))];
    expect(new Set(await hashesOf(changes, edit))).toEqual(new Set(apart));
  });

  test("more hashes than a third of the limit are left out, and the comment says what that means", async () => {
    const steps = Array.from({ length: 1000 }, (_, index) => create(`m${index}`));
    const outcome = await run(steps, [], ["--limit", "10000"]);
    expect(outcome.stdout.length).toBeLessThanOrEqual(10_000);
    expect(marker(outcome)).toMatch(/ digest=[\da-f]{32} -->$/);
    expect(outcome.stdout).toContain("the apply stops, and needs the digest that it prints.**");
    writeReviewed(outcome);
    const stopped = await apply(steps);
    expect(stopped.stderr).toContain("A comment has no room for its changes' hashes. To apply this:");
    // GitLab's limit holds them.
    expect(marker(await run(steps, [], ["--limit", "1000000"]))).toContain(" changes=");
  });

  const diagnostics = [{ message: "error: b has a problem", severity: "error" }];
  const uncompared = report([], { errors: [{ urn: urnOf("e"), message: "status 500" }] });
  test.each<[string, unknown, unknown, string]>([
    ["the preview failed", { steps: changes, diagnostics }, report(edits), "the preview failed"],
    ["the preview printed nothing", "", report(edits), "the preview failed"],
    ["there is no preview", undefined, report(edits), "there is no preview"],
    ["there is neither preview nor a whole drift", undefined, uncompared, "the drift is not known"],
    ["drift was not looked for", preview(changes), "", "the drift is not known"],
    ["something was not compared", preview(changes), uncompared, "the drift is not known"],
  ])("are missing if not everything is known: %s", async (_, printed, drift, what) => {
    if (printed !== undefined) write("preview.json", printed);
    write("drift.json", drift);
    expect(marker(await comment())).toMatch(/^<!-- pulumi-uptime comment v2 title=\S* -->$/);
    for (const option of [["--reviewed", ""], ["--digest"]])
      expect(await comment(option)).toMatchObject({
        code: 1,
        stderr: `Nothing is applied. It is not known what would be done: ${what}.\n`,
      });
  });
});

/** The comment on a pull request, as a platform returns it. */
const commentOn = async (
  steps: Steps,
  drift: Steps | object = edits,
  more: object = {},
): Promise<{ body: string }> => ({
  body: (await run(steps, drift, ["--commit", "0a1b"])).stdout.replaceAll("\n", "\r\n"),
  ...more,
});
const others = {
  body: "Looks good.\n<!-- pulumi-uptime comment v2 title= digest=0 changes=0123456789 -->",
};

describe("an apply may do what was reviewed", () => {
  test.each<[string, Steps, Steps]>([
    ["the same", changes, edits],
    ["a part of it, because a run has failed in the middle", changes.slice(2), edits.slice(1)],
    ["no drift any more", changes, []],
    ["nothing to do any more", [], []],
  ])("%s", async (_, steps, found) => {
    write("comments.json", [others, await commentOn(changes, edits, { pull: 12, head: "0a1b" })]);
    expect(await apply(steps, found)).toMatchObject(isApplied);
  });

  test("in several pull requests", async () => {
    write("comments.json", [await commentOn(changes.slice(0, 2), []), await commentOn(changes.slice(2))]);
    expect(await apply(changes, edits)).toMatchObject(isApplied);
    expect(await apply(changes, [drifted("x", 1)])).toMatchObject({ code: 1 });
  });

  test("a delete that a reviewed replacement has left, of the same record only", async () => {
    const replaced = ["replace", "create-replacement"].map((op) => step(op, "a", inputs("a"), changedA));
    await review(replaced);
    const left = step("delete-replaced", "a", inputs("a"));
    expect(await apply([left])).toMatchObject(isApplied);
    const other = withStates(left, { id: "another" });
    for (const one of [other, step("delete-replaced", "b", inputs("b")), remove("a")])
      expect(await apply([one])).toMatchObject({ code: 1 });
  });

  test("a delete that is left of a replacement by which an edit by hand is undone", async () => {
    await review([step("same", "a", inputs("a"), inputs("a"))], [{ ...drifted("a", 900), replaces: true }]);
    const left = withStates(step("delete-replaced", "a", inputs("a")), { id: "7" });
    expect(await apply([left])).toMatchObject(isApplied);
    expect(await apply([withStates(left, { id: "8" })])).toMatchObject({ code: 1 });
  });

  test.each<[string, (op: string) => object]>([
    ["this package", (op) => step(op, "a", inputs("a"), changedA)],
    [
      "another one",
      (op) => ({ ...bucket("create"), op, oldState: { type: "aws:s3/bucket:Bucket", id: "logs" } }),
    ],
  ])("the create that a reviewed replacement of %s has left, once its delete is done", async (_, stepOf) => {
    const replacing = (...ops: string[]) =>
      ops.map((op) => withStates(stepOf(op), { pendingReplacement: true }));
    await review(replacing("delete-replaced", "replace", "create-replacement"));
    const left = replacing("replace", "create-replacement");
    expect(await apply(left, [], undefined, "--max-deletes", "0")).toMatchObject(isApplied);
    expect(await apply(replacing("delete-replaced", "replace", "create-replacement"))).toMatchObject(
      isApplied,
    );
    await review([remove("b")]);
    expect(await apply(left)).toMatchObject({ code: 1 });
  });

  test.each(["EU prod", "100% é", "shop/prod", "\ud800"])("for any title: %j", async (title) => {
    writeReviewed(await run(changes, edits, ["--title", title]));
    expect(await apply(changes, edits, undefined, "--title", title)).toMatchObject(isApplied);
  });

  test("but not what comments on another stack show", async () => {
    writeReviewed(await run(changes, edits, ["--title", "staging"]));
    expect(await apply(changes, edits, undefined, "--title", "staging")).toMatchObject(isApplied);
    const { stderr } = await apply(changes, edits, undefined, "--title", "prod");
    expect(stderr).toContain("No comment is about a preview of prod");
  });

  describe("and what a run has left of it that failed in the middle", () => {
    const declared = inputs("a", { interval: 300, pause: true });
    /** The exit code, and what is not reviewed. */
    const then = async (...steps: object[]) => {
      const { code, stderr } = await apply(steps);
      return [code, /Monitor a: \w+/.exec(stderr)?.[0]];
    };
    const passes = [0, undefined];
    const stops = [1, "Monitor a: update"];
    const rest = withStates(step("update", "a", declared, declared), {
      outputs: { ...declared, pause: false },
    });
    const otherRest = withStates(rest, {}, { inputs: { ...declared, interval: 900 } });
    /** As it is if the provider notes what changes. */
    const known = { ...rest, diffReasons: ["pause"] };
    const secretToo = { ...rest, diffReasons: ["pause", "requestHeaders"] };
    /** All that was sent is in state, but was not verified. */
    const finished = { ...step("update", "a", declared, declared), diffReasons: [] };
    const elsewhere = withStates(finished, {}, { inputs: { ...declared, account: "other" } });
    const isSame = step("same", "a", declared, declared);
    const created = step("create", "a", undefined, declared);

    test.each<[string, object]>([
      ["a create whose record is made in part", created],
      ["an update that was stored in part", step("update", "a", inputs("a"), declared)],
    ])("%s", async (_, reviewed) => {
      await review([reviewed]);
      for (const one of [rest, finished]) expect(await then(one)).toEqual(passes);
      expect(await then(otherRest)).toEqual(stops);
      expect(await then(elsewhere)).toEqual(stops);
    });

    test.each<[string, object, object, object]>([
      ["an update", update("a", { interval: 300 }), drifted("a", 300), drifted("a", 900)],
      [
        "an update in another spelling",
        update("a", { url: "https://n.example" }),
        drifted("a", "https://n.example/", "url", "https://a.example/"),
        drifted("a", 900),
      ],
      [
        "an update that empties a field",
        update("a", { pause: null }),
        drifted("a", false, "pause", true),
        drifted("a", true, "pause", false),
      ],
      ["a delete", remove("a"), gone("a"), drifted("a", 900)],
      [
        "the delete of a replacement",
        step("replace", "a", inputs("a"), inputs("a", { account: "eu" })),
        gone("a"),
        drifted("a", 900),
      ],
    ])("%s that is done and not in state, because the run was killed", async (_, one, done, other) => {
      await review([one]);
      expect(await apply([one], [done])).toMatchObject(isApplied);
      expect((await apply([one], [other])).stderr).toContain("Monitor a: edited by hand");
    });

    test("an edit by hand that is in state now", async () => {
      await review([isSame], [drifted("a", false, "pause", true)]);
      for (const one of [known, finished]) expect(await then(one)).toEqual(passes);
      for (const other of [rest, secretToo, otherRest]) expect(await then(other)).toEqual(stops);
      expect(await then(created)).toEqual([1, "Monitor a: create"]);
    });

    test("but no value that the review did not show, which somebody has set since then", async () => {
      // Somebody has paused the monitor by an `up` of his own, and the program, which pauses nothing, has it undone.
      const paused = { ...inputs("a"), pause: true, alertChannelIds: [7] };
      const undone = inputs("a", { interval: 300, pause: false, alertChannelIds: null });
      const interval = step("update", "a", inputs("a"), inputs("a", { interval: 300 }));
      const all = step("update", "a", paused, undone);
      const [noPause, noChannels] = ["pause", "alertChannelIds"].map((key) =>
        step("update", "a", { ...undone, [key]: (paused as Record<string, unknown>)[key] }, undone),
      );
      await review([{ ...interval, diffReasons: ["interval"] }]);
      for (const one of [all, noPause, noChannels])
        expect(await then({ ...one, diffReasons: [] })).toEqual(stops);
      // What a create does not declare is empty in its record, and nobody has reviewed that it is emptied.
      await review([step("create", "a", undefined, inputs("a", { interval: 300, pause: false }))]);
      expect(await then({ ...noPause, diffReasons: [] })).toEqual(passes);
      expect(await then({ ...noChannels, diffReasons: [] })).toEqual(stops);
      // The program sets it: what a run has begun and not finished is named, though state has it.
      const half = withStates(step("update", "a", undone, { ...undone, name: "b" }), {
        outputs: inputs("a"),
      });
      const { stdout } = await run([{ ...half, diffReasons: ["name", "interval", "alertChannelIds"] }]);
      expect(stdout).toContain(
        '! Monitor a\n!     name: "a" => "b"\n!     alertChannelIds: null\n!     interval: 60 => 300\n',
      );
    });

    test("but no update after an import, which writes nothing", async () => {
      const imported = { ...declared, importId: "7" };
      await review([create("a", imported)]);
      expect(await apply([create("a", imported)])).toMatchObject(isApplied);
      expect(await then(step("update", "a", inputs("a", { importId: "7" }), imported))).toEqual(stops);
    });

    test("but no change of the option protect after a create, whose comment does not show it", async () => {
      await review([withStates(created, {}, { protect: true })]);
      expect(await then(withStates(rest, { protect: true }, { protect: true }))).toEqual(passes);
      expect(await then(withStates(isSame, { protect: true }))).toEqual(stops);
    });

    test("a secret only if the review showed it", async () => {
      const update = step("update", "a", inputs("a"), declared);
      await review([{ ...update, diffReasons: ["interval", "pause"] }]);
      expect(await then(known)).toEqual(passes);
      for (const other of [rest, secretToo]) expect(await then(other)).toEqual(stops);
      await review([{ ...update, diffReasons: ["interval", "pause", "requestHeaders"] }]);
      for (const one of [known, rest, secretToo]) expect(await then(one)).toEqual(passes);
    });

    test("a record that is gone, and is not in state any more", async () => {
      await review([isSame], [gone("a")]);
      for (const one of [created, rest]) expect(await then(one)).toEqual(passes);
      const other = step("create", "a", undefined, { ...declared, interval: 900 });
      expect(await then(other)).toEqual([1, "Monitor a: create"]);
    });
  });

  test("a create that a killed run has begun is named before the merge, and needs a review of its own", async () => {
    const created = [create("a")];
    const pending = report([], { pending: [{ urn: urnOf("a") }, { urn: urnOf("x") }] });
    await review(created);
    expect(await apply(created)).toMatchObject(isApplied);
    const stopped = await apply(created, pending);
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toContain(
      "1 of 2 changes was not reviewed: Monitor a: a run was killed while it created it.",
    );
    expect(stopped.stdout).toMatch(
      /#### Before you merge\n\n- A run was killed while it created `Monitor a`, so the records may exist, and merging this creates them again\./,
    );
    expect(stopped.stdout).not.toContain("Monitor x");
    writeReviewed(stopped);
    expect(await apply(created, pending)).toMatchObject(isApplied);
    // Once it is in state, Pulumi still keeps it.
    expect(await apply([], pending, "")).toMatchObject(isApplied);
    const updated = [update("a", { interval: 900 })];
    await review(updated);
    expect(await apply(updated, pending)).toMatchObject(isApplied);
    rmSync(join(folder, "preview.json"));
    expect((await comment()).stdout).toContain("`` A run was killed while it created Monitor a, Monitor x:");
  });
});

describe("an apply stops", () => {
  const onPull = (more: object) => commentOn(changes, edits, { pull: 12, ...more });
  test.each<[string, () => Promise<object[]>, RegExp]>([
    [
      "nothing was reviewed",
      () => Promise.resolve([]),
      /^Nothing is applied\. None of this was reviewed\. There is no comment about a preview\. /,
    ],
    [
      "only others have commented",
      () => Promise.resolve([others]),
      /reviewed\. No comment is about a preview of team\/prod\. /,
    ],
    [
      "an older commit was reviewed",
      async () => [await onPull({ head: "ffff" })],
      /reviewed\. The comment on pull request 12 is of commit 0a1b, and the pull request's head is ffff\. /,
    ],
    [
      "the file names a head with a new line",
      async () => [await onPull({ head: "f\n::set-output name=x::y" })],
      /and the pull request's head is f\\n::set-output name=x::y\. To apply/,
    ],
    [
      "a forged comment names no commit",
      async () => {
        const { body, ...rest } = await onPull({ head: "ffff" });
        return [{ ...rest, body: body.replace(/commit=\S+/, "commit=##[error]x") }];
      },
      /The comment on pull request 12 is of commit \(unknown\), and/,
    ],
    [
      "the preview had failed",
      async () => [await commentOn([{ op: "shred", urn: urnOf("a") }], edits, { pull: 12 })],
      /reviewed\. The comment on pull request 12 is of a preview that failed\. /,
    ],
    [
      "some was not reviewed",
      async () => [await commentOn(changes.slice(0, 3), edits.slice(1))],
      /^Nothing is applied\. 3 of 7 changes were not reviewed: Monitor d: create, aws:s3\/bucket:Bucket logs: create, Monitor e: edited by hand\. /,
    ],
  ])("and says why: %s", async (_, reviewed, reason) => {
    write("comments.json", await reviewed());
    const { code, stdout, stderr } = await apply(changes, edits);
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(
      /To apply this: merge a pull request whose comment shows these changes or, if everything listed above is right, run the workflow by hand with the digest [\da-f]{32}\.\n$/,
    );
    // What would be done is listed all the same.
    expect(stdout).toContain("- Monitor c\n");
  });

  test("and prints a digest that allows exactly this run, deletes too; pasted with what was around it", async () => {
    const stop = (await apply(changes, edits, "")).stderr;
    const [, digest = ""] = /digest ([\da-f]{32})/.exec(stop) ?? [];
    expect(digest).toBe(await digestOf(changes));
    for (const given of [digest, ` ${digest.toUpperCase()}.\n`])
      expect(await apply(changes, edits, given, "--max-deletes", "0")).toMatchObject({ code: 0 });
    const other = await apply(changes.slice(1), edits, digest);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain(`The digest ${digest} belongs to other changes than those listed above.`);
    expect(await digestOf([], [])).toBe("none");
    expect(await apply([], [], "")).toMatchObject({ code: 0 });
    expect(await apply(changes, edits, "nothing.json")).toMatchObject({
      code: 1,
      stderr: "--reviewed: nothing.json is neither a file nor a digest.\n",
    });
    write("other.json", { body: "" });
    expect((await apply(changes, edits, "other.json")).stderr).toContain("is not a JSON array of comments");
  });

  test("on GitHub with an annotation", async () => {
    const removed = step("delete", "50%\n::warning::x", inputs("c"));
    const { stderr } = await run([removed], [], ["--reviewed", ""], { GITHUB_ACTIONS: "true" });
    expect(stderr).toMatch(/^::error title=pulumi-uptime::Nothing is applied\. .*\.\n$/);
    await review(changes, edits);
    const named = await run([...changes, removed], edits, ["--reviewed", "comments.json"], {
      GITHUB_ACTIONS: "true",
    });
    expect(named.stderr).toContain("Monitor 50%25\\n");
    expect(named.stderr.trim()).not.toContain("\n");
  });
});

describe("--max-deletes", () => {
  test("counts an edit whose undoing replaces the record", async () => {
    const edits = [{ ...drifted("a", 900), replaces: true }, drifted("b", 900)];
    const steps = preview([], 3);
    await review(steps, edits);
    const { code, stderr } = await apply(steps, edits, undefined, "--max-deletes", "0");
    expect(code).toBe(1);
    expect(stderr).toContain("1 of 2 resources would be deleted or replaced, and the limit is 0");
  });

  test.each([
    ["is replaced and was edited by hand", { ...drifted("a", 900), replaces: true }, 1],
    ["is replaced and was edited by hand with its record gone", gone("a"), 0],
  ])("counts once a resource that %s", async (_, edit, count) => {
    const steps = preview([step("replace", "a", inputs("a"), changedA)], 3);
    await review(steps, [edit]);
    const allowed = String(count);
    expect(await apply(steps, [edit], undefined, "--max-deletes", allowed)).toMatchObject({ code: 0 });
    if (count === 0) return;
    const { stderr } = await apply(steps, [edit], undefined, "--max-deletes", "0");
    expect(stderr).toContain("1 of 3 resources would be deleted or replaced, and the limit is 0");
  });

  test("does not count a delete of a resource whose record is gone", async () => {
    const steps = preview([remove("a")], 3);
    await review(steps, [gone("a")]);
    expect(await apply(steps, [gone("a")], undefined, "--max-deletes", "0")).toMatchObject({ code: 0 });
  });

  test("counts what an earlier run has left of a resource whose record is gone", async () => {
    const steps = preview([step("delete-replaced", "a", inputs("a"))], 3);
    await review(steps, [gone("a")]);
    const { stderr } = await apply(steps, [gone("a")], undefined, "--max-deletes", "0");
    expect(stderr).toContain("1 of 2 resources would be deleted or replaced, and the limit is 0");
  });

  test.each<[string, string, boolean]>([
    ["as a number", "3", true],
    ["as a number", "2", false],
    ["as a share", "100%", true],
    ["as a share", "99%", false],
    ["none", "0", false],
  ])("limits deletes and replacements of all packages, %s: %s", async (_, most, isAllowed) => {
    const steps = [remove("a"), step("replace", "b", inputs("b"), changedA), bucket("delete")];
    await review(steps);
    const { code, stderr } = await apply(steps, [], undefined, "--max-deletes", most);
    // In the pull request, the comment already says so.
    const before = await run(steps, [], ["--max-deletes", most]);
    expect([code, before.code]).toEqual([isAllowed ? 0 : 1, 0]);
    const words =
      /3 of 3 resources would be deleted or replaced, and the limit is (\d|\d+%, which allows 2)\./;
    if (isAllowed) {
      expect(stderr).toBe("");
      expect(before.stdout).not.toMatch(words);
    } else {
      expect(stderr).toMatch(words);
      expect(stderr).toContain(
        "To apply this: merge a pull request that has the label allow-deletes by then or, if everything",
      );
      expect(before.stdout).toMatch(words);
      expect(before.stdout).toContain(
        ". The apply stops after the merge, unless this pull request has the label `allow-deletes` when it is merged: set it if you approve.**\n",
      );
    }
  });

  test("counts a record that an earlier run has replaced as no resource", async () => {
    const left = step("delete-replaced", "a", inputs("a"));
    const steps = preview([left], 5);
    await review(steps);
    const { stderr } = await apply(steps, [], undefined, "--max-deletes", "20%");
    expect(stderr).toContain(
      "1 of 4 resources would be deleted or replaced, and the limit is 20%, which allows none",
    );
  });

  test("is not exceeded by deletes that were allowed, but by those of another pull request", async () => {
    const [one, two] = [remove("a"), remove("b")];
    const applyBoth = async (deletes: boolean): Promise<Outcome> => {
      write("comments.json", [
        await commentOn([one], [], { pull: 1, deletes: true }),
        await commentOn([two], [], { pull: 2, deletes }),
      ]);
      return apply([one, two], [], undefined, "--max-deletes", "0");
    };
    expect(await applyBoth(true)).toMatchObject({ code: 0 });
    expect((await applyBoth(false)).stderr).toContain("1 of 2 resources would be deleted");
  });

  test.each(["many", "-1", "20 %", "200%", ""])("refuses %j", async (most) => {
    expect(await run(changes, edits, ["--max-deletes", most])).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("code of other packages in state", () => {
  const table = (op: string, text: string) => {
    const tableType = "pulumi-nodejs:dynamic:Table";
    const state = { type: tableType, inputs: { __provider: text }, outputs: { __provider: "of state" } };
    return { op, urn: urnOf("users", tableType), oldState: state, newState: state };
  };
  const codeOf = (text: string, ...resources: string[]) => [{ hash: reviewHash(["code", text]), resources }];
  const withCode = (code: Steps, found: Steps = edits) => report(found, { code });

  test("must be that of the review, if there is anything to do", async () => {
    const code = codeOf("of state", "Table users", "Table orders");
    const other = withCode(codeOf("other", "Table users", "Table orders"));
    await review(changes, withCode(code));
    expect(await apply(changes, withCode(code))).toMatchObject(isApplied);
    expect(await apply(changes, edits)).toMatchObject(isApplied);
    const stopped = await apply(changes, other);
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toMatch(
      /1 of 8 changes was not reviewed: code in state of Table users, Table orders \([\w+/]{10}\)\./,
    );
    expect(await apply([], { ...other, drifted: [] })).toMatchObject(isApplied);
    // What the program brings is in state after the first run.
    await review([...changes, { ...table("create", "of the program"), oldState: undefined }], edits);
    const brought = withCode(codeOf("of the program", "Table users"));
    expect(await apply(changes, brought)).toMatchObject(isApplied);
  });

  test("is named in a comment if the program does not declare it", async () => {
    const many = Array.from({ length: 6 }, (_, index) => `Table t${index}`);
    const code = [...codeOf("of the program", "Table users"), ...codeOf("of state", ...many)];
    const plugin = { hash: "CCCCCCCCCC", address: "https://plugins.example", resources: ["evil default"] };
    const steps = [...changes, table("same", "of the program")];
    const { stdout } = await run(steps, withCode([...code, plugin]));
    expect(stdout).toContain(
      "#### Code in the stack's state that is not in this program (2)\n\n" +
        "Pulumi runs this code when it refreshes or deletes these resources, and merging this pull request allows that. " +
        "Expect the code if the pull request changes or removes it, or if an earlier comment shows the same hash. " +
        "Otherwise find out who wrote it into the state before you merge.\n\n" +
        `- \`${many.join(", ")}\`: code \`${reviewHash(["code", "of state"])}\`\n` +
        "- `evil default`: the plugin from `https://plugins.example`, `CCCCCCCCCC`\n",
    );
    expect(stdout.indexOf("#### Code in the")).toBeLessThan(stdout.indexOf("#### Edited by hand"));
    expect((await run(steps, withCode(code.slice(0, 1)))).stdout).not.toContain("#### Code");
    // By night nothing of the program is known.
    rmSync(join(folder, "preview.json"));
    expect((await comment()).stdout).not.toContain("#### Code");
  });

  test("stops --code before a preview if no review has it; applied reviews count too", async () => {
    const code = codeOf("of state", "Table users");
    const check = async (given = "comments.json", found: Steps = code): Promise<Outcome> => {
      rmSync(join(folder, "preview.json"), { force: true });
      write("drift.json", withCode(found));
      return comment(["--title", "prod", "--code", "--reviewed", given]);
    };
    const commentOnCode = async (more: object = {}): Promise<void> => {
      const { stdout } = await run([], withCode(code, []), ["--title", "prod", "--commit", "0a1b"]);
      write("comments.json", [{ body: stdout, ...more }]);
    };
    expect(await check("", [])).toEqual({ code: 0, stdout: "", stderr: "" });
    const stopped = await check("");
    expect(stopped).toMatchObject({ code: 1, stdout: "" });
    expect(stopped.stderr).toMatch(
      /^Nothing is previewed or applied, because .* Nobody has reviewed code in state of Table users \([\w+/]{10}\)\. .* the digest [\da-f]{16}\.\n$/,
    );
    // Its digest is the beginning of that of the whole run, which an apply that stopped later has printed.
    const [, digest = ""] = /digest ([\da-f]{16})\.$/m.exec(stopped.stderr) ?? [];
    const whole = await digestOf(changes, withCode(code));
    for (const given of [digest, whole]) expect(await check(given)).toMatchObject(isApplied);
    const other = (await digestOf(changes)).slice(0, 16);
    expect((await check(other)).stderr).toContain("belongs to other code than code in state of Table users");
    expect(await apply(changes, withCode(code), digest)).toMatchObject({ code: 1 });
    expect(await apply([], withCode(code, []), digest)).toMatchObject(isApplied);

    await commentOnCode();
    expect(await check()).toMatchObject(isApplied);
    expect(await check(undefined, codeOf("other", "Table users"))).toMatchObject({ code: 1 });
    await commentOnCode({ applied: true });
    expect(await check()).toMatchObject(isApplied);
    await commentOnCode({ head: "ffff" });
    expect((await check()).stderr).toContain("the pull request's head is ffff");
    // Of what was applied, nothing but the code counts.
    write("comments.json", [await commentOn(changes, edits, { applied: true })]);
    expect(await apply(changes, edits)).toMatchObject({ code: 1 });
    write("drift.json", "");
    expect((await comment(["--code", "--reviewed", ""])).stderr).toContain("the drift is not known");
    expect((await comment(["--code"])).stderr).toContain("--code needs --reviewed");
  });
});

test("an explicit provider is this package's: its address is shown and hashed, its keys are not", async () => {
  const type = "pulumi:providers:uptime";
  const providerUrn = urnOf("eu", type);
  const provider = (baseUrl: string, apiKey: string) => ({
    type,
    inputs: { __name: "eu", baseUrl, apiKey, accounts: "[secret]" },
  });
  const moved = (to: string, key = "canary") => [
    {
      op: "update",
      urn: providerUrn,
      diffReasons: ["apiKey", "baseUrl"],
      oldState: provider("https://a.example", "old"),
      newState: provider(to, key),
    },
  ];
  const { stdout } = await run(moved("https://b.example"));
  expect(stdout).toContain(
    '#### Updated (1)\n\n```diff\n! Provider eu\n!     baseUrl: "https://a.example" => "https://b.example"\n' +
      "!     apiKey: [secret] => [secret]\n```\n",
  );
  expect(stdout).not.toContain("canary");
  const moves = [moved("https://b.example"), moved("https://c.example"), moved("https://b.example", "other")];
  expect(await digestsOf(moves)).toHaveProperty("size", 2);
  // The same change of a resource in another account, or of another provider.
  const inAccount = (more: object, reference?: string) => [
    withStates(create("a", more), {}, { provider: reference && `${reference}::0a1b` }),
  ];
  const all = [
    inAccount({}),
    inAccount({ account: "eu" }),
    ...[providerUrn, `${providerUrn}2`, urnOf("default_0_1_0", type)].map((urn) => inAccount({}, urn)),
  ];
  expect(await digestsOf(all)).toHaveProperty("size", 4);
});

describe("secrets, of which the provider has noted something", () => {
  /** Writes notes, and returns the environment that names their file. */
  const noted = (...notes: object[]): NodeJS.ProcessEnv => {
    write("values", notes.map((note) => `${JSON.stringify(note)}\n`).join(""));
    return { UPTIME_REVIEW_FILE: join(folder, "values") };
  };
  const urnSuffix = `${monitorType}::a`;

  test("count with their values", async () => {
    const hashes = (hash?: string, steps: Steps = changes) =>
      hashesOf(steps, edits, noted(...(hash === undefined ? [] : [{ urnSuffix, hash }])));
    const without = await hashes();
    const all = [...without, ...(await hashes("one")), ...(await hashes("two"))];
    expect(new Set(all).size).toBe(without.length + 4);
    // A resource without secrets shows all its values.
    const plain = [step("update", "a", { interval: 60 }, { interval: 300 })];
    expect(await hashes("two", plain)).toEqual(await hashes("three", plain));
  });

  test("are named if they change beside another property, and need a review of their own", async () => {
    const one = [step("update", "a", inputs("a"), inputs("a", { interval: 300 }))];
    /** With what the provider has noted; without a key it notes no values. */
    const previewed = (changed: string[] | undefined, ...args: string[]): Promise<Outcome> => {
      const other = { urnSuffix: `${monitorType}::b`, changed: ["url"] };
      const env = noted(...(changed ? [other, { urnSuffix, changed: [] }, { urnSuffix, changed }] : []));
      return run(one, [], args, env);
    };
    const [alone, both] = [["interval"], ["interval", "requestHeaders"]];
    const linesOf = ({ stdout }: Outcome): string => /! Monitor a\n([^`]*)/.exec(stdout)?.[1] ?? "";
    const interval = "!     interval: 60 => 300\n";
    expect(linesOf(await previewed(alone))).toBe(interval);
    expect(linesOf(await previewed(both))).toBe(`${interval}!     requestHeaders: [secret] => [secret]\n`);
    // Pulumi does not say whether they change.
    expect(linesOf(await previewed(undefined))).toBe(
      `${interval}!     requestHeaders (secret) may change too\n`,
    );
    for (const reviewed of [alone, both, undefined]) {
      writeReviewed(await previewed(reviewed));
      for (const then of [alone, both, undefined]) {
        // A review of more covers a part of it, which a run may have left that failed in the middle.
        const isReviewed = reviewed !== alone || then === alone;
        expect((await previewed(then, "--reviewed", "comments.json")).code).toBe(isReviewed ? 0 : 1);
      }
    }
  });
});

describe("an edit by hand, as the options of the program have it, and not yet those of state,", () => {
  const program = (options: object) => step("same", "e", inputs("e"), inputs("e", { __options: options }));
  const edit = drifted("e", 900);

  test("is undone by a replacement, which a review of the edit alone does not allow", async () => {
    const steps = [program({ replaceOnChanges: ["interval"] })];
    const { stdout } = await run(steps, [edit], ["--max-deletes", "0"]);
    expect(stdout).toContain("**Merging this replaces 1 resource; 0 unchanged.**");
    expect(stdout).toContain("1 of 1 resource would be deleted or replaced, and the limit is 0");
    writeReviewed(await run([program({})], [edit]));
    expect((await run([program({})], [edit], ["--reviewed", "comments.json"])).code).toBe(0);
    expect((await run(steps, [edit], ["--reviewed", "comments.json"])).code).toBe(1);
  });

  test("is not known where state ignores it and the program does not any more, and the comment says so", async () => {
    const ignoring = (state: object, ignoreChanges: string[]) => ({
      ...state,
      __options: { ignoreChanges },
    });
    const steps = [
      step("same", "e", ignoring(inputs("e"), ["interval", "name"]), ignoring(inputs("e"), ["name"])),
      withStates(
        step("same", "f", inputs("f"), inputs("f")),
        { ignoreChanges: ["*"] },
        { ignoreChanges: [] },
      ),
      step("delete", "g", ignoring(inputs("g"), ["interval"])),
    ];
    const { stdout } = await run(steps, []);
    expect(stdout).toContain(
      "#### Before you merge\n\n- The program does not have `interval of Monitor e, name of Monitor f, url of Monitor f, " +
        "interval of Monitor f, requestHeaders of Monitor f` in `ignoreChanges` any more. What somebody has set there by hand is not " +
        "below, and the next update of the resource overwrites it.\n",
    );
    expect((await run([program({})], [edit])).stdout).not.toContain("any more");
  });

  test("is left to the web UI", async () => {
    const { stdout } = await run([program({ ignoreChanges: ["interval"] })], [edit]);
    expect(stdout).toContain("**Merging this changes nothing; ");
    expect(stdout).not.toContain("undoes these edits");
  });
});
