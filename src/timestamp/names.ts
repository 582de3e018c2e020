import { children, context, type Element, expectTag, Fields, TAG } from './der.ts';
import { readOid } from './values.ts';

/** RFC 4519 short names, for reading aloud. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'CN'],
  ['2.5.4.5', 'serialNumber'],
  ['2.5.4.6', 'C'],
  ['2.5.4.7', 'L'],
  ['2.5.4.8', 'ST'],
  ['2.5.4.10', 'O'],
  ['2.5.4.11', 'OU'],
  ['2.5.4.97', 'organizationIdentifier'],
  ['0.9.2342.19200300.100.1.25', 'DC'],
  ['1.2.840.113549.1.9.1', 'emailAddress'],
]);

const TEXT_ENCODINGS: ReadonlyMap<number, string> = new Map([
  [TAG.utf8String, 'utf-8'],
  [0x12, 'latin1'],
  [0x13, 'latin1'],
  [0x14, 'latin1'],
  [0x16, 'latin1'],
  [0x1e, 'utf-16be'],
]);

/** GeneralName (RFC 5280 section 4.2.1.6): directoryName is `[4]`, explicit because Name is a CHOICE. */
export const DIRECTORY_NAME = context(4);

interface Attribute {
  type: string;
  value: Element;
}

function readName(name: Element): Attribute[][] {
  return children(expectTag(name, TAG.sequence, 'a name')).map((rdn) =>
    children(expectTag(rdn, TAG.set, 'a part of a name')).map((pair) => {
      const fields = new Fields(pair, 'an attribute of a name');
      const type = readOid(fields.take(TAG.oid, 'type'), 'the type of an attribute of a name');
      const value = fields.any();
      fields.end();
      return { type, value: value ?? pair };
    }),
  );
}

/** A Name for people, as `O=Example, CN=Authority`; what could deceive a reader is escaped. */
export function nameText(name: Element): string {
  const parts = readName(name).map((rdn) =>
    rdn.map(({ type, value }) => `${SHORT.get(type) ?? type}=${textOf(value)}`),
  );
  return parts.map((rdn) => rdn.join('+')).join(', ');
}

function textOf(value: Element): string {
  const encoding = TEXT_ENCODINGS.get(value.tag);
  if (encoding === undefined) return `#${Buffer.from(value.encoded).toString('hex')}`;
  return escaped(new TextDecoder(encoding).decode(value.content));
}

/** Text of others, safe to print: control characters and those that turn the direction are shown by their numbers. */
export function escaped(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Whether two Names are equal: in their bytes or, as RFC 5280 section 7.1 asks, but for the string types, case and
 * white space of their texts.
 */
export function sameName(one: Element, other: Element): boolean {
  return Buffer.compare(one.encoded, other.encoded) === 0 || folded(one) === folded(other);
}

function folded(name: Element): string {
  return JSON.stringify(readName(name).map((rdn) => rdn.map(({ type, value }) => [type, foldedText(value)])));
}

function foldedText(value: Element): string {
  return textOf(value).trim().replace(/\s+/gu, ' ').toLowerCase();
}

/** A GeneralName for people. */
export function generalNameText(name: Element): string {
  const [inner] = name.tag === DIRECTORY_NAME ? children(name) : [];
  if (inner !== undefined) return nameText(inner);
  return textOf({ ...name, tag: TAG.utf8String });
}
