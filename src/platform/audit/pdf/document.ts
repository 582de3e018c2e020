import { PDFDocument, PDFName, PDFString } from 'pdf-lib';
import { drawHeading, drawList } from '../../../core/typesetting/blocks.ts';
import { embedStyles, type Styles } from '../../../core/typesetting/fonts.ts';
import { ACCENT, GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, LEFT, Sheet } from '../../../core/typesetting/sheet.ts';
import { drawCheckpoints, drawCounts, drawEntries, drawFacts, type EvidencePdf } from './sections.ts';

const PRODUCER = 'Evidence Platform';
const MARKS_NOTE =
  'A character that cannot be set in the font of this document, or that would be invisible, is shown as a mark on a ' +
  'tinted ground with its Unicode code point, as in ‹U+6F22›. The JSON form has the character itself.';
const SCOPE_NOTE =
  'This document states what the service that issued it recorded. The JSON form of the package carries every entry in ' +
  'full, so that its chain can be recomputed without this service.';

/**
 * Renders the PDF form of an evidence package: an A4 document with selectable, searchable text and embedded fonts. The
 * same input gives the same bytes. The document is composed a second time if the first pass showed that its first page
 * needs the note about marks.
 */
export async function renderEvidencePdf(input: EvidencePdf): Promise<Uint8Array> {
  const plain = await compose(input, { explainsMarks: false });
  return plain.hasMarks ? (await compose(input, { explainsMarks: true })).save() : plain.save();
}

async function compose(
  input: EvidencePdf,
  { explainsMarks }: { explainsMarks: boolean },
): Promise<{ hasMarks: boolean; save(): Promise<Uint8Array> }> {
  const document = await PDFDocument.create({ updateMetadata: false });
  describe(document, input);
  const styles = await embedStyles(document);
  const sheet = new Sheet(document, styles);
  drawTitle(sheet, styles, input.title);
  drawFacts(sheet, input.summary, input.checkpoints, input.generatedAt);
  drawHeading(sheet, 'Limitations');
  drawList(sheet, [...input.summary.limitations, SCOPE_NOTE]);
  if (explainsMarks) drawMarksNote(sheet, styles);
  if (input.checkpoints.length > 0) drawCheckpoints(sheet, input.checkpoints);
  if (input.summary.entry_count > 0) drawCounts(sheet, input.summary);
  await drawEntries(sheet, input.summary.entry_count, input.first, input.last);
  const { package_id, stream_id } = input.summary;
  sheet.finish({ head: `Evidence package · stream ${stream_id}`, foot: package_id });
  return { hasMarks: sheet.hasMarks, save: () => document.save() };
}

function drawTitle(sheet: Sheet, styles: Styles, title: string): void {
  sheet.flow('EVIDENCE PACKAGE', { style: styles.bold, size: 7.5, leading: 9, color: GREY });
  sheet.y -= 5;
  const setting: Setting = { style: styles.bold, size: 18, leading: 23, color: ACCENT };
  const paragraph = sheet.set(title, setting, CONTENT_WIDTH, 4);
  sheet.draw(paragraph, setting, LEFT, sheet.y - setting.size);
  sheet.y -= paragraph.lines.length * setting.leading + 4;
  sheet.rule(sheet.y, ACCENT);
  sheet.y -= 8;
}

function drawMarksNote(sheet: Sheet, styles: Styles): void {
  sheet.y -= 4;
  sheet.flow(MARKS_NOTE, { style: styles.regular, size: 7.5, leading: 10.5, color: INK });
}

/**
 * Sets the document's metadata. Its date is that of the package, so that the bytes do not depend on the time of
 * rendering.
 */
function describe(document: PDFDocument, { title, summary, generatedAt }: EvidencePdf): void {
  const date = new Date(generatedAt);
  document.setTitle(title, { showInWindowTitleBar: true });
  document.setSubject(`Evidence package ${summary.package_id} of stream ${summary.stream_id}`);
  document.setCreator(PRODUCER);
  document.setProducer(PRODUCER);
  document.setCreationDate(date);
  document.setModificationDate(date);
  document.catalog.set(PDFName.of('Lang'), PDFString.of('en'));
}
