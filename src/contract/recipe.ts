import { createHmac, hash, type KeyObject } from 'node:crypto';
import { canonicalize, type Json } from '../encoding/canonical.ts';
import { pythonJson } from '../encoding/python-json.ts';
import { type Written, writtenWithout } from '../encoding/written.ts';
import type { Algorithm, Description, JsonForm, Part } from './description.ts';
import { toHex } from './digest-text.ts';
import { namesOf, valueAt } from './path.ts';

/** An entry as a recipe needs it. */
export interface Hashed {
  value: Json;
  /** The entry as it was sent. */
  text(): string;
  /** Read from `text`. */
  written(): Written;
}

/** Computes digests by a contract's recipe. */
export interface Recipe {
  /** For people, e.g. `hex(sha-256(jcs(entry - [hash, seal]))), RFC 8785`. */
  readonly words: string;
  /** Whether numbers are hashed as the doubles that they denote, and not as they are written. */
  readonly needsDoubles: boolean;
  /** Lower-case hex. */
  digest(entry: Hashed, key: KeyObject | null): string;
  /** The entry's members that its digest says nothing about, apart from digest and seal themselves. */
  uncovered(entry: Json): readonly string[];
}

type Write = (entry: Hashed) => string | Uint8Array;

/** @returns null when the contract knows no recipe. */
export function compileRecipe(description: Description): Recipe | null {
  const { recipe, encoding } = description.digest;
  if (recipe === null) return null;
  const parts = recipe.preimage.map((part) => compilePart(part, description));
  const preimage = concatenate(parts);
  const name = hashName(recipe.algorithm);
  const keyed = recipe.key !== null;
  const needsDoubles = recipe.preimage.some(
    (part) => typeof part === 'object' && 'json' in part && part.json.form === 'rfc8785',
  );
  const words = `${encoding}(${recipe.algorithm}(${recipe.preimage.map(wordsOf).join(' + ')}))`;
  return {
    words: needsDoubles ? `${words}, RFC 8785` : words,
    needsDoubles,
    digest: (entry, key) => {
      const data = preimage(entry);
      if (!keyed) return hash(name, data, 'hex');
      if (key === null) throw new TypeError('a keyed recipe was given no key');
      return createHmac(name, key).update(data).digest('hex');
    },
    uncovered: compileUncovered(recipe.preimage, description),
  };
}

export function hashName(algorithm: Algorithm): 'sha256' | 'sha384' | 'sha512' {
  return `sha${algorithm.slice(-3) as '256' | '384' | '512'}`;
}

function concatenate(parts: readonly Write[]): Write {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return (entry) => {
    const pieces = parts.map((part) => part(entry));
    if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
    return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
  };
}

function compilePart(part: Part, description: Description): Write {
  if (part === 'previous') return previousText(description);
  if (part === 'previous-bytes') return previousBytes(description);
  if ('text' in part) return () => part.text;
  if ('json' in part) return compileJson(part.json);
  const { separator, fields, null_as } = part.join;
  return (entry) => fields.map((field) => fieldText(entry, field, null_as)).join(separator);
}

function previousText({ entry: roles, digest: { genesis_hashed_as, genesis } }: Description): Write {
  const first = genesis_hashed_as;
  const isGenesis = (sent: Json | undefined) =>
    sent === null || sent === undefined || sent === '' || (typeof genesis === 'object' && sent === genesis.text);
  const zeros = /^0+$/;
  return ({ value }) => {
    const sent = valueAt(value, roles.previous);
    if (first !== undefined && (isGenesis(sent) || (genesis === 'zeros' && zeros.test(String(sent))))) return first;
    return typeof sent === 'string' ? sent : '';
  };
}

function previousBytes({ entry: roles, digest: { encoding, prefix, genesis } }: Description): Write {
  return ({ value }) => {
    const sent = valueAt(value, roles.previous);
    if (typeof sent !== 'string' || (typeof genesis === 'object' && sent === genesis.text)) return new Uint8Array();
    return Buffer.from(toHex(sent.slice(prefix.length), encoding) ?? '', 'hex');
  };
}

function fieldText(entry: Hashed, path: string, nullAs: string): string {
  const sent = valueAt(entry.value, path);
  if (typeof sent === 'string') return sent;
  if (sent === null || sent === undefined) return nullAs;
  if (typeof sent === 'boolean') return String(sent);
  const { start, end } = writtenAt(entry.written(), path) ?? { start: 0, end: 0 };
  return entry.text().slice(start, end);
}

function writtenAt(root: Written, path: string): Written | undefined {
  let here: Written | undefined = root;
  for (const name of namesOf(path)) {
    if (here?.kind !== 'object') return undefined;
    here = here.members.find((member) => member.name === name)?.value;
  }
  return here;
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
  if (form.form === 'as-sent')
    return (entry) => {
      const object = writtenAt(entry.written(), of);
      return object === undefined ? '' : writtenWithout(entry.text(), object, omitted);
    };
  const options = { separators: form.separators, ascii: form.ascii, sortKeys: form.sort_keys };
  return (entry) => {
    const object = writtenAt(entry.written(), of);
    return object === undefined ? '' : pythonJson(entry.text(), selected(object, omitted, chosen), options);
  };
}

function pick(object: Json, names: readonly string[]): Json {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) return object;
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(object, name) ? [[name, object[name] ?? null]] : [])),
  );
}

function selected(object: Written, without: ReadonlySet<string>, chosen: readonly string[] | undefined): Written {
  if (object.kind !== 'object') return object;
  const { members } = object;
  return {
    ...object,
    members:
      chosen === undefined
        ? members.filter(({ name }) => !without.has(name))
        : chosen.flatMap((wanted) => members.filter(({ name }) => name === wanted)),
  };
}

/** Digest and seal cannot cover themselves; what else is not hashed could be changed unseen. */
function compileUncovered(parts: readonly Part[], description: Description): (entry: Json) => readonly string[] {
  const { entry, seal } = description;
  const itself = [entry.digest, ...(seal === null ? [] : [seal.field])].map((path) => namesOf(path)[0] ?? '');
  const covers = parts.map((part) => coverOf(part, entry.previous));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.keys(value).filter((name) => !itself.includes(name) && !covers.some((cover) => cover(name)));
  };
}

/** Of a value further in only a part may be hashed, so nothing is said of the member that holds it. */
function coverOf(part: Part, previous: string): (name: string) => boolean {
  if (part === 'previous' || part === 'previous-bytes') return (name) => name === previous;
  if ('text' in part) return () => false;
  if ('join' in part) return (name) => part.join.fields.includes(name);
  const { json } = part;
  const chosen = 'fields' in json ? json.fields : undefined;
  if (json.of !== undefined && json.of !== '') {
    const whole = chosen === undefined && (json.without ?? []).length === 0;
    return (name) => whole && name === json.of;
  }
  return (name) => (chosen === undefined ? !(json.without ?? []).includes(name) : chosen.includes(name));
}

function wordsOf(part: Part): string {
  if (typeof part === 'string') return part;
  if ('text' in part) return JSON.stringify(part.text);
  if ('join' in part) return `join(${JSON.stringify(part.join.separator)}, ${part.join.fields.join(', ')})`;
  const { json } = part;
  const of = json.of === undefined || json.of === '' ? 'entry' : `entry.${json.of}`;
  const chosen = 'fields' in json ? json.fields : undefined;
  const minus = json.without === undefined || json.without.length === 0 ? '' : ` - [${json.without.join(', ')}]`;
  const object = chosen === undefined ? `${of}${minus}` : `${of}[${chosen.join(', ')}]`;
  return `${formWords(json)}(${object})`;
}

function formWords(json: JsonForm): string {
  if (json.form !== 'python') return json.form === 'rfc8785' ? 'jcs' : 'json-as-sent';
  const options = [json.separators, json.ascii ? 'ascii' : 'utf-8', ...(json.sort_keys ? ['sorted'] : [])];
  return `python-json[${options.join(', ')}]`;
}
