import { base64Bytes, hexText } from '../../core/bytes.ts';
import { cutText } from '../../core/foreign-text.ts';
import type { StatedFact } from '../pdf-text/labels.ts';
import type { PdfFacts } from '../pdf-text/pdf.ts';
import type { Statement } from '../pdf-text/statements.ts';

/** The facts as the JSON form has them; null for what it has not. */
export interface OurFacts {
  package: string | null;
  stream: string;
  count: number;
  /** Lower-case hex. */
  head: string | null;
}

/** One fact that the PDF states otherwise, plain to see. */
export interface PdfDifference {
  fact: StatedFact;
  /** As it stands there. */
  stated: string;
  page: number;
}

export interface PdfComparison {
  /** Facts that every statement of the PDF states as we have them. */
  agreeing: StatedFact[];
  /** How many statements these are. */
  statements: number;
  differences: PdfDifference[];
  /** What leaves open whether the PDF says something else, in words. */
  doubts: string[];
}

/** `part`: it may be ours, cut short or in letters that the font has not got; `unsure`: it may be another. */
type Likeness = 'same' | 'part' | 'other' | 'unsure';

interface Judged extends Statement {
  likeness: Likeness;
}

/** Of whole pages, that are named. */
const MAX_DOUBTS = 3;
const FACTS: readonly StatedFact[] = ['package', 'stream', 'count', 'head'];

/**
 * Compares all that a PDF states with ours. What it states otherwise differs only where a person plainly sees it, it can
 * mean nothing else, and ours is not in plain sight too; else it is a doubt. What nobody sees proves nothing.
 */
export function comparePdf({ statements, unread, doubts }: PdfFacts, ours: OurFacts): PdfComparison {
  const comparison: PdfComparison = { agreeing: [], statements: 0, differences: [], doubts: [] };
  comparison.doubts.push(...doubts.slice(0, MAX_DOUBTS));
  if (unread !== null) comparison.doubts.push(`pages ${unread.from} to ${unread.to} of the PDF were not read`);
  const judged = statements.map((statement): Judged => ({ ...statement, likeness: likenessOf(statement, ours) }));
  for (const fact of FACTS) compareFact(fact, judged, comparison);
  return comparison;
}

function compareFact(fact: StatedFact, all: readonly Judged[], comparison: PdfComparison): void {
  const judged = all.filter((statement) => statement.fact === fact);
  const agreeing = judged.filter(({ likeness, unseen }) => likeness === 'same' && unseen === null);
  const contrary = judged.filter(({ likeness }) => likeness === 'other' || likeness === 'unsure');
  const plain = contrary.filter(
    (statement) =>
      statement.likeness === 'other' &&
      statement.unseen === null &&
      statement.isPlain &&
      isOfThePackage(statement, all),
  );
  if (plain.length > 0) {
    const values = new Map(plain.map((statement) => [statement.texts[0], statement]));
    for (const { texts, page } of values.values()) comparison.differences.push({ fact, stated: texts[0] ?? '', page });
    return;
  }
  const [doubtful] = contrary;
  if (doubtful !== undefined) comparison.doubts.push(describe(doubtful));
  else if (agreeing.length > 0) {
    comparison.agreeing.push(fact);
    comparison.statements += agreeing.length;
  }
}

/**
 * Whether it stands among facts of the package, and ours is nowhere in plain sight. Else it may be of a month or a person,
 * what somebody wrote into an entry, or the head of more than the package.
 */
function isOfThePackage({ fact, page, section }: Judged, all: readonly Judged[]): boolean {
  const seen = all.filter(({ unseen }) => unseen === null);
  if (seen.some((other) => other.fact === fact && other.likeness === 'same')) return false;
  const isNear = (other: Judged) => other.fact !== fact && other.page === page && other.section === section;
  return section === '' || seen.some((other) => other.isPlain && isNear(other));
}

function describe({ fact, texts, page, unseen, label }: Judged): string {
  const place = unseen === null ? `page ${page}` : `page ${page}, ${unseen}`;
  const stated = cutText(texts[0] ?? '', 80);
  return `the PDF (${place}) states "${label}: ${stated}", which may be another ${fact}`;
}

function likenessOf(statement: Statement, ours: OurFacts): Likeness {
  if (statement.isOverprinted) return 'unsure';
  if (statement.fact === 'count') return likenessOfCount(statement.texts[0] ?? '', ours.count);
  if (statement.fact === 'head') return likenessOfHead(statement.texts, ours.head);
  const id = ours[statement.fact];
  return id === null ? 'part' : likenessOfId(statement.texts, id);
}

/** Thousands in groups as everybody reads them; a point may as well be that of a fraction. */
const PLAIN_COUNT = /^\d+$|^\d{1,3}(?:([,\u00a0\u202f '’_])\d{3})(?:\1\d{3})*$/;

function likenessOfCount(stated: string, ours: number): Likeness {
  const text = stated.replace(/ (?:entries|records|events)$/i, '');
  const digits = text.replace(/\p{Nd}/gu, toAsciiDigit);
  if (!/^[\d,.'’_\u00a0\u202f ]+$/.test(digits)) return isShareOf(digits, ours) ? 'part' : 'unsure';
  const isGrouped = PLAIN_COUNT.test(digits.replaceAll('.', ','));
  if (isGrouped && BigInt(digits.replace(/\D/g, '')) === BigInt(ours)) return 'same';
  const mayBeFraction = /^\d+,0+$/.test(digits) && Number.parseInt(digits, 10) === ours;
  return PLAIN_COUNT.test(digits) && digits === text && !mayBeFraction ? 'other' : 'unsure';
}

/** `100 of 250` and `1 to 250`, where 250 is ours. */
function isShareOf(text: string, ours: number): boolean {
  const [, share = '', whole = ''] = /^([\d,]+) ?(?:of|to|-|–) ?([\d,]+)$/.exec(text) ?? [];
  const [least, most] = [share, whole].map((number) => Number.parseInt(number.replaceAll(',', ''), 10));
  return most === ours && least !== undefined && least <= ours;
}

/** The ten digits of a script follow each other. */
function toAsciiDigit(digit: string): string {
  const plain = digit.normalize('NFKC');
  if (/^\d$/.test(plain)) return plain;
  const code = plain.codePointAt(0) ?? 0;
  let zero = code;
  while (code - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String(code - zero);
}

const DIGEST_LENGTHS: ReadonlySet<number> = new Set([64, 96, 128]);

function likenessOfHead(texts: readonly string[], ours: string | null): Likeness {
  const joined = joins(
    texts.map((text) => text.replaceAll(' ', '')),
    '',
  ).map((text) => text.replace(/^(?:sha-?\d{3}[:=]?|0x)/i, ''));
  if (ours !== null && joined.some((text) => text.toLowerCase() === ours || fromBase64(text) === ours)) return 'same';
  if (joined.some((text) => /^[0-9a-f]+$/i.test(text) && DIGEST_LENGTHS.has(text.length))) return 'other';
  return ours !== null && isCutOf(joined[0]?.toLowerCase() ?? '', ours) ? 'part' : 'unsure';
}

function fromBase64(text: string): string {
  if (!/^[0-9A-Za-z+/_-]{43,}={0,2}$/.test(text)) return '';
  const bytes = base64Bytes(text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, ''));
  return bytes === null ? '' : hexText(bytes);
}

/** A longer id is broken where a PDF is set. */
const MAY_BE_CUT = 24;
/** What a font that lacks a character shows in its place, and our own platform's mark for it. */
const LOST = /[?\u25a1\ufffd\p{Co}\p{Cn}\p{Cc}]|‹U\+[0-9A-F]{4,6}›/u;

function likenessOfId(texts: readonly string[], ours: string): Likeness {
  const stated = [...joins(texts, ''), ...joins(texts, ' ')];
  if (stated.some((text) => text.normalize('NFC') === ours.normalize('NFC'))) return 'same';
  const [first = ''] = texts;
  const isAscii = /^[\x20-\x7e]*$/;
  if (!isAscii.test(ours) || !isAscii.test(first) || LOST.test(first))
    return stated.some((text) => couldShow(text, ours)) ? 'part' : 'unsure';
  const goesOn =
    texts.length > 1 &&
    joins(texts, '')
      .slice(1)
      .some((text) => ours.startsWith(text));
  if (isCutOf(first, ours) && (ELLIPSIS.test(first) || goesOn || first.length >= MAY_BE_CUT)) return 'part';
  const isNear = ours.startsWith(first) || first.toLowerCase() === ours.toLowerCase();
  return isNear || /\s/.test(first) || /\s/.test(ours) || first.length === 1 ? 'unsure' : 'other';
}

/** Whether a font that lacks some characters of ours could show it so: the others are the same. */
function couldShow(text: string, ours: string): boolean {
  const kept = (id: string) => id.replace(/‹U\+[0-9A-F]{4,6}›|[?\s]|\P{ASCII}/gu, '');
  return kept(text) === kept(ours);
}

const ELLIPSIS = /(?:\.{2,}|…).*$/;

/** Whether a text is ours with its end or middle left out. */
function isCutOf(text: string, ours: string): boolean {
  const [start = '', end = ''] = text.split(/\.{2,}|…/);
  return start.length > 0 && ours.startsWith(start.trim()) && ours.endsWith(end.trim());
}

/** The first, the first two, and so on. */
function joins(texts: readonly string[], between: string): string[] {
  return texts.map((_, index) => texts.slice(0, index + 1).join(between));
}
