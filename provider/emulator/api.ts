import { type Answer, answerRefusal, empty, json, Refusal } from "./answers";
import type { Dialect } from "./dialect";
import { readForm } from "./form";
import { answerList } from "./listing";
import { recordAt, type Moment } from "./life";
import type { ReceivedRequest } from "./requests";
import { domain, resources, type Resource } from "./resources";
import { asJsonApi, showListed, showRecord } from "./shown";
import type { StoredRecord, Table, Tables } from "./table";

/** What the API's operations work on. */
export interface Api extends Tables {
  /** The base URL, without a slash at its end. */
  readonly url: string;
  readonly pathPrefix: string;
  readonly apiKey: string;
  readonly dialect: Dialect;
  /** When records are shown; undefined if they do not change by themselves. */
  readonly moment: Moment | undefined;
}

/** A request that has found its resource. */
interface Call {
  readonly api: Api;
  readonly request: ReceivedRequest;
  readonly resource: Resource;
  readonly table: Table;
}

function answerRecord({ api, resource }: Call, status: number, record: Record<string, unknown>): Answer {
  if (api.dialect.envelope === "ownId")
    return json(status, { id: 900_000 + (api.moment?.requests ?? 0), status: "ok", data: record });
  if (api.dialect.envelope === "jsonApi") return json(status, { data: asJsonApi(resource, record) });
  switch (api.dialect.record) {
    case "data":
      return json(status, { data: record });
    case "bare":
      return json(status, record);
    case "named":
      return json(status, { [resource.name]: record });
  }
}

/** The record as it is at the moment of the request. */
function recordNow({ api, resource }: Call, record: StoredRecord): StoredRecord {
  return api.moment === undefined ? record : recordAt(resource, record, api.moment);
}

function list(call: Call): Answer {
  const { api, request, resource, table } = call;
  const showOne = (record: StoredRecord) => showListed(resource, recordNow(call, record), api.dialect);
  return answerList(resource, table, request.query, api.url + pathOf(resource), api.dialect, showOne);
}

function show(call: Call, record: StoredRecord): Answer {
  return answerRecord(call, 200, showRecord(call.resource, recordNow(call, record), call.api.dialect));
}

/** Whether the record is the one that the form of a create names. */
function isSame(record: StoredRecord, values: ReadonlyMap<string, unknown>): boolean {
  return ["name", "url"].every((name) => record[name] === undefined || record[name] === values.get(name));
}

function locationOf({ api, resource }: Call, record: StoredRecord): string {
  const path = `${pathOf(resource)}/${record.id}`;
  switch (api.dialect.location) {
    case "record":
      return api.url + path;
    case "path":
      return api.pathPrefix + path;
    case "job":
      return `${api.url}/api/v1/jobs/${700_000 + record.id}`;
  }
}

/** The form's values that are stored, or a refusal that names all that is wrong with it. */
function readValues({ api, request, resource }: Call, operation: "create" | "update"): Map<string, unknown> {
  const { contentType } = request;
  if (contentType !== "application/x-www-form-urlencoded")
    throw new Refusal(
      415,
      `Send the content type application/x-www-form-urlencoded, not ${contentType || "none"}.`,
    );
  const { values, errors } = readForm(resource, request.body, operation, api.dialect);
  if (Object.keys(errors).length > 0) throw Refusal.ofFields(errors, api.dialect);
  return new Map([...values].filter(([name]) => !api.dialect.notStored.includes(name)));
}

function create(call: Call): Answer {
  const { api, resource, table } = call;
  const values = readValues(call, "create");
  const name = values.get("name");
  const { accepted, createAnswer, createStatus, createLocation, firstOrCreate } = api.dialect;
  const present = table.all().filter((record) => !isDeleted(record));
  const existing = firstOrCreate ? present.find((record) => isSame(record, values)) : undefined;
  if (existing) return show(call, existing);
  if (resource === domain && typeof name === "string") {
    const lower = name.toLowerCase();
    const taken = present.some((other) => String(other.name).toLowerCase() === lower);
    if (taken && api.dialect.uniqueDomainNames)
      throw Refusal.ofFields({ name: ["The name has already been taken."] }, api.dialect);
    if (api.dialect.lowerCaseNames) values.set("name", lower);
  }
  const record = table.add(Object.fromEntries(values));
  // The server has not checked a new monitor yet, so there are no results to show.
  const shown = showRecord(resource, record, api.dialect);
  const status = accepted === "usual" ? createStatus : accepted;
  const { body, headers } =
    createAnswer === "empty" || status === 204 || accepted !== "usual"
      ? empty(status)
      : answerRecord(call, status, createAnswer === "id" ? { id: shown.id } : shown);
  const location = createLocation ? { location: locationOf(call, record) } : {};
  return { status, body, headers: { ...headers, ...location } };
}

function update(call: Call, record: StoredRecord): Answer {
  const { api, resource, table } = call;
  const values = readValues(call, "update");
  if (api.dialect.resetOnUpdate)
    for (const field of resource.fields)
      if (field.resets && !values.has(field.name)) values.set(field.name, field.default);
  const updated = table.edit(record.id, Object.fromEntries(values));
  if (api.dialect.accepted !== "usual") return empty(api.dialect.accepted);
  switch (api.dialect.updateAnswer) {
    case "record":
      return show(call, updated);
    case "empty":
      return empty(200);
    case "message":
      return json(200, { message: `The ${resource.name} was updated.` });
  }
}

function remove(call: Call, record: StoredRecord): Answer {
  if (call.api.dialect.deletion === "removed") call.table.remove(record.id);
  else call.table.edit(record.id, { deleted_at: call.request.at.toISOString() });
  switch (call.api.dialect.deleteAnswer) {
    case "empty204":
      return empty(204);
    case "empty200":
      return empty(200);
    case "deleted":
      return json(200, { deleted: true });
    case "record":
      return show(call, record);
  }
}

/** Whether a record was deleted, if the dialect only marks them. */
function isDeleted(record: StoredRecord): boolean {
  return typeof record.deleted_at === "string";
}

function pathOf(resource: Resource): string {
  return `/api/v1/${resource.collection}`;
}

function refuseMethod(method: string, allowed: readonly string[]): never {
  const message = `The ${method} method is not supported for this route. Supported methods: ${allowed.join(", ")}.`;
  throw new Refusal(405, message, undefined, { allow: allowed.join(", ") });
}

function onCollection(call: Call): Answer {
  if (call.request.method === "GET") return list(call);
  if (call.request.method === "POST") return create(call);
  return refuseMethod(call.request.method, ["GET", "POST"]);
}

function onRecord(call: Call, id: number): Answer {
  const { method } = call.request;
  const { patch, gone } = call.api.dialect;
  const methods = ["GET", "PUT", ...(patch === "allowed" ? ["PATCH"] : []), "DELETE"];
  if (!methods.includes(method)) return refuseMethod(method, methods);
  const record = call.table.get(id);
  if (record === undefined || (method !== "GET" && isDeleted(record)))
    throw new Refusal(gone, `There is no ${call.resource.name} ${id}.`);
  if (method === "GET") return show(call, record);
  return method === "DELETE" ? remove(call, record) : update(call, record);
}

function route(request: ReceivedRequest, api: Api): Answer {
  if (request.headers.authorization !== `Bearer ${api.apiKey}`) throw new Refusal(401, "Unauthenticated.");
  const path = request.path.startsWith(`${api.pathPrefix}/`) ? request.path.slice(api.pathPrefix.length) : "";
  const [, collection, id] = /^\/api\/v1\/(\w+)(?:\/(\d+))?$/.exec(path) ?? [];
  const resource = resources.find((one) => one.collection === collection);
  if (resource === undefined) throw new Refusal(404, `The route ${request.path} could not be found.`);
  const call: Call = { api, request, resource, table: api[resource.collection] };
  if (request.method === "GET" && !/\bapplication\/json\b/i.test(request.headers.accept ?? ""))
    throw new Refusal(406, "Send the header Accept: application/json with every GET request.");
  const onList = id === undefined && request.method === "GET";
  const [[stray] = []] = onList || api.dialect.ignoreInvalid ? [] : request.query;
  if (stray !== undefined)
    throw Refusal.ofFields({ [stray]: [`The ${stray} parameter is unknown.`] }, api.dialect);
  return id === undefined ? onCollection(call) : onRecord(call, Number(id));
}

/** Carries a request out, and answers it. */
export function carryOut(request: ReceivedRequest, api: Api): Answer {
  try {
    return route(request, api);
  } catch (error) {
    if (error instanceof Refusal) return answerRefusal(error, api.dialect);
    throw error;
  }
}
