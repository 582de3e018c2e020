import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { DomainError } from '../errors.ts';
import type { BodyShape } from '../http/json.ts';
import type { NewEntry } from './wire.ts';

/**
 * Maximum depth of metadata. A package nests an entry's metadata three levels deeper, and readers bound the depth of
 * their input.
 */
const MAX_DEPTH = 128;
const MAX_MEMBERS = 10_000;
const MAX_BYTES = 2 ** 18;

/**
 * Maximum number of values. In the text, each value is followed by a separator, so more values than this exceed the
 * byte limit.
 */
const MAX_VALUES = MAX_BYTES / 2;

/** Entry to append, with its metadata as RFC 8785 text, which is hashed and stored. */
export type CheckedEntry = NewEntry & { metadataText: string };

/**
 * Returns the entries with the text of their metadata.
 * @param shape of the request's body: in a body that is small as a whole, no entry is too large.
 * @throws DomainError `invalid_request` with the place of the entry.
 */
export function checkMetadata(
  entries: readonly NewEntry[],
  shape: BodyShape,
  placeOf: (at: number) => string,
): CheckedEntry[] {
  const isSmall = shape.bytes <= MAX_BYTES && shape.members <= MAX_MEMBERS && shape.depth <= MAX_DEPTH;
  return entries.map((entry, at) => {
    const text = measured(entry.metadata ?? {}, isSmall);
    if (typeof text === 'string') return { ...entry, metadataText: text };
    throw new DomainError('invalid_request', `${placeOf(at)}.metadata: ${text.wrong}`);
  });
}

function measured(metadata: Json, isSmall: boolean): string | { wrong: string } {
  if (!isSmall) {
    const { depth, members, values } = measure(metadata);
    if (depth > MAX_DEPTH) return { wrong: `is nested more than ${MAX_DEPTH} levels deep` };
    if (members > MAX_MEMBERS) return { wrong: `has more than ${MAX_MEMBERS} members` };
    if (values > MAX_VALUES) return { wrong: TOO_LONG };
  }
  const text = canonicalize(metadata);
  return Buffer.byteLength(text) > MAX_BYTES ? { wrong: TOO_LONG } : text;
}

const TOO_LONG = `has more than ${MAX_BYTES / 2 ** 10} KiB in the form of RFC 8785`;

/** Measures metadata, and stops as soon as a limit is exceeded. */
function measure(metadata: Json): { depth: number; members: number; values: number } {
  const measured = { depth: 0, members: 0, values: 0 };
  const walk = (value: Json, depth: number): void => {
    measured.values++;
    if (typeof value !== 'object' || value === null) return;
    measured.depth = Math.max(measured.depth, depth);
    const items = Array.isArray(value) ? value : Object.values(value);
    if (items !== value) measured.members += items.length;
    for (const item of items) {
      if (measured.depth > MAX_DEPTH || measured.members > MAX_MEMBERS || measured.values > MAX_VALUES) return;
      walk(item, depth + 1);
    }
  };
  walk(metadata, 1);
  return measured;
}
