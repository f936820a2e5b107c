import { escapeHtml } from "./answers";
import type { Dialect } from "./dialect";
import type { Field, FieldKind, Resource } from "./resources";
import type { StoredRecord } from "./table";

type Show = (value: unknown, dialect: Dialect) => unknown;

interface Header {
  key: string;
  value: string;
}

function isHeader(value: unknown): value is Header {
  return typeof value === "object" && value !== null && "key" in value && "value" in value;
}

const text: Show = (value, dialect) =>
  dialect.escapeHtml && typeof value === "string" ? escapeHtml(value) : value;

const number: Show = (value, dialect) => (dialect.numbers === "string" ? String(value) : value);

const flag: Show = (value, { booleans }) => {
  const on = Boolean(value);
  if (booleans === "boolean") return on;
  return booleans === "string" ? String(Number(on)) : Number(on);
};

const url: Show = (value, dialect) => {
  if (dialect.urlStyle === "asSent" || typeof value !== "string") return text(value, dialect);
  const [, scheme, user = "", host, rest = ""] = /^(\w+:\/\/)([^/?#@]*@)?([^/?#]*)(.*)$/s.exec(value) ?? [];
  if (scheme === undefined || host === undefined) return text(value, dialect);
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  return text(scheme.toLowerCase() + user + host.toLowerCase() + path, dialect);
};

const date: Show = (value, { dates }) => {
  if (typeof value !== "string" || dates === "T") return value;
  if (dates === "space") return value.replace("T", " ");
  return value + (dates === "fraction" ? ".000000Z" : dates);
};

const channels: Show = (value, dialect) => {
  if (!Array.isArray(value)) return value;
  const ids: unknown[] = dialect.shuffle ? value.toReversed() : value;
  if (dialect.channels === "objects") return ids.map((id) => ({ id, name: `Channel ${String(id)}` }));
  return dialect.channels === "strings" ? ids.map(String) : ids;
};

const headers: Show = (value, dialect) => {
  if (!Array.isArray(value)) return value;
  const shown = value.filter(isHeader).map((header) => {
    const key = dialect.titleCaseHeaders
      ? header.key.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase())
      : header.key;
    return { key: text(key, dialect), value: text(header.value, dialect) };
  });
  if (dialect.shuffle) shown.reverse();
  if (dialect.headers === "list" || (dialect.headers === "emptyListMap" && shown.length === 0)) return shown;
  return Object.fromEntries(shown.map((header) => [header.key, header.value]));
};

const shows: Readonly<Record<FieldKind, Show>> = {
  text,
  url,
  password: (value, dialect) => (dialect.password === "masked" ? "********" : text(value, dialect)),
  choice: (value) => value,
  interval: number,
  days: number,
  switch: flag,
  pause: flag,
  date,
  channels,
  headers,
};

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

/** The field's entry in a shown record: its name and value, or undefined when it is left out. */
function showField(field: Field, record: StoredRecord, dialect: Dialect): [string, unknown] | undefined {
  const stored = record[field.name];
  if (field.kind === "pause") {
    if (dialect.pauseShown === "hidden") return undefined;
    if (dialect.pauseShown !== "paused_at") return [dialect.pauseShown, flag(stored, dialect)];
    const at = stored === true ? (record.updated_at ?? record.created_at) : null;
    return [dialect.pauseShown, dialect.pausedAt === "unix" && at !== null ? toUnixTime(at) : at];
  }
  if (field.kind === "password" && dialect.password === "hidden") return undefined;
  const value = field.kind === "password" && dialect.password === "null" ? null : stored;
  if (isEmpty(value) && dialect.emptyAs === "absent") return undefined;
  if (value === null || value === undefined) return [field.name, dialect.emptyAs === "empty" ? "" : null];
  const shown = shows[field.kind](value, dialect);
  const isList = field.kind === "channels" || field.kind === "headers";
  return [field.name, isList && dialect.listsAsText ? JSON.stringify(shown) : shown];
}

function toUnixTime(date: unknown): number {
  return Math.floor(Date.parse(String(date)) / 1000);
}

/** The record as the API shows it in this dialect. */
export function showRecord(
  resource: Resource,
  record: StoredRecord,
  dialect: Dialect,
): Record<string, unknown> {
  const shown: Record<string, unknown> = { id: dialect.ids === "string" ? String(record.id) : record.id };
  for (const field of resource.fields) {
    const [name, value] = showField(field, record, dialect) ?? [];
    if (name !== undefined) shown[name] = value;
  }
  const fields = new Set(["id", ...resource.fields.map(({ name }) => name)]);
  for (const name of Object.keys(record)) if (!fields.has(name)) shown[name] = record[name];
  for (const name of dialect.hidden) Reflect.deleteProperty(shown, name);
  return Object.assign(shown, dialect.extraFields);
}

/** The record as JSON:API wraps it. */
export function asJsonApi(resource: Resource, { id, ...attributes }: Record<string, unknown>): unknown {
  return { type: resource.collection, id: String(id), attributes };
}

/** The record as lists show it. */
export function showListed(resource: Resource, record: StoredRecord, dialect: Dialect): unknown {
  const whole = showRecord(resource, record, dialect);
  const names = dialect.listBrief ? ["id", "name", "url"] : Object.keys(whole);
  const shown = Object.fromEntries(names.flatMap((name) => (name in whole ? [[name, whole[name]]] : [])));
  return dialect.envelope === "jsonApi" ? asJsonApi(resource, shown) : shown;
}
