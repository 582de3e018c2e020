import { EvidenceError, messageOf } from '../errors.ts';
import { inflatesBeyond, isPackedOtherwise } from './pdf/inflation.ts';
import { type Line, toLines } from './pdf/lines.ts';
import { type PdfFacts, readStatements } from './pdf/statements.ts';

/** A page with more pieces of text than this states nothing to a reader. */
const MAX_ITEMS = 20_000;
/** Of one page's content or of one font, inflated. */
const MAX_STREAM_BYTES = 64 * 2 ** 20;
/** ISO 32000-1, annex H (notes 13 and 18): readers look for the two marks within so many bytes of either end. */
const MARK_WITHIN = 1024;

/**
 * Reads the text of the first page, and of the last one if the first leaves a fact open; the pages between cost
 * nothing. It is the text as a program extracts it: what is drawn as a picture is not seen, what is drawn invisibly is.
 *
 * @param bytes the whole document; the caller caps its size. They are copied.
 * @param signal ends the reading, e.g. after a time.
 * @throws EvidenceError `unreadable` when it is no PDF, cut off, encrypted, broken, or inflates beyond all measure.
 */
export async function readPdfFacts(bytes: Uint8Array, signal?: AbortSignal): Promise<PdfFacts> {
  refuseFragment(bytes);
  if (isPackedOtherwise(bytes))
    throw new EvidenceError('unreadable', 'the PDF packs a stream in a way whose size cannot be bounded');
  if (await inflatesBeyond(bytes, MAX_STREAM_BYTES))
    throw new EvidenceError('unreadable', 'the PDF inflates beyond all measure');
  const document = await openDocument(bytes);
  try {
    return await endingWith(signal, readPages(document));
  } catch (error) {
    throw toUnreadable(error);
  } finally {
    await document.close();
  }
}

interface Document {
  pages(): Promise<number>;
  lines(page: number): Promise<Line[]>;
  close(): Promise<void>;
}

async function readPages(document: Document): Promise<PdfFacts> {
  const count = await document.pages();
  const first = readStatements(await document.lines(1));
  const isComplete = Object.values(first).every((fact) => fact !== null);
  if (isComplete || count === 1) return first;
  const last = readStatements(await document.lines(count));
  return {
    packageId: first.packageId ?? last.packageId,
    streamId: first.streamId ?? last.streamId,
    entryCount: first.entryCount ?? last.entryCount,
    headDigest: first.headDigest ?? last.headDigest,
  };
}

async function openDocument(bytes: Uint8Array): Promise<Document> {
  // Loaded on first use: the library is megabytes of code that most commands never need.
  const { getResolvedPDFJS } = await import('unpdf');
  const { getDocument } = await getResolvedPDFJS();
  const task = getDocument({
    // It takes the buffer away from whoever gives it.
    data: new Uint8Array(bytes),
    verbosity: 0,
    enableXfa: false,
    useSystemFonts: false,
    disableFontFace: true,
    useWorkerFetch: false,
  });
  return {
    pages: async () => (await task.promise).numPages,
    lines: async (number) => {
      const page = await (await task.promise).getPage(number);
      return toLines(await readItems(page.streamTextContent().getReader()));
    },
    close: async () => {
      // A document that was never opened rejects here a second time with what is known already.
      await task.destroy().catch(() => undefined);
    },
  };
}

/** What the library gives for a page, as far as it is used here. */
interface TextReader {
  read(): Promise<{ done: boolean; value?: { items: unknown[] } | undefined }>;
  cancel(reason: Error): Promise<void>;
}

async function readItems(reader: TextReader): Promise<unknown[]> {
  const items: unknown[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value === undefined) return items;
    items.push(...value.items);
    if (items.length <= MAX_ITEMS) continue;
    const tooMany = new EvidenceError('unreadable', `a page of the PDF has more than ${MAX_ITEMS} pieces of text`);
    await reader.cancel(tooMany);
    throw tooMany;
  }
}

/** The library mends what it can; a document without its beginning or end is not the one that was issued. */
function refuseFragment(bytes: Uint8Array): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!text.subarray(0, MARK_WITHIN).includes('%PDF-')) throw new EvidenceError('unreadable', 'it is not a PDF');
  if (!text.subarray(-MARK_WITHIN).includes('%%EOF')) throw new EvidenceError('unreadable', 'the PDF is cut off');
}

async function endingWith<T>(signal: AbortSignal | undefined, reading: Promise<T>): Promise<T> {
  if (signal === undefined) return reading;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const end = () => reject(new EvidenceError('unreadable', 'the PDF could not be read in time'));
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  try {
    return await Promise.race([reading, ended]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function toUnreadable(error: unknown): EvidenceError {
  if (error instanceof EvidenceError) return error;
  const name = error instanceof Error ? error.name : '';
  const reason = name === 'PasswordException' ? 'the PDF is encrypted' : `the PDF is broken: ${messageOf(error)}`;
  return new EvidenceError('unreadable', reason, { cause: error });
}
