import { children, context, DerFields, type Element, expectTag, malformed, only, TAG } from './der.ts';
import { readOid } from './values.ts';

/** Short names of RFC 4519, for messages. */
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
  // PrintableString, T61String, IA5String, VisibleString: one byte per character.
  [0x13, 'latin1'],
  [0x14, 'latin1'],
  [0x16, 'latin1'],
  [0x1a, 'latin1'],
  [0x1e, 'utf-16be'],
]);

const DIRECTORY_NAME = context(4);

/** Distinguished name, read completely: nothing about it can fail later. */
export interface Name {
  /** Text for people, e.g. `O=Example, CN=Authority`. */
  text: string;
  /** Comparison key: equal for all names that RFC 5280 section 7.1 treats as equal. */
  folded: string;
}

/** GeneralName (RFC 5280 section 4.2.1.6). */
export interface GeneralName {
  encoded: Uint8Array;
  text: string;
  /** Null unless it is a directoryName. */
  directory: Name | null;
}

/** @throws EvidenceError `unreadable` unless `element` is a Name. */
export function readName(element: Element): Name {
  const texts: string[] = [];
  const folded: unknown[] = [];
  for (const rdn of children(expectTag(element, TAG.sequence, 'a name'))) {
    const pairs = children(expectTag(rdn, TAG.set, 'a part of a name')).map(readPair);
    texts.push(
      pairs.map(({ type, text, raw }) => `${SHORT.get(type) ?? type}=${text === null ? raw : escaped(text)}`).join('+'),
    );
    folded.push(pairs.map(({ type, text, raw }) => [type, text === null ? { raw } : fold(text)]));
  }
  return { text: texts.join(', '), folded: JSON.stringify(folded) };
}

/** Reads an attribute. If the value is no text, `text` is null and only the bytes count. */
function readPair(pair: Element): { type: string; text: string | null; raw: string } {
  const fields = new DerFields(expectTag(pair, TAG.sequence, 'an attribute of a name'), 'an attribute of a name');
  const type = readOid(fields.take(TAG.oid, 'type'), 'the type of an attribute of a name');
  const value = fields.any();
  fields.end();
  if (value === undefined) throw malformed('an attribute of a name has no value');
  return { type, text: textOf(value), raw: `#${Buffer.from(value.encoded).toString('hex')}` };
}

function textOf({ tag, content }: Element): string | null {
  const encoding = TEXT_ENCODINGS.get(tag);
  if (encoding === undefined) return null;
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}

/** Folds like OpenSSL: ASCII case and white space, whatever the string type. */
function fold(text: string): string {
  const spaced = text.replace(/[ \t\n\v\f\r]+/g, ' ').replace(/^ | $/g, '');
  return spaced.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export function sameName(one: Name, other: Name): boolean {
  return one.folded === other.folded;
}

/** @throws EvidenceError `unreadable` for a directoryName that is no Name. */
export function readGeneralName(element: Element): GeneralName {
  const { tag, content, encoded } = element;
  // Explicitly tagged, because Name is a CHOICE.
  const directory = tag === DIRECTORY_NAME ? readName(only(element, TAG.sequence, 'a directoryName')) : null;
  return { encoded, directory, text: directory?.text ?? escaped(new TextDecoder().decode(content)) };
}

/** Makes text from outside safe to print: shows control and bidirectional characters by their numbers. */
export function escaped(text: string): string {
  return text.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
