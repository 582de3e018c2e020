import { crc32 } from 'node:zlib';

/** Columns of an entry that can be searched. */
export interface Searched {
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  /** Object as RFC 8785 text. */
  metadata: string;
}

/** Columns that a list filters by. */
export const FILTERS = ['actor', 'action', 'resource_type', 'resource_id'] as const;

/** Value of a member of an entry's metadata, at any level. */
export interface MetadataMember {
  name: string;
  value: string;
}

type Kind = (typeof FILTERS)[number] | 'stream' | 'word' | 'member';

/** Returns a number for a text. Different texts may have the same number, so a term only says where to look. */
export function termOf(kind: Kind, text: string): number {
  return crc32(`${kind}\0${text}`);
}

export function memberTerm({ name, value }: MetadataMember): number {
  return termOf('member', `${name}\0${value}`);
}

/** Adds the terms by which an entry is found. */
export function addTerms(terms: Set<number>, entry: Searched & { stream_no: number }): void {
  terms.add(termOf('stream', String(entry.stream_no)));
  for (const column of FILTERS) terms.add(termOf(column, entry[column]));
  for (const word of wordsOf(textOf(entry))) terms.add(termOf('word', word));
  for (const member of membersOf(JSON.parse(entry.metadata))) terms.add(memberTerm(member));
}

/** Runs of letters, digits and marks. U+212A becomes an ASCII letter in lower case, which databases do not expect. */
const WORDS = /(?:(?!\u212a)[\p{L}\p{N}\p{M}])+/gu;

/** Returns the words of a text in lower case, each once. */
export function wordsOf(text: string): Set<string> {
  return new Set(Array.from(text.match(WORDS) ?? [], (word) => word.toLowerCase()));
}

/** Reports whether an entry contains all of the words. */
export function hasWords(entry: Searched, words: Iterable<string>): boolean {
  const there = wordsOf(textOf(entry));
  return Array.from(words).every((word) => there.has(word));
}

function textOf({ actor, action, resource_type, resource_id, metadata }: Searched): string {
  // RFC 8785 escapes only characters that separate words.
  const plain = metadata.replace(/\\(?:u[0-9a-f]{4}|.)/g, ' ');
  return [actor, action, resource_type, resource_id, plain].join(' ');
}

/** Yields the members with a string, a number, a truth value or null. */
function* membersOf(value: unknown): Generator<MetadataMember> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    if (typeof each === 'object' && each !== null) yield* membersOf(each);
    else if (!Array.isArray(value)) yield { name, value: String(each) };
  }
}

/** Returns the texts of which a metadata object in the form of RFC 8785 contains one if it has the member. */
export function textsOfMember({ name, value }: MetadataMember): string[] {
  const isBare = /^(?:true|false|null|-?\d[\d.e+-]*)$/.test(value);
  const values = [JSON.stringify(value), ...(isBare ? [`${value},`, `${value}}`] : [])];
  // A member starts after one of these characters; within a string, a quotation mark is escaped.
  return ['{', ','].flatMap((before) => values.map((text) => `${before}${JSON.stringify(name)}:${text}`));
}
