import type { PdfFacts, StatedFact, Statement } from '../pdf-text/pdf.ts';

/** The facts as the JSON form has them; null for what it has not. */
export interface OurFacts {
  package: string | null;
  stream: string;
  count: number;
  /** Lower-case hex. */
  head: string | null;
}

interface PdfComparison {
  /** The one value that the PDF states of a fact, and that is not ours. */
  differences: Statement[];
  /** Other values of a fact of which the PDF states several: they may be of a part, or quoted from an entry. */
  unclear: Statement[];
}

const FACTS: readonly StatedFact[] = ['package', 'stream', 'count', 'head'];

/** Compares the statements of a PDF with ours. None of them proves anything. */
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

/** Thousands in groups as everybody reads them; a point may as well be that of a fraction. */
const PLAIN_COUNT = /^\d+$|^\d{1,3}(?:([,\s'’])\d{3})(?:\1\d{3})*$/;
/** A font that lacks characters, or a table that lacks room, leaves some of an id out. */
const WHOLE_ID = /^[\x21-\x7e]+$/;
/** The mark of a label and the beginning of an id look alike. */
const MARK = /^[:=]+/;
const CUT = /\.{2}|…|\?|‹/;

/** False where the value may be ours. */
function isOther({ fact, value }: Statement, ours: OurFacts): boolean {
  if (fact === 'count') return PLAIN_COUNT.test(value) && Number(value.replace(/\D/g, '')) !== ours.count;
  if (fact === 'head') return ours.head === null || ours.head.length === value.length ? value !== ours.head : false;
  const id = ours[fact];
  if (id === null || !WHOLE_ID.test(value) || !WHOLE_ID.test(id) || CUT.test(value)) return false;
  const [stated, known] = [value, id].map((text) => text.replace(MARK, '').toLowerCase()) as [string, string];
  return stated !== known && !id.replace(MARK, '').startsWith(value.replace(MARK, ''));
}
