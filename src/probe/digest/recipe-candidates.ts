import type { JsonForm, PreimagePart } from '../../verifier/profile/digest-description.ts';
import { namesOf } from '../../verifier/profile/path.ts';
import type { ChainRoles } from '../roles/chain.ts';
import { lastName } from '../sample/names.ts';
import { objectPaths, type Sample, scalarAt, scalarPaths } from '../sample/sample.ts';

/** Parts that a preimage can consist of. */
export interface Material {
  /** Names of an entry's members, in the order in which they are sent. */
  members: string[];
  /** Members that no digest covers: the digest, and the seal over it. */
  never: string[];
  /** Name of the member that contains the predecessor's digest. */
  previousMember: string;
  /**
   * Path of the predecessor's digest, and the scalar fields that can be joined, in the order in which they are sent.
   */
  previous: string;
  scalars: string[];
  /** Members that are objects. */
  objects: string[];
  /** True if a field of the samples is null or absent, so that its written form matters. */
  hasNull: boolean;
  isPython: boolean;
  /** Field names in the order of the service's OpenAPI document; empty without one. */
  documented: string[];
}

/** Maximum number of members that are left out in every combination: 2^10 is about a thousand. */
const MAX_FREE = 10;
const MAX_ORDERED = 5;

export function materialOf(
  entries: readonly Sample[],
  roles: ChainRoles,
  seal: string | null,
  isPython: boolean,
  documented: readonly string[],
): Material {
  const values = entries.map(({ value }) => value);
  const members = [
    ...new Set(values.flatMap((value) => (typeof value === 'object' && value !== null ? Object.keys(value) : []))),
  ];
  const never = [roles.digest, ...(seal === null ? [] : [seal])];
  const depth = namesOf(roles.previous).length;
  const inOneOf = new Set(values.slice(0, 50).flatMap((value) => scalarPaths(value)));
  const scalars = [...inOneOf].filter((path) => !never.includes(path) && namesOf(path).length <= depth);
  return {
    members,
    never: never.map((path) => namesOf(path)[0] ?? ''),
    previousMember: namesOf(roles.previous)[0] ?? '',
    previous: roles.previous,
    scalars,
    objects: [...new Set(values.flatMap(objectPaths))],
    hasNull: scalars.some((path) => values.some((value) => (scalarAt(value, path) ?? null) === null)),
    isPython,
    documented: documented.filter((name) => scalars.includes(name)),
  };
}

/** Lists all JSON forms, the most likely first. */
export function jsonForms(isPython: boolean): JsonForm[] {
  const python = [true, false].flatMap((sort_keys) =>
    (['spaced', 'compact'] as const).flatMap((separators) =>
      [true, false].map((ascii): JsonForm => ({ form: 'python', separators, ascii, sort_keys })),
    ),
  );
  const [canonical, sent]: [JsonForm, JsonForm] = [{ form: 'rfc8785' }, { form: 'as-sent' }];
  return isPython ? [...python, canonical, sent] : [canonical, ...python, sent];
}

const GLUE = ['', '|', ':', '\n'];
const SEPARATORS = ['|', ':', ',', ';', '', '\n', '-', '||', ' ', '.'];
const NULLS = ['', 'null', 'None'];

/** Yields preimages of a digest, the most likely first. */
export function* preimages(material: Material): Generator<PreimagePart[]> {
  yield* wholeJson(material, 2);
  yield* objectJson(material);
  yield* wholeJoins(material);
  yield* chosenJoins(material);
  yield* wholeJson(material, MAX_FREE, 3);
  yield* joinsWithJson(material);
  yield* orderedJoins(material);
}

/** Yields the entry as JSON without some of its members, with the predecessor's digest inside, before or after it. */
function* wholeJson(material: Material, most: number, fewest = 0): Generator<PreimagePart[]> {
  const { members, never, previousMember, isPython } = material;
  const free = members.filter((name) => !never.includes(name) && name !== previousMember);
  for (const left of subsetsBySize(free.slice(0, most <= 2 ? free.length : MAX_FREE), fewest, most))
    for (const form of jsonForms(isPython)) {
      yield [{ json: { ...form, without: [...never, ...left] } }];
      yield* withPrevious({ json: { ...form, without: [...never, previousMember, ...left] } });
    }
}

/** Yields the JSON of an object inside the entry. */
function* objectJson({ objects, isPython, never, previousMember }: Material): Generator<PreimagePart[]> {
  for (const of of objects)
    for (const form of jsonForms(isPython))
      for (const without of [undefined, [...never, previousMember].map(lastName)]) {
        const json = { ...form, of, ...(without === undefined ? {} : { without }) };
        yield [{ json }];
        yield* withPrevious({ json });
      }
}

function* withPrevious(part: PreimagePart): Generator<PreimagePart[]> {
  for (const previous of ['previous', 'previous-bytes'] as const)
    for (const glue of GLUE) {
      const between: PreimagePart[] = glue === '' ? [] : [{ text: glue }];
      yield [previous, ...between, part];
      yield [part, ...between, previous];
    }
}

/** Yields joins of all fields, in sent or documented order. */
function* wholeJoins(material: Material): Generator<PreimagePart[]> {
  const { scalars, documented, previous } = material;
  for (const fields of [scalars, documented])
    for (const order of placings(fields, previous)) yield* joined(order, material);
}

/** Yields joins of chosen fields in sent order, with the predecessor's digest in its place, first, or last. */
function* chosenJoins(material: Material): Generator<PreimagePart[]> {
  const { previous } = material;
  for (const fields of choices(material))
    for (const order of placings(fields, previous)) yield* joined(order, material);
}

/** Yields joined fields, followed by an object as JSON. */
function* joinsWithJson(material: Material): Generator<PreimagePart[]> {
  const { objects, previous, isPython } = material;
  for (const of of objects)
    for (const fields of choices(material))
      for (const order of placings(fields, previous))
        for (const [join] of joined(order, material))
          for (const form of jsonForms(isPython)) {
            if (join === undefined || typeof join === 'string' || !('join' in join)) continue;
            const { separator } = join.join;
            const between: PreimagePart[] = separator === '' ? [] : [{ text: separator }];
            yield [join, ...between, { json: { ...form, of } }];
          }
}

/** Yields joins of a few fields in any order. */
function* orderedJoins(material: Material): Generator<PreimagePart[]> {
  for (let size = 2; size <= MAX_ORDERED; size++)
    for (const fields of orders(material.scalars, size)) yield* joined(fields, material);
}

function* choices({ scalars, previous }: Material): Generator<string[]> {
  const free = scalars.filter((path) => path !== previous);
  const sometimes = free.slice(0, MAX_FREE + 2);
  const always = free.slice(MAX_FREE + 2);
  for (const left of subsetsBySize(sometimes, 0, sometimes.length - 1))
    yield scalars.filter((path) => path === previous || always.includes(path) || !left.includes(path));
}

function placings(fields: readonly string[], previous: string): string[][] {
  if (fields.length === 0) return [];
  const others = fields.filter((path) => path !== previous);
  const [inPlace, first, last] = [[...fields], [previous, ...others], [...others, previous]];
  const all = fields.includes(previous) ? [inPlace, first, last] : [first, last];
  return all.filter((one, index) => all.findIndex((other) => other.join('\n') === one.join('\n')) === index);
}

function* joined(fields: readonly string[], { hasNull }: Material): Generator<PreimagePart[]> {
  for (const separator of SEPARATORS)
    for (const null_as of hasNull ? NULLS : ['']) yield [{ join: { separator, fields: [...fields], null_as } }];
}

/** Yields subsets, the smallest first. */
export function* subsetsBySize(names: readonly string[], fewest: number, most: number): Generator<string[]> {
  for (let size = fewest; size <= Math.min(most, names.length); size++) yield* subsets(names, size);
}

function* subsets(names: readonly string[], size: number): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let at = 0; at + size <= names.length; at++)
    for (const rest of subsets(names.slice(at + 1), size - 1)) yield [names[at] ?? '', ...rest];
}

function* orders(names: readonly string[], size: number): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const name of names)
    for (const rest of orders(
      names.filter((other) => other !== name),
      size - 1,
    ))
      yield [name, ...rest];
}
