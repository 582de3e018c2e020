import type { PdfFacts, StatedFact, Statement } from '../pdf-text/pdf.ts';

/** Facts of the JSON form; null if it does not state them. */
export interface OurFacts {
  package: string | null;
  stream: string;
  count: number;
  /** Lower-case hex. */
  head: string | null;
}

interface PdfComparison {
  /** Values that contradict ours, of facts for which the PDF states one value. */
  differences: Statement[];
  /**
   * Values other than ours, of facts for which the PDF states several: they may be about a part, or quoted from an
   * entry.
   */
  unclear: Statement[];
}

const FACTS: readonly StatedFact[] = ['package', 'stream', 'count', 'head'];

/** Compares the statements of a PDF with ours. They prove nothing. */
export function comparePdf({ statements }: PdfFacts, ours: OurFacts): PdfComparison {
  const differences: Statement[] = [];
  const unclear: Statement[] = [];
  for (const fact of FACTS) {
    const values = new Map(statements.filter((one) => one.fact === fact).map((one) => [one.value, one]));
    const others = [...values.values()].filter((one) => isOther(one, ours));
    (values.size > 1 ? unclear : differences).push(...others);
  }
  return { differences, unclear };
}

/** Number with unambiguous thousands separators. A point is left out, because it may be a decimal point. */
const PLAIN_COUNT = /^\d+$|^\d{1,3}(?:([,\s'’])\d{3})(?:\1\d{3})*$/;
/** Id without gaps: a font that lacks characters, or a narrow table, leaves out parts of an id. */
const WHOLE_ID = /^[\x21-\x7e]+$/;
/** Punctuation after a label, which may look like the start of an id. */
const MARK = /^[:=]+/;
const CUT = /\.{2}|…|\?|‹/;

/** Reports whether a value is certainly not ours. */
function isOther({ fact, value }: Statement, ours: OurFacts): boolean {
  if (fact === 'count') return PLAIN_COUNT.test(value) && Number(value.replace(/\D/g, '')) !== ours.count;
  if (fact === 'head') return ours.head === null || ours.head.length === value.length ? value !== ours.head : false;
  const id = ours[fact];
  if (id === null || !WHOLE_ID.test(value) || !WHOLE_ID.test(id) || CUT.test(value)) return false;
  const [stated, known] = [value, id].map((text) => text.replace(MARK, '').toLowerCase()) as [string, string];
  return stated !== known && !id.replace(MARK, '').startsWith(value.replace(MARK, ''));
}
