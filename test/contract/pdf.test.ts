import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readPdfFacts } from '../../src/contract/pdf.ts';
import { renderEvidencePdf } from '../../src/platform/audit/pdf.ts';
import { evidencePdf, hashOf } from '../support/evidence-pdf.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pdf-facts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HASH = hashOf(250);
const ALL = { packageId: 'pkg-0042-ab', streamId: 'payments/prod', entryCount: 1250, headDigest: HASH };
const NONE = { packageId: null, streamId: null, entryCount: null, headDigest: null };

/** A page: text at points from the bottom left. */
type Text = [x: number, y: number, text: string];

async function draw(...pages: Text[][]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font: PDFFont = await document.embedFont(StandardFonts.Helvetica);
  for (const texts of pages) {
    const page = document.addPage([595, 842]);
    for (const [x, y, text] of texts) page.drawText(text, { x, y, size: 9, font });
  }
  return document.save();
}

/** Lines from the top down, 14 points apart; parts of a line stand 150 points apart. */
function rows(...lines: (string | string[])[]): Text[] {
  return lines.flatMap((line, index) =>
    [line].flat().map((text, column): Text => [50 + 150 * column, 800 - 14 * index, text]),
  );
}

describe('the PDF form of our own platform', () => {
  test.each([0, 1, 250, 10_000])('states the facts of %d entries', async (total) => {
    const input = evidencePdf(total);
    expect(await readPdfFacts(await renderEvidencePdf(input))).toEqual({
      packageId: input.summary.package_id,
      streamId: 'iam.amazonaws.com',
      entryCount: total,
      headDigest: total === 0 ? null : hashOf(total),
    });
  });

  test.each([
    ['a plain word', 'payments', 'payments'],
    ['one that needs two lines', `s${'1'.repeat(300)}`, null],
    ['another script', 'кадры', null],
    ['a character without a glyph', 'pay\u{1F512}ments-01', null],
    ['one with a space', 'payments prod', null],
  ])('a stream id that is %s is taken whole or not at all', async (_words, id, expected) => {
    const input = evidencePdf(3);
    input.summary.stream_id = id;
    expect(await readPdfFacts(await renderEvidencePdf(input))).toMatchObject({ streamId: expected, entryCount: 3 });
  });

  test('an actor who is called like a fact changes no fact', async () => {
    const input = evidencePdf(5, (entry) => ({ ...entry, actor: 'Entries', action: '77', resource_id: 'Package: x1' }));
    input.summary.counts.actors = { Entries: 5 };
    expect(await readPdfFacts(await renderEvidencePdf(input))).toMatchObject({
      packageId: input.summary.package_id,
      entryCount: 5,
    });
  });
});

describe('a layout of another service', () => {
  test.each<[string, (string | string[])[], Partial<typeof NONE> | object]>([
    [
      'colons in one line',
      [
        'Report',
        `Package id: ${ALL.packageId}`,
        `Stream: ${ALL.streamId}`,
        'Number of entries: 1,250',
        `Head: ${HASH}`,
      ],
      ALL,
    ],
    [
      'a table, in capitals',
      [
        ['PACKAGE ID', ALL.packageId],
        ['STREAM ID', ALL.streamId],
        ['ENTRY COUNT', '1250'],
        ['HEAD DIGEST', HASH.toUpperCase()],
      ],
      ALL,
    ],
    [
      'the value on the next line',
      ['Package ID', ALL.packageId, 'Stream:', ALL.streamId, 'Entries', '1 250', 'Chain head', HASH],
      ALL,
    ],
    [
      'names of fields',
      [
        ['package_id', ALL.packageId],
        ['streamId', ALL.streamId],
        ['entry_count', '1.250'],
        ['head_hash', HASH],
      ],
      ALL,
    ],
    [
      'two facts a line',
      [
        ['Evidence package', 'pkg-2026-00042', 'Entries', '1250'],
        ['Head hash', HASH.slice(0, 20), 'x'],
      ],
      { ...NONE, packageId: 'pkg-2026-00042', entryCount: 1250 },
    ],
    [
      'half a head',
      [
        ['Head hash', HASH.slice(0, 32)],
        ['Entries', '7'],
      ],
      { ...NONE, entryCount: 7 },
    ],
    [
      'a head in groups with its algorithm',
      [`Head: SHA-256 ${HASH.match(/.{8}/g)?.join(' ')}`],
      { ...NONE, headDigest: HASH },
    ],
    ['a count with its word', ['Entries: 12 entries'], { ...NONE, entryCount: 12 }],
    ['labels of its own', [`Chain tip ${HASH}`, 'Rows: 250', 'Bundle pkg-1'], NONE],
    [
      'headings only',
      ['Evidence package AUD-2026-0014', 'Package contents', 'Stream overview', 'Entries', '1 to 250'],
      NONE,
    ],
    [
      'a table of several streams',
      [
        ['Stream', 'Entries', 'Package'],
        ['payments', '250', 'pkg-1'],
      ],
      NONE,
    ],
    [
      'words that are no values',
      [
        ['Package', 'contents'],
        ['Entries', '100 of 250'],
        ['Head', 'abc'],
      ],
      NONE,
    ],
    ['a heading above a title', ['Evidence package', 'AUD-2026-0014', 'Stream', 'prod-eu-central-1'], NONE],
    [
      'a number under a heading, and a count beside its label',
      ['Entries', '7', 'Entries: 250'],
      { ...NONE, entryCount: 250 },
    ],
    ['a count stated twice and differently', ['Entries: 250', 'Entries: 251'], NONE],
    ['a count stated twice alike', ['Entries: 250', 'Number of entries 250'], { ...NONE, entryCount: 250 }],
    ['a count beyond all numbers', ['Entries: 99999999999999999999'], NONE],
    ['nothing at all', [], NONE],
  ])('%s', async (_words, lines, expected) => {
    expect(await readPdfFacts(await draw(rows(...lines)))).toEqual(expected);
  });

  test('a head that goes on under itself is put together', async () => {
    const texts: Text[] = [
      [50, 700, 'Head hash'],
      [150, 700, HASH.slice(0, 32)],
      [150, 688, HASH.slice(32)],
      [50, 670, 'Entries'],
      [150, 670, '9'],
    ];
    expect(await readPdfFacts(await draw(texts))).toEqual({ ...NONE, headDigest: HASH, entryCount: 9 });
  });

  test('the order in which it is drawn means nothing', async () => {
    const texts: Text[] = [
      [200, 700, '12'],
      [200, 680, HASH],
      [50, 680, 'Head'],
      [50, 700, 'Entries'],
    ];
    expect(await readPdfFacts(await draw(texts))).toEqual({ ...NONE, headDigest: HASH, entryCount: 12 });
  });

  test('the last page adds what the first leaves open, and changes nothing of it; the others are not read', async () => {
    const bytes = await draw(rows('Entries: 250'), rows(`Head: ${hashOf(1)}`), rows('Entries: 9', `Head: ${HASH}`));
    expect(await readPdfFacts(bytes)).toEqual({ ...NONE, entryCount: 250, headDigest: HASH });
  });
});

describe('what cannot be read', () => {
  const sound = () => draw(rows('Entries: 250', `Head: ${HASH}`, `Package id: ${ALL.packageId}`));

  test.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp]>([
    ['nothing', () => new Uint8Array(), /not a PDF/],
    ['a web page', () => Buffer.from('<html>Entries: 250</html>'.repeat(100)), /not a PDF/],
    ['only a beginning and an end', () => Buffer.from('%PDF-1.7\n%%EOF\n'), /broken/],
    ['noise between beginning and end', () => Buffer.from(`%PDF-1.7\n${'x 0 obj <<'.repeat(999)}\n%%EOF\n`), /broken/],
    ['cut off in the middle', async () => (await sound()).subarray(0, 900), /cut off/],
    ['encrypted', async () => encrypted(await sound(), 'secret'), /encrypted/],
    ['one that inflates without end', () => bomb(deflateSync(Buffer.alloc(2 ** 27, ' '))), /inflates/],
    [
      'one that inflates twice',
      () => bomb(deflateSync(deflateSync(Buffer.alloc(2 ** 27, ' '))), '/Filter[/FlateDecode/FlateDecode]'),
      /inflates/,
    ],
    ...[
      '/Filter[/ASCIIHexDecode/FlateDecode]',
      '/Filter [ /A85 /Fl ]',
      '/Filter/LZWDecode',
      '/Filter 9 0 R',
      '/F#69lter/ASCIIHexDecode',
    ].map((filter): [string, () => Uint8Array, RegExp] => [
      `one that is packed by ${filter}`,
      () => bomb(Buffer.from('00'.repeat(99)), filter),
      /packs a stream/,
    ]),
    [
      'a page of endless text',
      () =>
        bomb(
          deflateSync(Buffer.from('BT /F1 9 Tf 10 10 Td (x) Tj ET\nBT /F1 9 Tf 300 600 Td (y) Tj ET\n'.repeat(12_000))),
        ),
      /pieces/,
    ],
  ])('%s', async (_words, make, message) => {
    const bytes = await make();
    const failure = await readPdfFacts(bytes).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'EvidenceError', code: 'unreadable' });
    expect((failure as Error).message).toMatch(message);
  });

  test('one that is encrypted for printing only is open to every reader, and to us', async () => {
    expect(await readPdfFacts(encrypted(await sound(), ''))).toMatchObject({ entryCount: 250, headDigest: HASH });
  });

  test('a reading that was ended from outside', async () => {
    const failure = readPdfFacts(await sound(), AbortSignal.abort());
    await expect(failure).rejects.toMatchObject({ code: 'unreadable', message: 'the PDF could not be read in time' });
  });

  test('one byte changed anywhere ends in facts or in the error, never otherwise', async () => {
    const bytes = await sound();
    let ended = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x15;
      const result = await readPdfFacts(changed).catch((error: unknown) => error);
      expect(result instanceof Error ? result : Object.keys(result as object)).toSatisfy((value: unknown) =>
        value instanceof Error ? 'code' in value && value.code === 'unreadable' : Array.isArray(value),
      );
      ended++;
    }
    expect(ended).toBeGreaterThan(100);
  });
});

test('of 300 pages only two are read, within three seconds, and nothing is printed', async () => {
  const page = (number: number) =>
    rows(...Array.from({ length: 55 }, (_, line) => [`${number}.${line}`, 'alice', 'secret.read']));
  const middle = Array.from({ length: 298 }, (_, index) => page(index));
  const bytes = await draw(rows('Entries: 16,390'), ...middle, rows(`Head: ${HASH}`));
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const began = performance.now();
  const facts = await readPdfFacts(bytes);
  const took = performance.now() - began;
  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  for (const spy of printed) spy.mockRestore();
  expect(facts).toEqual({ ...NONE, entryCount: 16_390, headDigest: HASH });
  expect(took).toBeLessThan(3000);
});

test('the bytes that were handed in are left as they are', async () => {
  const bytes = await draw(rows('Entries: 250'));
  const before = Buffer.from(bytes);
  await readPdfFacts(bytes);
  expect(before.equals(bytes)).toBe(true);
});

function encrypted(bytes: Uint8Array, password: string): Uint8Array {
  const [plain, locked] = [join(folder, 'plain.pdf'), join(folder, 'locked.pdf')];
  writeFileSync(plain, bytes);
  execFileSync('qpdf', ['--encrypt', password, 'owner', '256', '--', plain, locked]);
  return readFileSync(locked);
}

/** One page with this content. */
function bomb(content: Uint8Array, filter = '/Filter/FlateDecode'): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources<</Font<</F1 4 0 R>>>>>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ].map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`);
  const start = `%PDF-1.7\n${objects.join('')}5 0 obj\n<</Length ${content.length}${filter}>>stream\n`;
  const end = '\nendstream\nendobj\ntrailer<</Size 6/Root 1 0 R>>\nstartxref\n0\n%%EOF\n';
  return Buffer.concat([Buffer.from(start), content, Buffer.from(end)]);
}
