import { EvidenceError, messageOf } from '../../core/errors.ts';
import { readStatements, type Statement } from './statements.ts';

/** Statements in the text of a PDF, and why parts of it were not read. */
export interface PdfFacts {
  statements: Statement[];
  /** One sentence for each page or range of pages. */
  unread: string[];
}

export type SeeText = (text: string) => void;

const MAX_PAGES = 100;
const MAX_CHARACTERS = 2 ** 22;
const MAX_REPORTED = 3;

/**
 * Reads the text of a PDF as the library extracts it: a person may see other text, or none.
 *
 * Nothing bounds the time and memory that a hostile PDF takes: run it where it can be ended.
 *
 * @param bytes the whole document; the caller caps its size. They are copied.
 * @param seeText is given the text of each page.
 * @throws EvidenceError `unreadable` when the document cannot be opened.
 */
export async function readPdfFacts(bytes: Uint8Array, seeText: SeeText = () => undefined): Promise<PdfFacts> {
  // Megabytes of code that most commands never need.
  const { getResolvedPDFJS } = await import('unpdf');
  const { getDocument } = await getResolvedPDFJS();
  const task = getDocument({
    // The library takes the buffer away from its owner.
    data: new Uint8Array(bytes),
    verbosity: 0,
    // Without it the library leaves out what it cannot read, and says nothing.
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
    // A document that was never opened rejects here a second time.
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

/** Lines in the order of the page's content; a tab stands between columns. */
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
