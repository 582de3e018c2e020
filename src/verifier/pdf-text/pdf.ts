import { EvidenceError, messageOf } from '../../core/errors.ts';
import { isForeign } from './annotation.ts';
import { type Font, type FontSource, toFont } from './font.ts';
import { type Box, type Matrix, multiply, toMatrix } from './geometry.ts';
import { inflatesBeyond, isPackedOtherwise } from './inflation.ts';
import { hasLooseLetters } from './letters.ts';
import { namesMorePagesThanItCounts } from './page-tree.ts';
import { withoutPictures } from './pictures.ts';
import { readStatements, type Statement } from './statements.ts';
import { MAX_PIECES, PageText, type Piece } from './text.ts';

/** What the PDF form states, on every page that was read. */
export interface PdfFacts {
  statements: Statement[];
  /** The pages that were not read, from 1; null when all were. */
  unread: { from: number; to: number } | null;
  /** What a person sees and this reading cannot follow, in words. */
  doubts: string[];
}

/** More than a person looks through. */
const MAX_PAGES = 1000;
/** Of one page's content or of one font, inflated. */
const MAX_STREAM_BYTES = 8 * 2 ** 20;
/** Of a picture that stands within a page's content; larger ones are objects of their own. */
const MAX_INLINE_PIXELS = 2 ** 16;
/** ISO 32000-1, annex H (notes 13 and 18): readers look for the two marks within so many bytes of either end. */
const MARK_WITHIN = 1024;

/**
 * Reads every statement in the text of every page, the last page before those between. It is the text as a program
 * extracts it, told apart by whether a person sees it: what is drawn as a picture is not read.
 *
 * Nothing bounds the time and memory that a PDF made to hurt may take: run it where it can be ended.
 *
 * @param bytes the whole document; the caller caps its size. They are copied.
 * @throws EvidenceError `unreadable` when it is no PDF, cut off, encrypted, broken, or inflates beyond all measure.
 */
export async function readPdfFacts(bytes: Uint8Array): Promise<PdfFacts> {
  refuseFragment(bytes);
  if (isPackedOtherwise(bytes))
    throw new EvidenceError('unreadable', 'the PDF packs a stream in a way whose size cannot be bounded');
  if (inflatesBeyond(bytes, MAX_STREAM_BYTES))
    throw new EvidenceError('unreadable', 'the PDF inflates beyond all measure');
  const document = await openDocument(withoutPictures(bytes));
  try {
    const facts = await readPages(document);
    if (await namesMorePagesThanItCounts(bytes, MAX_STREAM_BYTES))
      facts.doubts.push('the PDF names more pages than it counts, which some viewers show');
    return facts;
  } catch (error) {
    throw toUnreadable(error);
  } finally {
    await document.close();
  }
}

interface Document {
  pages(): Promise<number>;
  text(page: number): Promise<Piece[]>;
  hasForeignDrawing(page: number): Promise<boolean>;
  close(): Promise<void>;
}

/** What pdf.js keeps for all pages. */
interface Objects {
  has(id: string): boolean;
  get(id: string): unknown;
}

async function readPages(document: Document): Promise<PdfFacts> {
  const count = await document.pages();
  const last = Math.min(count, MAX_PAGES) - 1;
  const statements: Statement[] = [];
  const doubts: string[] = [];
  for (const page of [...Array.from({ length: last }, (_, index) => index + 1), count]) {
    const pieces = await document.text(page);
    statements.push(...readStatements(pieces, page));
    if (hasLooseLetters(pieces)) doubts.push(`page ${page} of the PDF has words whose letters stand apart`);
    if (await document.hasForeignDrawing(page))
      doubts.push(`page ${page} of the PDF has an annotation that each viewer draws in its own way`);
  }
  return { statements, unread: count > MAX_PAGES ? { from: last + 1, to: count - 1 } : null, doubts };
}

/** The library's own types; it is loaded on first use, as it is megabytes of code that most commands never need. */
type Library = Awaited<ReturnType<typeof import('unpdf')['getResolvedPDFJS']>>;
type PdfDocument = Awaited<ReturnType<Library['getDocument']>['promise']>;
type PdfPage = Awaited<ReturnType<PdfDocument['getPage']>>;
type FontOf = (id: string, objects: Objects) => Font;

async function openDocument(bytes: Uint8Array<ArrayBuffer>): Promise<Document> {
  const { getResolvedPDFJS } = await import('unpdf');
  const { getDocument, OPS } = await getResolvedPDFJS();
  const fontOf = fontsOfDocument();
  const task = getDocument({
    // It takes the buffer away from whoever gives it.
    data: bytes,
    verbosity: 0,
    enableXfa: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWorkerFetch: false,
    // What it would leave out, others may show.
    stopAtErrors: true,
    maxImageSize: MAX_INLINE_PIXELS,
  });
  return {
    pages: async () => (await task.promise).numPages,
    text: async (number) => {
      const document = await task.promise;
      const page = await document.getPage(number);
      const pieces = (await drawPage(document, page, OPS, fontOf)).read();
      page.cleanup();
      if (pieces !== null) return pieces;
      throw new EvidenceError('unreadable', `page ${number} of the PDF has more than ${MAX_PIECES} pieces of text`);
    },
    hasForeignDrawing: async (number) => {
      const page = await (await task.promise).getPage(number);
      return (await page.getAnnotations({ intent: 'any' })).some(isForeign);
    },
    close: async () => {
      // A document that was never opened rejects here a second time with what is known already.
      await task.destroy().catch(() => undefined);
    },
  };
}

/** Each font is read once. */
function fontsOfDocument(): FontOf {
  const fonts = new Map<string, Font>();
  return (id, objects) => {
    const pathOf = (fontChar: string) => {
      const path = `${id}_path_${fontChar}`;
      return objects.has(path) ? (objects.get(path) as { path: ArrayLike<number> }).path : null;
    };
    const font = fonts.get(id) ?? toFont(objects.get(id) as FontSource, pathOf);
    fonts.set(id, font);
    return font;
  };
}

async function drawPage(
  document: PdfDocument,
  page: PdfPage,
  operators: Library['OPS'],
  fontOf: FontOf,
): Promise<PageText> {
  const [list, onScreen, onPaper] = await Promise.all([
    page.getOperatorList(),
    document.getOptionalContentConfig(),
    document.getOptionalContentConfig({ intent: 'print' }),
  ]);
  const { transform, width, height } = page.getViewport({ scale: 1 });
  const visible: Box = { left: 0, bottom: 0, right: width, top: height };
  const upwards: Matrix = [1, 0, 0, -1, 0, height];
  return new PageText({
    operators,
    functions: list.fnArray,
    arguments: list.argsArray,
    toPage: multiply(upwards, toMatrix(transform) ?? upwards),
    visible,
    fontOf: (id) => fontOf(id, page.commonObjs),
    whereShown: (content) => {
      if (content === null) return 'somewhere';
      const [screen, paper] = [onScreen.isVisible(content), onPaper.isVisible(content)];
      return screen && paper ? 'everywhere' : screen || paper ? 'somewhere' : 'nowhere';
    },
  });
}

/** The library mends what it can; a document without its beginning or end is not the one that was issued. */
function refuseFragment(bytes: Uint8Array): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!text.subarray(0, MARK_WITHIN).includes('%PDF-')) throw new EvidenceError('unreadable', 'it is not a PDF');
  if (!text.subarray(-MARK_WITHIN).includes('%%EOF')) throw new EvidenceError('unreadable', 'the PDF is cut off');
}

function toUnreadable(error: unknown): EvidenceError {
  if (error instanceof EvidenceError) return error;
  const name = error instanceof Error ? error.name : '';
  const reason = name === 'PasswordException' ? 'the PDF is encrypted' : `the PDF is broken: ${messageOf(error)}`;
  return new EvidenceError('unreadable', reason, { cause: error });
}
