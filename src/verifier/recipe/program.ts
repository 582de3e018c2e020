import type { Unhashed } from '../model/unhashed.ts';
import type { Description } from '../profile/description.ts';
import type { Algorithm, JsonForm as DescribedForm, KeyChoice, PreimagePart } from '../profile/digest-description.ts';
import { namesOf } from '../profile/path.ts';
import { absent, boundaryOf, joinBoundary, looseType, partiesOf, rolesOf, startsAsJson, varies } from './cover.ts';
import type { Hash, HashedJson, Key, Path, PreimageStep, RecipeProgram } from './recipe-program.ts';

/**
 * Compiles a contract for a fast decoder; returns null if the decoder does not support it: a recipe with two forms of
 * JSON, with the entry more than once or with chosen members of an inner object, or a path of more than two names.
 */
export function compileProgram(description: Description): RecipeProgram | null {
  const { recipe } = description.digest;
  if (recipe === null) return null;
  try {
    return programOf(description, recipe);
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

class Unsupported extends Error {}

type Recipe = NonNullable<Description['digest']['recipe']>;

function programOf(description: Description, recipe: Recipe): RecipeProgram {
  const { numbers, entry, digest, seal } = description;
  const { preimage, always } = stepsOf(description, recipe.preimage);
  const whole = entryForms(recipe.preimage)[0];
  const fields = (whole !== undefined && 'fields' in whole ? whole.fields : undefined) ?? null;
  if (fields !== null && new Set(fields).size < fields.length) throw new Unsupported();
  // If the whole entry is hashed, no unhashed member could state a party.
  const parties = isWholeEntry(description, whole) ? [] : partiesOf(description);
  return {
    firstSequence: entry.first_sequence,
    roles: {
      sequence: toPath(entry.sequence),
      previous: toPath(entry.previous),
      digest: toPath(entry.digest),
      streamId: orNull(entry.stream_id, toPath),
      timestamp: orNull(entry.timestamp, toPath),
      entryId: orNull(entry.entry_id, toPath),
    },
    textNumbers: numbers === 'text',
    timestampUnit: entry.timestamp_unit,
    digest: { algorithm: toHash(recipe.algorithm), encoding: digest.encoding, prefix: plainText(digest.prefix) },
    digestKey: orNull(recipe.key, toKey),
    genesis: genesisOf(digest.genesis),
    form: formOf(recipe.preimage),
    fields,
    without: whole?.without ?? [],
    preimage,
    covered: coveredPaths(description, recipe.preimage),
    groups: parties.map((paths) => ({ paths: paths.map(toPath), unhashed: absent(paths) })),
    always,
    roleOrder: rolesOf(description),
    seal: orNull(seal, toSeal),
  };
}

function toSeal({ field, key, algorithm, encoding, over }: NonNullable<Description['seal']>): RecipeProgram['seal'] {
  return { value: toPath(field), key: toKey(key), algorithm: toHash(algorithm), encoding, over };
}

/** Reports whether the entry is hashed as JSON except for its digest and its seal. */
function isWholeEntry({ entry, seal }: Description, form: DescribedForm | undefined): boolean {
  if (form === undefined || ('fields' in form && form.fields !== undefined)) return false;
  return (form.without ?? []).every((name) => name === entry.digest || name === seal?.field);
}

function orNull<T, U>(value: T | null, map: (value: T) => U): U | null {
  return value === null ? null : map(value);
}

function toPath(path: string): Path {
  const [name, inner, ...more] = namesOf(path);
  if (name === undefined || more.length > 0) throw new Unsupported();
  return inner === undefined ? [name] : [name, inner];
}

function toHash(algorithm: Algorithm): Hash {
  return `sha-${algorithm.slice(-3) as '256' | '384' | '512'}`;
}

function toKey(choice: KeyChoice): Key {
  return 'id' in choice ? choice : { member: toPath(choice.field) };
}

/** Returns a text that JSON can write in only one way. @throws Unsupported for any other. */
function plainText(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return text;
  throw new Unsupported();
}

function genesisOf(genesis: Description['digest']['genesis']): RecipeProgram['genesis'] {
  if (genesis === 'zeros' || genesis === 'absent') return genesis;
  if (genesis === 'null') return { literal: 'null' };
  return { literal: `"${plainText(genesis === 'empty' ? '' : genesis.text)}"` };
}

function jsonForms(preimage: readonly PreimagePart[]): DescribedForm[] {
  return preimage.flatMap((part) => (typeof part === 'object' && 'json' in part ? [part.json] : []));
}

function entryForms(preimage: readonly PreimagePart[]): DescribedForm[] {
  return jsonForms(preimage).filter(({ of = '' }) => of === '');
}

/** Returns the single form of all JSON parts; without any, values are needed as sent. */
function formOf(preimage: readonly PreimagePart[]): HashedJson {
  const forms = jsonForms(preimage).map((json): HashedJson => {
    if (json.form !== 'python') return { kind: json.form };
    return { kind: 'python', ascii: json.ascii, sorted: json.sort_keys, spaced: json.separators === 'spaced' };
  });
  const [form = { kind: 'as-sent' } as const] = forms;
  if (entryForms(preimage).length > 1 || forms.some((other) => JSON.stringify(other) !== JSON.stringify(form)))
    throw new Unsupported();
  return form;
}

/**
 * Returns the members that parts other than the entry as JSON hash, and digest and seal, which cannot cover themselves.
 */
function coveredPaths({ entry, seal }: Description, preimage: readonly PreimagePart[]): Path[] {
  const hashed = preimage.flatMap((part) => {
    if (typeof part === 'string') return [entry.previous];
    if ('join' in part) return part.join.fields;
    return 'json' in part && (part.json.of ?? '') !== '' ? [part.json.of ?? ''] : [];
  });
  return [entry.digest, ...(seal === null ? [] : [seal.field]), ...hashed].map(toPath);
}

/** Returns the steps, and the parts that they leave open in every entry. */
function stepsOf(
  description: Description,
  parts: readonly PreimagePart[],
): { preimage: PreimageStep[]; always: Unhashed[] } {
  const preimage: PreimageStep[] = [];
  const always: Unhashed[] = [];
  const roles = rolesOf(description);
  const pending: { rest: number; step: PreimageStep }[] = [];
  for (const [index, part] of parts.entries()) {
    const from = preimage.length;
    const rest = parts.slice(index + 1);
    if (part === 'previous') {
      preimage.push({ kind: 'previous', first: description.digest.genesis_hashed_as ?? null });
      const [next] = rest;
      if (description.digest.encoding !== 'hex' && next !== undefined && !startsAsJson(next))
        always.push(boundaryOf(part));
    } else if (part === 'previous-bytes') preimage.push({ kind: part });
    else if ('text' in part) preimage.push({ kind: 'text', text: wellFormed(part.text) });
    else if ('json' in part) preimage.push(...jsonSteps(part, from, rest.some(varies)));
    else {
      preimage.push(...joinSteps(part.join, roles));
      const boundary = joinBoundary(part.join, rest);
      const unhashed = boundaryOf(part);
      const { separator } = part.join;
      if (boundary === 'open') always.push(unhashed);
      else if (boundary !== null)
        pending.push({
          rest: index + boundary.parts,
          step: { kind: 'boundary', from, separator, count: boundary.separators, unhashed },
        });
    }
    preimage.push(...pending.filter(({ rest: last }) => last === index).map(({ step }) => step));
  }
  return { preimage, always };
}

type JsonPart = Extract<PreimagePart, { json: unknown }>;

function jsonSteps(part: JsonPart, from: number, hasMoreBehind: boolean): PreimageStep[] {
  const { json } = part;
  const { of = '', without = [] } = json;
  if (of === '') return [{ kind: 'entry' }];
  if (without.length > 0 || ('fields' in json && json.fields !== undefined)) throw new Unsupported();
  const value: PreimageStep = { kind: 'value', path: toPath(of) };
  return hasMoreBehind ? [value, { kind: 'number-boundary', from, unhashed: boundaryOf(part) }] : [value];
}

type Join = Extract<PreimagePart, { join: unknown }>['join'];

function joinSteps({ separator, fields, null_as }: Join, roles: readonly string[]): PreimageStep[] {
  const nullAs = wellFormed(null_as);
  return fields.flatMap((field, index): PreimageStep[] => {
    const unhashed = roles.includes(field) ? null : looseType(field);
    const step: PreimageStep = { kind: 'field', path: toPath(field), nullAs, unhashed };
    return index === 0 ? [step] : [{ kind: 'text', text: wellFormed(separator) }, step];
  });
}

/** Checks that a text to be hashed as UTF-8 is well-formed. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new Unsupported();
}
