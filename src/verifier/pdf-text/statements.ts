import { EvidenceError } from '../../core/errors.ts';

export type StatedFact = 'package' | 'stream' | 'count' | 'head';

/** One line of a PDF in which a value stands after the label of a fact. */
export interface Statement {
  fact: StatedFact;
  value: string;
  /** From 1. */
  page: number;
}

/** Labels and values of facts. An id is certain after a label that says that it is one; after others any word may stand. */
const PATTERNS: Record<StatedFact, RegExp> = {
  package: /^(?:evidence )?package(?<explicit>[ _]?(?:id|identifier|number)\b\s*[:=]?|\s*[:=])?(?<value>.+)$/i,
  stream: /^(?:audit |log )?stream(?<explicit>[ _]?(?:id|identifier|name)\b\s*[:=]?|\s*[:=])?(?<value>.+)$/i,
  count:
    /^(?:(?:total |package )?entries(?: total| in (?:this |the )?package)?|(?:total )?entry[ _]?count|(?:total )?(?:number|count) of entries)\s*[:=]?\s*(?<value>\d[\d,.'’\s]*?)(?: (?:entries|records|events))?$/i,
  head: /^(?:chain |stream |package )?head[ _]?(?:hash|digest)?\s*[:=]?\s*(?:sha-?\d{3}[:=]?\s*)?(?<value>[0-9a-f][0-9a-f\s]*)$/i,
};
const FACTS: readonly StatedFact[] = ['package', 'stream', 'count', 'head'];
const DIGEST_LENGTHS: ReadonlySet<number> = new Set([64, 96, 128]);
const MAX_LINE = 512;
const MAX_STATEMENTS = 1000;
/** Lines from an id in a column of its own to a certain statement of the same list. */
const AROUND = [-3, -2, -1, 1, 2, 3];

interface Found extends Statement {
  line: number;
  isCertain: boolean;
}

/** Reads a page line by line. */
export function readStatements(lines: readonly string[], page: number): Statement[] {
  const found = lines.flatMap((line, at) => FACTS.flatMap((fact) => readLine(fact, line, page, at)));
  const certain = new Set(found.filter(({ isCertain }) => isCertain).map(({ line }) => line));
  const isNear = ({ line }: Found) => AROUND.some((distance) => certain.has(line + distance));
  const statements = found.filter((statement) => statement.isCertain || isNear(statement));
  if (statements.length > MAX_STATEMENTS)
    throw new EvidenceError('unreadable', `it states more than ${MAX_STATEMENTS} facts`);
  return statements.map(({ fact, value }) => ({ fact, value, page }));
}

function readLine(fact: StatedFact, text: string, page: number, line: number): Found[] {
  const groups = text.length > MAX_LINE ? undefined : PATTERNS[fact].exec(text)?.groups;
  const stated = groups?.['value'] ?? '';
  const value = fact === 'head' ? stated.replace(/\s/g, '').toLowerCase() : stated.trim();
  if (value === '' || (fact === 'head' && !DIGEST_LENGTHS.has(value.length))) return [];
  if (fact === 'count' || fact === 'head') return [{ fact, value, page, line, isCertain: true }];
  // A label without a mark is one in a column of its own: "Package contents" is a heading.
  const isExplicit = groups?.['explicit'] !== undefined;
  if (value.includes('\t') || (!isExplicit && !stated.startsWith('\t'))) return [];
  return [{ fact, value, page, line, isCertain: isExplicit }];
}
