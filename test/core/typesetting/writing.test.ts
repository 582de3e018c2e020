import { PDFDocument, PDFString } from 'pdf-lib';
import { expect, test } from 'vitest';
import { embedStyles } from '../../../src/core/typesetting/fonts.ts';
import { writeDocument } from '../../../src/core/typesetting/writing.ts';
import { joined } from '../../support/pieces.ts';

/** Creates a document with a font, a page, and unused object numbers. */
async function someDocument(): Promise<PDFDocument> {
  const document = await PDFDocument.create({ updateMetadata: false });
  document.setTitle('支付');
  const { regular } = await embedStyles(document);
  const [face] = regular;
  document.addPage().drawText('as pdf-lib writes it', face === undefined ? {} : { font: face.pdf });
  document.context.nextRef();
  document.context.register(PDFString.of('after a gap'));
  return document;
}

test('the file is the one that pdf-lib makes', async () => {
  const expected = await (await someDocument()).save({ useObjectStreams: false });
  const written = joined(await writeDocument(await someDocument(), null));
  expect(written.equals(expected)).toBe(true);
});

test('objects that are not in the document stand where their numbers are', async () => {
  const TEXTS = ['(one)', '(two)', '(three)'];
  const whole = await someDocument();
  for (const text of TEXTS) whole.context.register(PDFString.of(text.slice(1, -1)));
  whole.context.register(PDFString.of('last'));
  const document = await someDocument();
  const first = document.context.largestObjectNumber + 1;
  document.context.largestObjectNumber += TEXTS.length;
  document.context.register(PDFString.of('last'));
  const written = joined(await writeDocument(document, { first, texts: TEXTS }));
  expect(written.equals(await whole.save({ useObjectStreams: false }))).toBe(true);
});
