import { PDFDocument, PDFName, PDFString } from 'pdf-lib';
import { embedStylesFor } from './fonts.ts';
import { type Furniture, Sheet } from './sheet.ts';
import { writeDocument } from './writing.ts';

/** Metadata of a document. */
interface DocumentFacts {
  title: string;
  subject: string;
  /** Fixed date: the same content gives the same bytes whenever it is set. */
  date: Date;
}

const PRODUCER = 'evidence-exporter';

/**
 * Sets an A4 document: tagged, with bookmarks, and with embedded fonts.
 *
 * @param contents value that includes every text that may be set, at any depth.
 * @param draw fills the sheet, and returns the content of the margins.
 * @returns the file in pieces, which can be read once.
 */
export async function setDocument(
  { title, subject, date }: DocumentFacts,
  contents: unknown,
  draw: (sheet: Sheet) => Promise<Furniture>,
): Promise<Iterable<Uint8Array>> {
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle(title, { showInWindowTitleBar: true });
  document.setSubject(subject);
  document.setCreator(PRODUCER);
  document.setProducer(PRODUCER);
  document.setCreationDate(date);
  document.setModificationDate(date);
  document.catalog.set(PDFName.of('Lang'), PDFString.of('en'));
  const sheet = new Sheet(document, await embedStylesFor(document, charactersOf(contents)), true);
  return writeDocument(document, sheet.finish(await draw(sheet)));
}

/** Collects every character of every text in a value. */
function charactersOf(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value === 'string') {
    for (const character of value.toWellFormed().normalize('NFC')) into.add(character);
  } else if (typeof value === 'object' && value !== null) {
    const members = Symbol.iterator in value ? (value as Iterable<unknown>) : Object.values(value);
    for (const member of members) charactersOf(member, into);
  }
  return into;
}
