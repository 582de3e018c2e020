import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readPdf } from '../../../src/verifier/pdf-text/reader.ts';
import { type Deps, drawnPdf, list, put, stream } from '../../support/drawn-pdf.ts';

/** Returns nested forms, each of which draws the next ten times: a page draws ten to the power of the levels. */
function nested(levels: number, innermost: string): Deps {
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

/** Deflates zeros several times; each time shrinks them to a thousandth. */
function bomb(bytes: number, times: number): Buffer {
  let content = Buffer.alloc(bytes, ' ');
  for (let time = 0; time < times; time++) content = deflateSync(content);
  const filter = `/Filter[${'/FlateDecode'.repeat(times)}]`;
  return drawnPdf([put('Entries: 20')], {
    objects: [stream(content.toString('latin1'), filter)],
    page: '/Contents 20 0 R',
  });
}

test.each([
  ['text without end', drawnPdf(['/X Do '.repeat(10)], nested(9, 'BT /F1 9 Tf (Entries: 20) Tj ET'))],
  ['a stream that inflates to 4 GB', bomb(2 ** 32 - 2 ** 20, 1)],
  ['a stream that inflates twice', bomb(2 ** 30, 2)],
])('%s ends within its bounds, and the next PDF is read', async (_words, pdf) => {
  const before = process.memoryUsage().rss;
  const began = performance.now();
  const failure = await readPdf(pdf, { withinMs: 1500 }).catch((error) => error);
  expect(failure).toMatchObject({
    code: 'unreadable',
    message: expect.stringMatching(/takes too (?:long|much memory)/),
  });
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30);
  expect((await readPdf(drawnPdf([list('Entries: 20')]))).statements).toHaveLength(1);
});

test('PDFs that are asked for together are all read', async () => {
  const counts = [1, 2, 3].map(async (count) => readPdf(drawnPdf([list(`Entries: ${count}`)])));
  expect((await Promise.all(counts)).map(({ statements }) => statements[0]?.value)).toEqual(['1', '2', '3']);
});

test('one that cannot be read says why, and harms no other', async () => {
  await expect(readPdf(Buffer.from('<html>'))).rejects.toMatchObject({
    code: 'unreadable',
    message: 'Invalid PDF structure.',
  });
  expect((await readPdf(drawnPdf([list('Entries: 20')]))).statements).toHaveLength(1);
});
