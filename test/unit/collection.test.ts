import { systemClock } from "../../provider/api/clock";
import { Collection } from "../../provider/api/collection";
import {
  ApiError,
  LostAnswerError,
  NotFoundError,
  RecordMismatchError,
  UptimeError,
} from "../../provider/api/errors";
import { Operation } from "../../provider/api/operation";
import { readPages } from "../../provider/api/paging";
import type { Headers } from "../../provider/api/transport";
import { monitor } from "../../provider/definitions/monitor";
import { clientOf, errorOf, shownText } from "../support/client";
import { instantClock } from "../support/clock";

const record = { id: 7, name: "Home", url: "https://example.com/", interval: 60 };
const records = (...ids: number[]) => ids.map((id) => ({ ...record, id }));

/**
 * A collection whose server answers everything with 200 and what `answer` says to its query, or with another status if that is
 * undefined; and what it was asked.
 */
function collectionOf(
  answer: (query: URLSearchParams, path: string) => unknown,
  {
    otherStatus = 404,
    headersTo,
  }: { otherStatus?: number; headersTo?: (query: URLSearchParams) => Headers } = {},
): { monitors: Collection; asked: URLSearchParams[] } {
  const settings = {
    "uptime:baseUrl": "https://uptime.example.com",
    "uptime:apiKey": "key",
    "uptime:maxConcurrency": "3",
  };
  const asked: URLSearchParams[] = [];
  const client = clientOf(settings, instantClock(), ({ url }) => {
    asked.push(url.searchParams);
    const body = answer(url.searchParams, url.pathname);
    const text = typeof body === "string" ? body : JSON.stringify(body ?? {});
    const status = body === undefined ? otherStatus : 200;
    return Promise.resolve({ status, headers: headersTo?.(url.searchParams) ?? {}, body: Buffer.from(text) });
  });
  return { monitors: new Collection(monitor, client), asked };
}

const pageIn = (query: URLSearchParams): number => Number(query.get("page") ?? 1);
/** A collection whose list has pages with numbers from 1 on. */
const pagesOf = (answer: (page: number) => unknown, options?: Parameters<typeof collectionOf>[1]) =>
  collectionOf((query) => answer(pageIn(query)), options);

const start = (): Operation => new Operation({ clock: systemClock });

async function listed(monitors: Collection, parameters = {}): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of monitors.list(start(), parameters)) ids.push(...page.map(({ id }) => id));
  return ids;
}

/** Each request of a collection, with what is needed to send it. */
const requests = {
  get: (monitors: Collection) => monitors.get("7", start()),
  create: (monitors: Collection) => monitors.create([], start()),
  update: (monitors: Collection) => monitors.update("7", [], start()),
  delete: (monitors: Collection) => monitors.delete("7", start()),
  list: (monitors: Collection) => listed(monitors),
} as const;
type Request = keyof typeof requests;
const all = Object.keys(requests) as Request[];

describe("an answer with status 200 that holds no record and says that it failed", () => {
  test.each<[unknown, string]>([
    [{ success: false, message: "No more monitors" }, "No more monitors"],
    [{ success: false, data: [] }, '{"success":false,"data":[]}'],
    [{ error: "No more monitors" }, "No more monitors"],
    [{ message: "", error: "No more monitors" }, "No more monitors"],
    [{ errors: ["No more monitors"] }, '["No more monitors"]'],
    [{ ok: false, message: "No more monitors" }, "No more monitors"],
    [{ status: false, message: "No more monitors" }, "No more monitors"],
    [{ status_code: 403, message: "No more monitors" }, "No more monitors"],
    [{ http_code: 401, data: [], message: "No more monitors" }, "No more monitors"],
    [{ isSuccess: "no", data: [], message: "No more monitors" }, "No more monitors"],
    [{ code: "401", data: null, message: "No more monitors" }, "No more monitors"],
    [{ status: "unauthorized", message: "No more monitors" }, "No more monitors"],
    [{ data: null, meta: { code: 403 }, message: "No more monitors" }, "No more monitors"],
    [{ data: { success: false }, message: "No more monitors" }, "No more monitors"],
    [{ status: "error", message: "No more monitors" }, "No more monitors"],
    [{ status: "FAIL", data: null, message: "No more monitors" }, "No more monitors"],
    [{ result: "error", data: [], message: "No more monitors" }, "No more monitors"],
    [{ stat: "fail", message: "No more monitors" }, "No more monitors"],
  ])("(%j) is a refusal in the server's words", async (body, said) => {
    for (const request of all) {
      const error = await errorOf(requests[request](collectionOf(() => body).monitors));
      expect(error).toBeInstanceOf(ApiError);
      // A create had no effect, so nobody looks for it.
      expect(error).not.toBeInstanceOf(LostAnswerError);
      expect(shownText(error)).toContain(`returned status 200: ${said}`);
      // What anybody may print has no words of the server, which may repeat a secret.
      expect(error.message).toContain("returned status 200: …");
    }
  });

  test("to a read or a delete says what to do if the record is missing", async () => {
    const { monitors } = collectionOf(() => ({ success: false, message: "Not found." }));
    const way =
      "status 200: Not found. If state has this record and it no longer exists, run `pulumi state delete URN`.";
    for (const request of ["get", "delete"] as const)
      expect(shownText(await errorOf(requests[request](monitors)))).toContain(way);
    for (const request of ["create", "update", "list"] as const)
      await expect(requests[request](monitors)).rejects.not.toThrow("pulumi state delete");
  });

  test("says what is wrong with each field", async () => {
    const body = { success: false, message: "Invalid", errors: { name: ["is taken"] } };
    const error = await errorOf(collectionOf(() => body).monitors.create([], start()));
    const fields = new Map([["name", [{ text: "is taken" }]]]);
    expect(error).toMatchObject({ isRefusal: true, answer: { fields } });
  });

  test("to a delete also if it says that nothing was deleted", async () => {
    const { monitors } = collectionOf(() => ({ deleted: false, message: "It is in use" }));
    expect(shownText(await errorOf(monitors.delete("7", start())))).toContain("status 200: It is in use");
    for (const body of [
      "false",
      "0",
      '{"deleted":"no","data":null}',
      '{"data":{"deleted":false}}',
      '{"id":7,"status":false}',
      '[{"id":7,"status":"error"}]',
      '{"monitor":{"id":7,"deleted":false}}',
    ])
      expect(await errorOf(collectionOf(() => body).monitors.delete("7", start()))).toBeInstanceOf(ApiError);
    // The record's own address is asked.
    const doubtful = collectionOf(() => ({ result: { id: 7, success: false } })).monitors;
    expect(await doubtful.delete("7", start())).toBeDefined();
    await collectionOf(() => ({ deleted: true, code: 200, status: true })).monitors.delete("7", start());
    for (const said of [
      { success: false, data: record },
      { error: "It is locked", data: record },
      { data: { ...record, deleted: false } },
    ])
      expect(await collectionOf(() => said).monitors.delete("7", start())).toBeDefined();
    const { monitors: failing } = collectionOf(() => ({ status: "error", id: 7, message: "It is in use" }));
    expect(shownText(await errorOf(failing.delete("7", start())))).toContain("It is in use");
  });

  test.each([
    "",
    "{}",
    '{"data":null}',
    "true",
    "1",
    '"deleted"',
    "OK",
    "Deleted",
    '{"deleted":7}',
    '{"deleted":"2026-11-27T10:00:00Z"}',
    '{"ok":true,"message":"Bye"}',
    '{"code":0}',
    '{"code":10001,"data":null,"deleted":true}',
    '{"status":"success"}',
    '{"data":{"success":1}}',
    '{"meta":{"code":200}}',
    '{"id":7}',
    { data: record },
    { ...record, error: "timeout" },
  ])("to a delete says that the record is deleted if it is %j", async (body) => {
    expect(await collectionOf(() => body).monitors.delete("7", start())).toBeUndefined();
  });

  test.each([
    '{"message":"Down for maintenance"}',
    '{"status":"maintenance"}',
    '{"id":"job-4","status":"queued"}',
    '"Hello"',
    "Monitor 7 was deleted.",
    "<html>Down for maintenance</html>",
    "<html>Down for maintenance. © 2026 Example</html>",
    "Back on 2026-11-30",
    "404",
    '{"message":"Down for maintenance","data":null}',
    '{"deleted":"later"}',
    '[{"page":1}]',
    '{"data":{"notice":"Sign in"}}',
    '{"data":false}',
    '{"code":1,"message":"It is in use"}',
    '{"result":7}',
    '{"result":4012}',
    '{"id":7,"result":"maintenance"}',
    '{"code":10001,"status":200,"data":null}',
  ])("to a delete does not say whether the record is deleted if it is %s", async (body) => {
    const doubt = await collectionOf(() => body).monitors.delete("7", start());
    expect(shownText(new UptimeError(doubt ?? ""))).toMatch(/^DELETE .*\/api\/v1\/monitors\/7 returned "/);
  });

  test.each([false, 0, 404, "failed"])(
    "and may be a record that shows no required field (status %j), is a success of an update; the record of a create decides",
    async (status) => {
      const { monitors } = collectionOf(() => ({ id: 7, status, code: 500 }));
      expect(await monitors.update("7", [], start())).toMatchObject({ id: "7" });
      expect(await monitors.create([], start())).toMatchObject({ id: "7", failure: { isRefusal: true } });
      const flagged = collectionOf(() => ({ id: 7, status, ok: false })).monitors;
      expect(await errorOf(flagged.update("7", [], start()))).toBeInstanceOf(ApiError);
    },
  );

  test.each([40001, "50001"])(
    "by the server's own code %j is a refusal, but of a create only by one of 4…",
    async (code) => {
      const { monitors } = collectionOf(() => ({ code, message: "No", data: null }));
      for (const request of ["get", "update", "delete", "list"] as const)
        expect(shownText(await errorOf(requests[request](monitors)))).toContain("status 200: No");
      const created = await monitors.create([], start()).catch((error: unknown) => error);
      expect(created instanceof ApiError).toBe(code === 40001);
    },
  );

  test("is a success if it holds a record, in which these are fields like others", async () => {
    const shown = { ...record, status: "error", error: "timeout", errors: ["timeout"], success: false };
    const { monitors } = collectionOf(() => ({ data: shown, success: false }));
    expect((await monitors.get("7", start())).raw).toMatchObject({ status: "error", error: "timeout" });
    expect((await monitors.create([], start())).id).toBe("7");
    const list = { data: [shown, { ...shown, id: 6 }], error: "stale" };
    expect(await listed(collectionOf(() => list).monitors)).toEqual(["7", "6"]);
    // What shows nothing but an id may be a record that was created.
    expect((await collectionOf(() => ({ id: 7, status: "error" })).monitors.create([], start())).id).toBe(
      "7",
    );
  });

  test.each([0, "0", false, "", null, []])("is a success if `error` and `errors` are %j", async (none) => {
    const said = { success: true, error: none, errors: none, message: "OK" };
    expect((await collectionOf(() => ({ ...said, id: 7 })).monitors.create([], start())).id).toBe("7");
    expect(await listed(collectionOf(() => ({ ...said, data: [] })).monitors)).toEqual([]);
  });
});

test.each(["null", '{"data":null}', '{"data":null,"meta":{"total":0}}', '{"monitors":null}'])(
  "a list may be empty as %s",
  async (body) => {
    expect(await listed(collectionOf(() => body).monitors)).toEqual([]);
  },
);

test.each([{ data: [record] }, [record], { result: record }])("a record may be in %j", async (body) => {
  const { monitors } = collectionOf(() => body);
  expect(await monitors.get("7", start())).toMatchObject({ id: "7", raw: { name: "Home" } });
  expect((await monitors.create([], start())).id).toBe("7");
});

test("what JSON:API calls by another type than the record's is no record, whatever its attributes", async () => {
  const { id, ...attributes } = record;
  const { monitors } = collectionOf(() => ({ data: { type: "jobs", id, attributes } }));
  expect(shownText(await errorOf(monitors.get("7", start())))).toContain("returned no monitor");
});

test("a record's fields may be in camel case or have hyphens; what is no field keeps its name", async () => {
  const rawOf = async (more: object): Promise<object> =>
    (await collectionOf(() => ({ ...record, ...more })).monitors.get("7", start())).raw;
  const { id: _, ...rest } = record;
  const others = { lastCheckedAt: "now", "last-status": "up" };
  for (const name of ["sslAlertDays", "ssl-alert-days"])
    expect(await rawOf({ [name]: 7, ...others })).toEqual({ ...rest, ssl_alert_days: 7, ...others });
  const both = { ssl_alert_days: 7, sslAlertDays: 30 };
  expect(await rawOf(both)).toEqual({ ...rest, ...both });
  const attributes = { name: "Other" };
  expect(await rawOf({ attributes })).toEqual({ ...rest, attributes });
});

test.each([0, -1, "0", "-1", "null", "undefined", ""])(
  "%j is no id: the server has answered before its database has given one",
  async (id) => {
    const { monitors } = collectionOf(() => ({ data: { ...record, id } }));
    expect((await monitors.create([], start())).id).toBeUndefined();
  },
);

describe("a record", () => {
  const flags = ["deleted", "is_deleted", "trashed", "isDeleted"];
  const marks = ["deleted_at", "trashed_at", "deletedAt", "deleted-at", ...flags];
  /** The ids of the records in a list, each of which has one of these marks with this value. */
  const listedWith = (names: readonly string[], value: unknown): Promise<string[]> =>
    listed(collectionOf(() => ({ data: names.map((name) => ({ ...record, [name]: value })) })).monitors);

  test.each([
    "2026-11-26T10:00:00Z",
    "26/11/2026",
    1794000000,
    true,
    { Time: "2026-11-26T10:00:00Z", Valid: true },
    { date: "2026-11-26 10:00:00.000000", timezone_type: 3, timezone: "UTC" },
  ])("is deleted if a mark such as deleted_at is %j", async (date) => {
    expect(await listedWith(marks, date)).toEqual([]);
  });

  test.each([1, "1", "t", "yes", "True", "1.0", { Bool: true, Valid: true }])(
    "is deleted if is_deleted is %j",
    async (value) => {
      expect(await listedWith(flags, value)).toEqual([]);
    },
  );

  test.each(["f", "no", "False", "0.0"])("is not deleted if is_deleted is %j", async (value) => {
    expect(await listedWith(flags, value)).toHaveLength(flags.length);
  });

  test.each([
    null,
    "",
    false,
    0,
    "0",
    -1,
    "0000-00-00 00:00:00",
    "-0001-11-30 00:00:00",
    "-000001-11-30T00:00:00.000000Z",
    "0001-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "1969-12-31T19:00:00-05:00",
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "null",
    "infinity",
    { Bool: false, Valid: true },
    { Time: "0001-01-01T00:00:00Z", Valid: false },
    { date: "-0001-11-30 00:00:00.000000", timezone_type: 3, timezone: "UTC" },
  ])("is not deleted if a mark such as deleted_at is %j", async (date) => {
    expect(await listedWith(marks, date)).toEqual(marks.map(() => "7"));
  });
});

describe("the record, of an object and one inside it,", () => {
  const inner = { id: 501, name: "last result" };
  const shownId = async (body: unknown): Promise<string> => {
    const { id } = await collectionOf(() => body).monitors.create([], start());
    return id ?? "none";
  };

  test.each([{ data: inner }, { monitor: { id: 3, name: "agent Paris" } }, { data: { monitor: inner } }])(
    "is the outer one if it shows as many of the required fields (%j)",
    async (attributes) => {
      expect(await shownId({ ...record, ...attributes })).toBe("7");
      expect(await shownId({ data: { ...record, ...attributes } })).toBe("7");
      expect(await listed(collectionOf(() => [{ ...record, ...attributes }]).monitors)).toEqual(["7"]);
    },
  );

  test("is the inner one if that shows more of them", async () => {
    expect(await shownId({ id: 501, name: "stored", data: record })).toBe("7");
    expect(await shownId({ id: 501, data: { id: 502, monitor: record } })).toBe("7");
    expect(await shownId({ id: 501, data: { name: "Home" } })).toBe("none");
  });
});

describe("a record is missing", () => {
  test.each(["", "null", "false", "{}", "[]", '{"data":null}', '{"data":[]}', '{"monitor":{}}'])(
    "if its address holds nothing (%j)",
    async (body) => {
      const error = await errorOf(collectionOf(() => body).monitors.get("7", start()));
      expect(error).toBeInstanceOf(NotFoundError);
    },
  );

  test.each([
    { id: 7 },
    { id: 7, data: null },
    { data: { id: 7 } },
    { message: "Hello" },
    [1],
    records(7, 8),
  ])("not if its address holds something else (%j)", async (body) => {
    const error = await errorOf(collectionOf(() => body).monitors.get("7", start()));
    expect(error).not.toBeInstanceOf(NotFoundError);
  });
});

describe("a code or a status beside nothing", () => {
  const bodyWith = (said: object) => ({ data: null, message: "Hello", ...said });
  const unclear = [
    { code: 10001 },
    { code: "A0001", data: [] },
    { code: 1 },
    { code: 1, ok: "later" },
    { status: "maintenance" },
    { meta: { code: "10001" } },
    { result: "maintenance" },
  ];

  test.each(unclear)(
    "that may mean a failure shows neither that a record is gone nor a list (%j)",
    async (said) => {
      const { monitors } = collectionOf(() => bodyWith(said));
      const error = await errorOf(requests.get(monitors));
      expect(error).not.toBeInstanceOf(NotFoundError);
      expect(shownText(error)).toContain("run `pulumi state delete URN`");
      expect(await monitors.delete("7", start())).toBeDefined();
      for (const write of [monitors.update("7", [], start()), monitors.create([], start())])
        expect((await write).words).toBeDefined();
      await expect(listed(monitors)).rejects.toThrow("did not return a list");
    },
  );

  test.each([
    { code: 0 },
    { code: "00000" },
    { code: 200 },
    { code: 20000 },
    { status: "success" },
    { code: 10001, success: true },
    { code: 1, message: "ok", data: [] },
  ])("that means a success says that the record is gone (%j)", async (said) => {
    const { monitors } = collectionOf(() => bodyWith(said));
    expect(await errorOf(requests.get(monitors))).toBeInstanceOf(NotFoundError);
    expect(await monitors.delete("7", start())).toBeUndefined();
    expect(await listed(monitors)).toEqual([]);
  });

  test.each([{ status: "not_found" }, { code: "NOT_FOUND" }, { status: "" }])(
    "that means that there is nothing says so to a read; after a delete, the record is read (%j)",
    async (said) => {
      const { monitors } = collectionOf(() => bodyWith(said));
      expect(await errorOf(requests.get(monitors))).toBeInstanceOf(NotFoundError);
      expect(await monitors.delete("7", start())).toBeDefined();
      expect(await listed(monitors)).toEqual([]);
    },
  );
});

describe("a record that is marked as deleted", () => {
  const deleted = { ...record, deleted_at: "2030-01-01T00:00:00Z" };

  test("is missing, also if it answers an update", async () => {
    const { monitors } = collectionOf(() => ({ data: deleted }));
    for (const request of ["get", "update"] as const) {
      const error = await errorOf(requests[request](monitors));
      expect(error).toBeInstanceOf(NotFoundError);
      expect(error.message).toMatch(/(GET|PATCH) .*\/7 returned a monitor that is marked as deleted\.$/);
    }
  });

  test("says nothing about one with another id", async () => {
    const { monitors } = collectionOf(() => ({ data: { ...deleted, id: 8 } }));
    const error = await errorOf(requests.get(monitors));
    expect(error).toBeInstanceOf(RecordMismatchError);
    expect(error.message).toMatch(
      /returned the record 8 instead\. If state has .*, run `pulumi state delete URN`/,
    );
    expect(await requests.update(monitors)).toMatchObject({ id: "7", record: undefined });
  });
});

describe("a list", () => {
  test.each<[string, (cursor: string | undefined) => object]>([
    ["meta.next_cursor", (next) => ({ meta: { next_cursor: next ?? null } })],
    ["next_cursor", (next) => ({ next_cursor: next ?? null })],
    ["cursor.next", (next) => ({ cursor: { next: next ?? null }, has_more: next !== undefined })],
    ["meta.cursor.next", (next) => ({ meta: { cursor: { next } }, has_more: next !== undefined })],
    ["next_page_url", (next) => ({ next_page_url: next === undefined ? null : `/x?cursor=${next}` })],
    ["nextPageUrl", (next) => ({ meta: { nextPageUrl: next === undefined ? "" : `/x?cursor=${next}` } })],
    ["next", (next) => ({ next: next === undefined ? null : `https://other.example/x?cursor=${next}` })],
    ["@odata.nextLink", (next) => (next === undefined ? {} : { "@odata.nextLink": `/x?cursor=${next}` })],
    ["next_url", (next) => ({ has_more: !!next, meta: { next_url: next && `/x?cursor=${next}` } })],
    ["next_cursor beside next", (next) => ({ next: next !== undefined, next_cursor: next })],
    ["next_cursor that ends with 0", (next) => ({ next_cursor: next ?? 0 })],
    ["next_cursor that ends with -1", (next) => ({ page_info: { next_cursor: next ?? "-1" } })],
    ["metadata.next_cursor", (next) => ({ metadata: { next_cursor: next } })],
    ["response_metadata.next_cursor", (next) => ({ response_metadata: { next_cursor: next ?? "" } })],
    ["a second object", (next) => ({ meta: { next_cursor: null }, paging: { next_cursor: next } })],
  ])("is followed by %s", async (_where, paging) => {
    const pages = new Map([
      [null, { data: records(9, 8), ...paging("a") }],
      ["a", { data: records(7, 6), ...paging("b") }],
      ["b", { data: records(5), ...paging(undefined) }],
    ]);
    const { monitors, asked } = collectionOf((query) => pages.get(query.get("cursor")));
    expect(await listed(monitors)).toEqual(["9", "8", "7", "6", "5"]);
    expect(asked.map((query) => query.get("cursor"))).toEqual([null, "a", "b"]);
  });

  test.each<[string, (next: string | undefined) => Headers]>([
    ["one", (next) => ({ link: next ? `<https://other.example/x?cursor=${next}>; rel="next"` : "" })],
    [
      "several",
      (next) => ({
        link: [
          '<https://other.example/x>; rel="first"',
          ...(next ? [`</x?a=1&cursor=${next}>; title="a, b"; REL=Next`] : []),
        ],
      }),
    ],
    [
      "one with several relations",
      (next) => ({
        link: next ? `</x?cursor=${next}>;rel="last next", </x>; rel="first prev"` : '</x>; rel="prev"',
      }),
    ],
    [
      "one with other quotes",
      (next) => ({ link: next ? `</x?cursor=${next}>; rel = 'next'` : "</x>; rel='prev'" }),
    ],
  ])("is followed by the header Link, %s", async (_how, headersOf) => {
    const pages = new Map([
      [null, records(9, 8)],
      ["a", records(7)],
      ["b", records(6)],
    ]);
    const nextOf = new Map<string | null, string>([
      [null, "a"],
      ["a", "b"],
    ]);
    const { monitors, asked } = collectionOf((query) => pages.get(query.get("cursor")), {
      headersTo: (query) => headersOf(nextOf.get(query.get("cursor"))),
    });
    expect(await listed(monitors)).toEqual(["9", "8", "7", "6"]);
    expect(asked).toHaveLength(3);
  });

  test.each<[string, (next: string | null) => { links?: object; headers?: Headers }]>([
    ["links", (next) => ({ links: { next } })],
    [
      "the header Link",
      (next) => ({ headers: { link: next ? `<${next}>; rel="next"` : '</x>; rel="first"' } }),
    ],
  ])("ends with a full page for which %s has no next one", async (_where, answer) => {
    const all = Array.from({ length: 20 }, (_, index) => 20 - index);
    const answerTo = (query: URLSearchParams) => answer(query.has("after") ? null : "/x?after=10");
    const { monitors, asked } = collectionOf(
      (query) => {
        const data = records(...(query.has("after") ? all.slice(10) : all.slice(0, 10)));
        return { data, links: answerTo(query).links };
      },
      { headersTo: (query) => answerTo(query).headers ?? {} },
    );
    expect(await listed(monitors)).toEqual(all.map(String));
    expect(asked).toHaveLength(2);
  });

  test.each([
    { "x-total-count": "3" },
    { "total-count": "3" },
    { "content-range": "items 0-1/3" },
    { "x-pagination": '{"TotalCount":3,"PageSize":2}' },
  ])(
    "whose header %j names more records than it holds is an error that says whom to ask",
    async (headers) => {
      const { monitors } = collectionOf(() => records(9, 8), { headersTo: () => headers });
      const { message } = await errorOf(listed(monitors));
      expect(message).toContain("its pages hold 2 records, but its total is 3. Ask the server's operators");
    },
  );

  test.each<[string, (page: number) => Headers]>([
    ["Current-Page", (page) => ({ "current-page": String(page), "total-pages": "3" })],
    ["X-Next-Page", (page) => ({ "x-next-page": page < 3 ? String(page + 1) : "" })],
    ["X-Pagination", (page) => ({ "x-pagination": JSON.stringify({ CurrentPage: page, TotalPages: 3 }) })],
  ])("is followed by the header %s", async (_name, headersOf) => {
    const { monitors } = pagesOf((page) => records(10 - page), {
      headersTo: (query) => headersOf(pageIn(query)),
    });
    expect(await listed(monitors)).toEqual(["9", "8", "7"]);
  });

  test.each(["metadata", "result_info", "_meta"])(
    "whose %s names more records than it holds is an error",
    async (name) => {
      const { monitors } = collectionOf(() => ({
        items: records(9, 8),
        [name]: { page: 1, per: 2, total: 3 },
      }));
      expect((await errorOf(listed(monitors))).message).toContain(
        "its pages hold 2 records, but its total is 3",
      );
    },
  );

  test("is not in an answer without one, whose header X-Total-Count is empty", async () => {
    const headersTo = () => ({ "x-total-count": "" });
    const { monitors } = collectionOf(() => ({ message: "ok" }), { headersTo });
    expect((await errorOf(listed(monitors))).message).toContain("did not return a list of monitors");
  });

  test("whose records are followed by their next check has no other page", async () => {
    const { monitors, asked } = collectionOf(() => ({ data: records(9), next_check: "2030-01-01" }));
    expect(await listed(monitors)).toEqual(["9"]);
    expect(asked).toHaveLength(1);
  });

  test.each<[string, (list: object, paging: object) => object]>([
    ["data.monitors", (monitors, paging) => ({ status: "success", data: { monitors, ...paging } })],
    ["data.data", (data, paging) => ({ success: true, data: { data, ...paging } })],
    ["data.items, with its paging outside", (items, paging) => ({ data: { items }, meta: paging })],
    ["items", (items, paging) => ({ items, ...paging })],
    ["result", (result, paging) => ({ success: true, errors: [], result, ...paging })],
    ["records", (records, paging) => ({ records, ...paging })],
    ["rows", (rows, paging) => ({ rows, ...paging })],
    ["docs", (docs, paging) => ({ docs, ...paging })],
    ["value", (value, paging) => ({ value, ...paging })],
    ["items, beside an empty data", (items, paging) => ({ data: null, items, ...paging })],
    ["results", (results, paging) => ({ results, pagination: paging })],
  ])("may be under %s", async (_where, wrap) => {
    const { monitors } = pagesOf((page) => wrap(records(10 - page), { current_page: page, last_page: 3 }));
    expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    expect(await listed(collectionOf(() => wrap([], {})).monitors)).toEqual([]);
  });

  test("may be under the name of its records", async () => {
    const { monitors } = collectionOf(() => ({ monitors: records(9, 8), total: 2 }));
    expect(await listed(monitors)).toEqual(["9", "8"]);
  });

  test.each<[string, (page: number) => object]>([
    ["has_more", (page) => ({ has_more: page < 3 })],
    ["has_next", (page) => ({ pagination: { has_next: page < 3 ? 1 : 0 } })],
    ["next_page", (page) => ({ meta: { next_page: page < 3 ? page + 1 : null } })],
  ])("that only says by %s that it has more is followed by page numbers", async (_how, paging) => {
    for (const first of [0, 1]) {
      const { monitors } = collectionOf((query) => {
        const page = Number(query.get("page") ?? first) + 1 - first;
        return { data: page < 4 ? records(10 - page) : [], ...paging(page) };
      });
      expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    }
  });

  test.each<[string, object]>([
    ["has_more", { data: records(9), has_more: true }],
    ["has_more, and shows nothing", { data: [], has_more: true }],
    ["hasMore", { data: records(9), hasMore: true }],
    ["pagination", { data: records(9), pagination: { has_more: true } }],
    ["nextCursor", { data: records(9), nextCursor: "a" }],
    ["_links", { data: records(9), _links: { next: { href: "/x?after=2" } } }],
    [
      "links by rel",
      { data: records(9), links: [null, { rel: "self" }, { rel: "next", href: "/x?after=2" }] },
    ],
    ["last", { data: records(9), last: false, totalElements: 9 }],
    ["a next page that is no address", { data: records(9), links: { next: { page: 2 } } }],
    ["a next page that is itself", { data: records(9), next_page_url: "/x" }],
    ["a cursor that leads nowhere", { data: records(9), next_cursor: "a" }],
    ["a cursor that leads nowhere, and shows nothing", { data: [], next_cursor: "a" }],
    ["nextPageToken", { data: records(9), meta: { nextPageToken: "a" } }],
    ["a next token", { data: records(9), next: "a" }],
    ["hasNextPage", { data: records(9), paging: { hasNextPage: "1" } }],
    ["a larger total", { data: records(9), total: 2 }],
    ["more", { data: records(9), more: true }],
    ["isTruncated", { data: records(9), isTruncated: true }],
    ["pageInfo", { data: records(9), pageInfo: { hasNextPage: true } }],
    ["a larger total_count", { data: records(9), meta: { total_count: 2 } }],
    ["a larger total_entries", { data: records(9), page_number: 1, total_pages: 2, total_entries: 2 }],
    ["a larger count", { data: records(9), count: 2 }],
    ["a larger totalItems", { data: records(9), page: { totalItems: 2 } }],
  ])(
    "that says by %s that it has more, and cannot be followed, is an error that says whom to ask",
    async (_how, body) => {
      const { monitors, asked } = collectionOf(() => body);
      const { message } = await errorOf(listed(monitors));
      expect(message).toContain("GET https://uptime.example.com/api/v1/monitors cannot be read completely: ");
      expect(message).toContain("Ask the server's operators how to request the next page of this list.");
      expect(asked.length).toBeLessThanOrEqual(3);
    },
  );

  test.each<[string, number, object]>([
    ["has_more, whose next page is not found", 404, { has_more: true }],
    ["has_more, whose next page is refused", 422, { has_more: true }],
    ["links.next, whose address is not found", 404, { links: { next: "/x?page=2" } }],
  ])("that says by %s, is an error that says whom to ask", async (_how, status, more) => {
    const answer = (query: URLSearchParams) =>
      query.has("page") ? undefined : { data: records(9), ...more };
    const { monitors } = collectionOf(answer, { otherStatus: status });
    const { message } = await errorOf(listed(monitors));
    expect(message).toContain(`the request for page 2 returned status ${status}`);
    expect(message).toContain("Ask the server's operators");
  });

  test.each<[string, (page: number) => object]>([
    ["links.next", (page) => ({ links: { next: page < 4 ? `/x?page=${page + 1}` : null } })],
    ["a cursor", (page) => ({ next_cursor: page < 4 ? page + 1 : null })],
    ["last_page", (page) => ({ meta: { current_page: page, last_page: 4 } })],
    ["last_page beside meta", (page) => ({ meta: { version: 1 }, current_page: page, last_page: 4 })],
    ["meta.pagination", (page) => ({ meta: { pagination: { current_page: page, total_pages: 4 } } })],
    ["pages", (page) => ({ page, pages: 4 })],
    ["_links", (page) => ({ _links: { next: page < 4 ? { href: `/x?page=${page + 1}` } : null } })],
  ])("does not end with an empty page that names the next one by %s", async (_how, paging) => {
    const { monitors } = collectionOf((query) => {
      const page = Number(query.get("page") ?? query.get("cursor") ?? 1);
      return { data: page % 2 === 0 ? records(10 - page) : [], ...paging(page) };
    });
    expect(await listed(monitors)).toEqual(["8", "6"]);
  });

  test.each(["total_pages", "last_page"])("is followed by page numbers from 0 on, up to %s", async (last) => {
    const { monitors } = collectionOf((query) => {
      const page = Number(query.get("page") ?? 0);
      return { data: page < 3 ? records(9 - page) : [], page, [last]: last === "last_page" ? 2 : 3 };
    });
    expect(await listed(monitors)).toEqual(["9", "8", "7"]);
  });

  test.each([
    [0, ""],
    [1, ""],
    [0, ", also if a record is created meanwhile"],
  ])("of full pages that say nothing is read from page %i on%s", async (first, created) => {
    const { monitors, asked } = collectionOf((query) => {
      const page = Number(query.get("page") ?? first) - first;
      const newest = created && asked.length > 1 ? 1001 : 1000;
      const ids = Array.from({ length: newest - 770 }, (_, index) => newest - index);
      return records(...ids.slice(page * 100, page * 100 + 100));
    });
    expect(await listed(monitors)).toHaveLength(230);
    // If the server counts from 1, page 1 is the first page once more.
    expect(asked).toHaveLength(3 + first);
  });

  test("of full pages is whole if the page after the last one is refused, and the opposite order begins there", async () => {
    const all = Array.from({ length: 20 }, (_, index) => 20 - index);
    const answer = (query: URLSearchParams) => {
      const ids = query.get("sort") === "asc" ? all.toReversed() : all;
      const end = 10 * pageIn(query);
      return end > 20 ? undefined : records(...ids.slice(end - 10, end));
    };
    const { monitors } = collectionOf(answer, { otherStatus: 400 });
    expect(await listed(monitors)).toEqual(all.map(String));
  });

  test("of full pages whose first page by number is refused is an error, not a shorter list", async () => {
    const full = records(...Array.from({ length: 10 }, (_, index) => 20 - index));
    const answer = (query: URLSearchParams) => (query.get("page") === "1" ? undefined : full);
    const { monitors } = collectionOf(answer, { otherStatus: 403 });
    expect((await errorOf(listed(monitors))).message).toContain("returned status 403");
  });

  /** A list of full pages in either order, whose third page is answered with this status. */
  const withoutThirdPage = (count: number, otherStatus: number): Collection => {
    const all = Array.from({ length: count }, (_, index) => count - index);
    const answer = (query: URLSearchParams) => {
      const page = pageIn(query);
      const ids = query.get("sort") === "asc" ? all.toReversed() : all;
      return page === 3 ? undefined : records(...ids.slice(page * 100 - 100, page * 100));
    };
    return collectionOf(answer, { otherStatus }).monitors;
  };

  test.each([
    [201, 404],
    [250, 404],
    [250, 422],
    [300, 400],
  ])(
    "of full pages, with %i records, is no whole list if its third page is answered with %i",
    async (count, status) => {
      const failure = await errorOf(listed(withoutThirdPage(count, status)));
      expect(failure.message).toContain(`page 3 returned status ${status}`);
    },
  );

  test("of two full pages ends with a page that is not there", async () => {
    expect(await listed(withoutThirdPage(200, 404))).toHaveLength(200);
  });

  test.each(["asc", "desc"])("that is cut is an error if it is sorted by %s", async (sort) => {
    const all = Array.from({ length: 15 }, (_, index) => index + 1);
    const { monitors } = collectionOf((query) =>
      records(...(query.get("sort") === "asc" ? all : all.toReversed()).slice(0, 10)),
    );
    expect((await errorOf(listed(monitors, { sort }))).message).toContain("it is cut");
  });

  test.each<[string, object]>([
    ["content", { content: records(9), totalElements: 1, last: true, number: 0 }],
    [
      "_embedded",
      {
        _embedded: { monitors: records(9) },
        _links: {},
        page: { totalElements: 1, totalPages: 1, number: 0 },
      },
    ],
  ])("under %s is read, also if it is empty", async (name, body) => {
    expect(await listed(collectionOf(() => body).monitors)).toEqual(["9"]);
    const empty = { [name]: undefined, page: { totalElements: 0, totalPages: 0, number: 0 } };
    expect(await listed(collectionOf(() => empty).monitors)).toEqual([]);
  });

  test("that is an object whose names are numbers, as PHP writes a list with gaps, is read to its end", async () => {
    const { monitors } = pagesOf((page) => ({
      data: { [page]: records(10 - page)[0] },
      current_page: page,
      last_page: 3,
    }));
    expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    const bare = { 0: records(9)[0], 2: records(8)[0] };
    expect(await listed(collectionOf(() => bare).monitors)).toEqual(["9", "8"]);
    const others = { data: { 0: "no record", 1: records(9)[0] } };
    expect((await errorOf(listed(collectionOf(() => others).monitors))).message).toContain(
      "did not return a list",
    );
  });

  test("whose number is not that of its page is read to its end", async () => {
    const { monitors } = pagesOf((page) => ({
      data: records(10 - page),
      number: 100,
      pages: 3,
      links: { next: page < 3 ? `/x?page=${page + 1}` : null },
    }));
    expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    const { message } = await errorOf(
      listed(collectionOf(() => ({ data: records(9), number: 100, pages: 3, has_more: true })).monitors),
    );
    expect(message).toContain("Ask the server's operators");
  });

  test.each([0, 1])(
    "whose pages are numbered from 0 by their number, and from %i in a request, is read to its end",
    async (first) => {
      const { monitors } = collectionOf((query) => {
        const number = Number(query.get("page") ?? first) - first;
        return { content: records(9 - number), number, totalPages: 3, last: number === 2 };
      });
      expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    },
  );

  test.each([
    [0, "say nothing", (records: object[]) => records],
    [1, "say nothing", (records: object[]) => records],
    [0, "say that there is more", (data: object[]) => ({ data, has_more: data.length === 10 })],
    [1, "say that there is more", (data: object[]) => ({ data, has_more: data.length === 10 })],
  ])(
    "of pages from %i on, in one order, that %s, is an error and not a shorter list if page 1 fails once",
    async (first, _, show) => {
      const all = Array.from({ length: 25 }, (_, index) => 25 - index);
      let isBusy = true;
      const { monitors } = collectionOf((query) => {
        if (query.get("page") === "1" && isBusy) {
          isBusy = false;
          return { success: false, message: "Busy." };
        }
        const start = 10 * (Number(query.get("page") ?? first) - first);
        return show(records(...all.slice(start, start + 10)));
      });
      expect((await errorOf(listed(monitors))).message).toContain(
        "the request for page 2 returned status 200",
      );
      expect(await listed(monitors)).toEqual(all.map(String));
    },
  );

  test("that ignores page and cannot be read in the opposite order may be cut, so it is an error", async () => {
    const first = records(25, 24, 23, 22, 21, 20, 19, 18, 17, 16);
    const { monitors } = collectionOf((query) =>
      query.get("sort") === "asc" ? { success: false, message: "Busy." } : first,
    );
    expect((await errorOf(listed(monitors))).message).toContain("it cannot be read in the opposite order");
  });

  test("that names a next page for ever, without a record, is an error", async () => {
    const { monitors, asked } = pagesOf((page) => ({
      data: page < 3 ? records(10 - page) : [],
      links: { next: `/x?page=${page + 1}` },
    }));
    expect((await errorOf(listed(monitors))).message).toContain(
      "is one of many that announce more, but have no new record",
    );
    expect(asked.length).toBeLessThan(30);
  });

  test("is read to its end if others create a whole page of records meanwhile", async () => {
    const { monitors } = collectionOf((query) => {
      const page = Number(query.get("page") ?? 1);
      const created = page === 1 ? 0 : 2;
      const all = records(12, 11, 10, 9, 8, 7, 6, 5).slice(2 - created);
      return {
        data: all.slice(2 * page - 2, 2 * page),
        meta: { current_page: page, last_page: created + 3 },
      };
    });
    expect(await listed(monitors)).toEqual(["10", "9", "8", "7", "6", "5"]);
  });

  test("that a redirect to another page shows as empty is no list", async () => {
    const redirectedTo = (data: object[]): Collection =>
      collectionOf((query) => (query.has("moved") ? { data } : undefined), {
        otherStatus: 302,
        headersTo: (query) => (query.has("moved") ? {} : { location: "/?moved=1" }),
      }).monitors;
    expect((await errorOf(listed(redirectedTo([])))).message).toContain("did not return a list of monitors");
    expect(await listed(redirectedTo(records(9)))).toEqual(["9"]);
  });

  test.each([
    [3, [9, 8]],
    [3, [9]],
    [2, [9, 8]],
  ])(
    "whose %i pages are all the first one is an error, although the server says that the last one holds %j",
    async (pages, last) => {
      const { monitors } = pagesOf((page) => ({
        data: page < pages ? records(9, 8) : records(...last),
        meta: { current_page: page, last_page: pages },
      }));
      expect((await errorOf(listed(monitors))).message).toContain(
        "its last page holds the records of an earlier one",
      );
    },
  );

  test("whose cursor another version of the server does not know is an error, not a shorter list", async () => {
    let requests = 0;
    const { monitors } = collectionOf(() => {
      const first = records(...Array.from({ length: 10 }, (_, index) => 20 - index));
      return requests++ % 2 === 0 ? { data: first, meta: { next_cursor: "11" } } : first;
    });
    expect((await errorOf(listed(monitors))).message).toContain(
      "page 1 announces more, but leads back to an earlier page",
    );
  });

  test.each(["content", "records", "rows", "_embedded"])(
    "is read under %s beside a word of success",
    async (name) => {
      const { monitors } = collectionOf(() => ({ result: "success", [name]: records(9) }));
      expect(await listed(monitors)).toEqual(["9"]);
    },
  );

  test("without an end is an error that names the number of pages", async () => {
    // Without the client, whose thousands of requests take two seconds.
    const send = (query: URLSearchParams) => {
      const page = Number(query.get("page") ?? 1);
      const body = { data: records(page), links: { next: `/x?page=${page + 1}` } };
      return Promise.resolve({
        status: 200,
        body,
        headers: {},
        isRedirectedElsewhere: false,
        requestText: ["GET"],
      });
    };
    const address = { url: "https://uptime.example.com", hash: "", source: "" };
    const read = async () => {
      const pages = readPages(monitor, address, {}, send);
      while (!(await pages.next()).done);
    };
    expect((await errorOf(read())).message).toContain("it has no end after 10000 pages");
  });

  test("has by `recordsFiltered` the total of what was asked for, which `recordsTotal` is not", async () => {
    const body = { recordsTotal: 57, recordsFiltered: 1, data: records(9) };
    expect(await listed(collectionOf(() => body).monitors)).toEqual(["9"]);
    const { monitors } = collectionOf(() => ({ ...body, recordsFiltered: 2 }));
    expect((await errorOf(listed(monitors))).message).toContain("its total is 2");
  });

  describe("whose total is higher than the number of its records", () => {
    test("is whole if it says which page is the last, and another reading shows no more", async () => {
      const { monitors, asked } = pagesOf((page) => ({
        data: records(10 - page),
        meta: { current_page: page, last_page: 3, total: 12 },
      }));
      expect(await listed(monitors)).toEqual(["9", "8", "7"]);
      expect(asked).toHaveLength(6);
    });

    test("is read until another reading shows no more", async () => {
      let readings = 0;
      const { monitors } = collectionOf(() => ({
        data: records(...[9, 8, 7].slice(0, readings++)),
        links: { next: null },
        total: 3,
      }));
      expect(await listed(monitors)).toEqual(["9", "8", "7"]);
    });
  });
});
