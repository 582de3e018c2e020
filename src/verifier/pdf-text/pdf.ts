import { EvidenceError, messageOf } from '../../core/errors.ts';

/** Statements in the text of a PDF, and the reasons why parts of it were not read. */
export interface PdfFacts {
  statements: Statement[];
  /** Reasons, one sentence per page or range of pages. */
  unread: string[];
}

export type SeeText = (text: string) => void;

const MAX_PAGES = 100;
const MAX_CHARACTERS = 2 ** 22;
const MAX_REPORTED = 3;

/**
 * Reads the text of a PDF as the library extracts it; a person may see other text, or none.
 *
 * Does not bound the time and memory that a hostile PDF takes: call it in a thread that can be terminated.
 *
 * @param bytes whole document, which is copied; the caller limits its size.
 * @param seeText called with the text of each page.
 * @throws EvidenceError `unreadable` if the document cannot be opened.
 */
export async function readPdfFacts(bytes: Uint8Array, seeText: SeeText = () => undefined): Promise<PdfFacts> {
  // Loaded on demand: megabytes of code that most commands never need.
  const { getResolvedPDFJS } = await import('unpdf');
  const { getDocument } = await getResolvedPDFJS();
  const task = getDocument({
    // Copied, because the library detaches the buffer.
    data: new Uint8Array(bytes),
    verbosity: 0,
    // Otherwise the library silently leaves out everything that it cannot read.
    stopAtErrors: true,
    enableXfa: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWorkerFetch: false,
  });
  try {
    return await readPages(await task.promise, seeText);
  } catch (error) {
    const isEncrypted = error instanceof Error && error.name === 'PasswordException';
    const reason = isEncrypted ? 'it is encrypted' : messageOf(error);
    throw new EvidenceError('unreadable', reason, { cause: error });
  } finally {
    // A document that failed to open rejects here a second time.
    await task.destroy().catch(() => undefined);
  }
}

type Library = Awaited<ReturnType<typeof import('unpdf')['getResolvedPDFJS']>>;
type PdfDocument = Awaited<ReturnType<Library['getDocument']>['promise']>;

async function readPages(document: PdfDocument, seeText: SeeText): Promise<PdfFacts> {
  const pages = Math.min(document.numPages, MAX_PAGES);
  const statements: Statement[] = [];
  const unread: string[] = [];
  let broken = 0;
  for (let page = 1; page <= pages; page++) {
    try {
      const lines = await linesOf(document, page);
      seeText(lines.join('\n'));
      statements.push(...readStatements(lines, page));
    } catch (error) {
      broken++;
      if (broken <= MAX_REPORTED) unread.push(`page ${page} of the PDF could not be read: ${messageOf(error)}`);
    }
  }
  if (broken > MAX_REPORTED) unread.push(`${broken} pages of the PDF could not be read`);
  if (document.numPages > pages)
    unread.push(`pages ${pages + 1} to ${document.numPages} of the PDF were not read: it has too many`);
  return { statements, unread };
}

/** Returns the lines in the order of the page's content, with tabs between columns. */
async function linesOf(document: PdfDocument, number: number): Promise<string[]> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  let text = '';
  for (const item of items) {
    if (!('str' in item)) continue;
    const isGap = item.str === ' ' && item.width > item.height;
    text += `${isGap ? '\t' : item.str}${item.hasEOL ? '\n' : ''}`;
    if (text.length > MAX_CHARACTERS) throw new EvidenceError('unreadable', 'it has too much text');
  }
  if (text.trim() === '') throw new EvidenceError('unreadable', 'it has no text');
  return text
    .toWellFormed()
    .split('\n')
    .map((line) => line.trim());
}

export type StatedFact = 'package' | 'stream' | 'count' | 'head';

/** Line of a PDF with a value after the label of a fact. */
export interface Statement {
  fact: StatedFact;
  value: string;
  /** Page number, from 1. */
  page: number;
}

/** Labels and values of facts. `explicit` labels say that an id follows; after others, any word may follow. */
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
/** Distances in lines, within one list, from an id in a separate column to a certain statement. */
const AROUND = [-3, -2, -1, 1, 2, 3];

interface Found extends Statement {
  line: number;
  isCertain: boolean;
}

/** Reads the statements of a page, line by line. */
function readStatements(lines: readonly string[], page: number): Statement[] {
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
  // Without a mark, a label must be in a separate column: "Package contents" is a heading.
  const isExplicit = groups?.['explicit'] !== undefined;
  if (value.includes('\t') || (!isExplicit && !stated.startsWith('\t'))) return [];
  return [{ fact, value, page, line, isCertain: isExplicit }];
}
