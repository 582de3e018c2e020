import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { pythonJson } from '../../core/json/python-json.ts';
import { type Written, writtenWithout } from '../../core/json/source-text.ts';
import type { Description } from '../profile/description.ts';
import type { JsonForm, PreimagePart } from '../profile/digest-description.ts';
import { digestBytes, digestReader } from '../profile/digest-text.ts';
import { valueAt, writtenAt } from '../profile/path.ts';

/** Entry as a recipe needs it. */
export interface Hashed {
  value: Json;
  /** Returns the entry as sent. */
  text(): string;
  /** Returns the structure that was read from `text`. */
  written(): Written;
}

/** Writes one part of the preimage of an entry. */
export type Write = (entry: Hashed) => string | Uint8Array;

export function compilePart(part: PreimagePart, description: Description): Write {
  if (part === 'previous') return previousText(description);
  if (part === 'previous-bytes') return previousBytes(description);
  if ('text' in part) return () => part.text;
  if ('json' in part) return compileJson(part.json);
  const { separator, fields, null_as } = part.join;
  return (entry) => fields.map((field) => fieldText(entry, field, null_as)).join(separator);
}

function previousText({ entry: roles, digest }: Description): Write {
  const first = digest.genesis_hashed_as;
  const digests = digestReader(digest);
  return ({ value }) => {
    const sent = valueAt(value, roles.previous);
    if (first !== undefined && digests.previous(sent) === digests.genesis) return first;
    return typeof sent === 'string' ? sent : '';
  };
}

function previousBytes({ entry: roles, digest: { encoding, prefix, genesis } }: Description): Write {
  return ({ value }) => {
    const sent = valueAt(value, roles.previous);
    if (typeof sent !== 'string' || (typeof genesis === 'object' && sent === genesis.text)) return new Uint8Array();
    return digestBytes(sent.slice(prefix.length), encoding) ?? new Uint8Array();
  };
}

/** Returns a field's text in a join. */
export function fieldText(entry: Hashed, path: string, nullAs: string): string {
  const sent = valueAt(entry.value, path);
  if (typeof sent === 'string') return sent;
  if (sent === null || sent === undefined) return nullAs;
  if (typeof sent === 'boolean') return String(sent);
  const { start, end } = writtenAt(entry.written(), path) ?? { start: 0, end: 0 };
  return entry.text().slice(start, end);
}

function compileJson(form: JsonForm): Write {
  const of = form.of ?? '';
  const without = form.without ?? [];
  const omitted = new Set(without);
  const chosen = 'fields' in form ? form.fields : undefined;
  if (form.form === 'rfc8785')
    return ({ value }) => {
      const object = valueAt(value, of) ?? null;
      return canonicalize(chosen === undefined ? object : pick(object, chosen), without);
    };
  const options = form.form === 'python' ? pythonOptions(form) : null;
  return (entry) => {
    const object = writtenAt(entry.written(), of);
    // With an empty text, the two absent parts could not be distinguished.
    if (object === undefined) return 'null';
    if (options === null) return writtenWithout(entry.text(), object, omitted);
    return pythonJson(entry.text(), selected(object, omitted, chosen), options);
  };
}

function pythonOptions({ separators, ascii, sort_keys }: Extract<JsonForm, { form: 'python' }>) {
  return { separators, ascii, sortKeys: sort_keys };
}

function pick(object: Json, names: readonly string[]): Json {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return object;
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(object, name) ? [[name, object[name] ?? null]] : [])),
  );
}

function selected(object: Written, without: ReadonlySet<string>, chosen: readonly string[] | undefined): Written {
  if (object.kind !== 'object') return object;
  const kept = object.members.filter(({ name }) => !without.has(name));
  const members = chosen === undefined ? kept : chosen.flatMap((wanted) => kept.filter(({ name }) => name === wanted));
  return { ...object, members };
}
