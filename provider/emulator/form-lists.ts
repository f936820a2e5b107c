import type { Dialect } from "./dialect";
import { isInteger, type Pairs, type Reading, refusedField } from "./reading";
import type { Field } from "./resources";

/** What an empty list means, in the form in which it was sent. */
function readEmptyList(field: Field, form: "brackets" | "plain", { emptyLists }: Dialect): Reading {
  if (emptyLists === `${form}Ignored`) return undefined;
  if (emptyLists === `${form}Refused`) {
    const name = form === "plain" ? field.name : `${field.name}.0${field.kind === "headers" ? ".key" : ""}`;
    return refusedField(name, `The ${name} field is required.`);
  }
  return { value: [] };
}

function readPlain(field: Field, pairs: Pairs, dialect: Dialect): Reading {
  if (pairs.length === 1 && pairs[0]?.[1] === "") return readEmptyList(field, "plain", dialect);
  return refusedField(field.name, `The ${field.name} must be an array.`);
}

/** Reads `alert_channel_ids[]=1&alert_channel_ids[]=2`. */
export function readChannels(field: Field, pairs: Pairs, dialect: Dialect): Reading {
  if (pairs.some(([name]) => name === field.name)) return readPlain(field, pairs, dialect);
  const strange = pairs.find(([name]) => name !== `${field.name}[]`);
  if (strange) return refusedField(strange[0], `The ${strange[0]} field is unknown: send ${field.name}[].`);
  if (pairs.length === 1 && pairs[0]?.[1] === "") return readEmptyList(field, "brackets", dialect);
  const errors = pairs.flatMap(([, text], index) => {
    const name = `${field.name}.${index}`;
    return isInteger(text) ? [] : [[name, [`The ${name} must be an integer.`]] as const];
  });
  if (errors.length > 0) return { errors: Object.fromEntries(errors) };
  return { value: pairs.map(([, text]) => Number(text)) };
}

interface SentHeader {
  key?: string;
  value?: string;
}

/** Reads `request_headers[0][key]=A&request_headers[0][value]=B`. */
export function readHeaders(field: Field, pairs: Pairs, dialect: Dialect): Reading {
  if (pairs.some(([name]) => name === field.name)) return readPlain(field, pairs, dialect);
  const sent = new Map<string, SentHeader>();
  for (const [name, text] of pairs) {
    const [, index, part] = /^[^[]+\[(0|[1-9]\d*)\]\[(key|value)\]$/.exec(name) ?? [];
    if (index === undefined || (part !== "key" && part !== "value"))
      return refusedField(
        name,
        `The ${name} field is unknown: send ${field.name}[0][key] and ${field.name}[0][value].`,
      );
    const header = sent.get(index) ?? {};
    if (header[part] !== undefined) return refusedField(name, `The ${name} field is sent more than once.`);
    header[part] = text;
    sent.set(index, header);
  }
  const [only, second] = sent.values();
  if (second === undefined && !only?.key && !only?.value) return readEmptyList(field, "brackets", dialect);
  const errors = [...sent].flatMap(([index, { key }]) => {
    const name = `${field.name}.${index}.key`;
    return key ? [] : [[name, [`The ${name} field is required.`]] as const];
  });
  if (errors.length > 0) return { errors: Object.fromEntries(errors) };
  return { value: [...sent.values()].map(({ key, value = "" }) => ({ key, value })) };
}
