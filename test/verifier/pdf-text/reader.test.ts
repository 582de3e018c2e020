import { expect, test } from 'vitest';
import { readPdf } from '../../../src/verifier/pdf-text/reader.ts';
import { drawnPdf, list, type Means, stream } from '../../support/drawn-pdf.ts';

/** Forms that each draw the next ten times: of so many levels, a page of ten to their power of drawings. */
function nested(levels: number, innermost: string): Means {
  const form = (content: string, next: number | null) =>
    stream(
      content,
      `/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>${next === null ? '' : `/XObject<</X ${next} 0 R>>`}>>`,
    );
  const objects = Array.from({ length: levels }, (_, level) =>
    level === levels - 1 ? form(innermost, null) : form('/X Do '.repeat(10), 21 + level),
  );
  return { objects, resources: '/XObject<</X 20 0 R>>' };
}

test.each([
  ['graphics without end', '1 0 0 rg q Q'],
  ['text without end', 'BT /F1 9 Tf (Entries: 20) Tj ET'],
])('%s ends with the time it has, and the next PDF is read', async (_words, innermost) => {
  const began = performance.now();
  const failure = await readPdf(drawnPdf(['/X Do '.repeat(10)], nested(9, innermost)), 1500).catch((error) => error);
  expect(failure).toMatchObject({ code: 'unreadable', message: expect.stringMatching(/in time|too much memory/) });
  expect(performance.now() - began).toBeLessThan(15_000);
  expect((await readPdf(drawnPdf([list('Entries: 20')]))).statements).toHaveLength(1);
});

test('PDFs that are asked for together are all read', async () => {
  const counts = [1, 2, 3].map(async (count) => readPdf(drawnPdf([list(`Entries: ${count}`)])));
  expect((await Promise.all(counts)).map(({ statements }) => statements[0]?.texts[0])).toEqual(['1', '2', '3']);
});

test('one that cannot be read says why, and harms no other', async () => {
  await expect(readPdf(Buffer.from('<html>'))).rejects.toMatchObject({
    code: 'unreadable',
    message: 'it is not a PDF',
  });
  expect((await readPdf(drawnPdf([list('Entries: 20')]))).statements).toHaveLength(1);
});
