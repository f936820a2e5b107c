import type { ApiRecord } from "../api/answer";
import type { Definition } from "../definitions/field";
import { fieldOf, identityKeys } from "../definitions/keys";
import { compare, shows, type WantedValues } from "./difference";

/** A record is alike if it has the same name or URL, or one that the server may have made of ours, or if it shows neither. */
export function isAlike(definition: Definition, wanted: WantedValues, record: ApiRecord): boolean {
  const keys = identityKeys(definition);
  if (!keys.some((key) => shows(fieldOf(definition, key), record))) return true;
  return keys.some((key) => {
    const field = fieldOf(definition, key);
    const value = wanted.get(key) ?? null;
    const comparison = compare(field, value, record);
    if (comparison.outcome === "same") return true;
    if (comparison.outcome === "notShown" || typeof value !== "string") return false;
    const { value: actual } = comparison;
    if (typeof actual !== "string" || actual === "") return false;
    return field.type === "url"
      ? lettersAndDigits(withoutFragment(value)) === lettersAndDigits(actual)
      : isMadeOf(actual, value);
  });
}

/** Whether a server may have made one name of another: cut it short, or left out `www.`, repeated spaces or letter case. */
function isMadeOf(actual: string, name: string): boolean {
  const [ours, theirs] = [lettersAndDigits(name), lettersAndDigits(actual)];
  // A name may have neither, such as an emoji.
  if (theirs === "") return name.startsWith(actual);
  return name.startsWith(actual) || (ours.includes(theirs) && theirs.length * 2 >= ours.length);
}

const withoutFragment = (url: string): string => url.replace(/#.*/s, "");

/** The letters and digits of a text, in lower case. */
const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
