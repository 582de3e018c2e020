import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { renderEvidencePdf } from '../../../src/platform/audit/pdf.ts';
import { readPdfFacts } from '../../../src/verifier/pdf-text/pdf.ts';
import { evidencePdf, hashOf } from '../../support/evidence-pdf.ts';
import { plainFacts } from '../../support/pdf-facts.ts';
import { someRows } from '../../support/some-rows.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pdf-facts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HASH = hashOf(250);
const ALL = { package: ['pkg-0042-ab'], stream: ['payments/prod'], count: ['1250'], head: [HASH] };
const [PACKAGE, STREAM] = ['pkg-0042-ab', 'payments/prod'];

async function factsIn(bytes: Uint8Array) {
  return plainFacts(await readPdfFacts(bytes));
}

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
    expect(await factsIn(await renderEvidencePdf(input))).toEqual({
      package: [input.summary.package_id],
      stream: ['iam.amazonaws.com'],
      count: [String(total)],
      ...(total === 0 ? {} : { head: [hashOf(total)] }),
    });
  });

  test('every statement of it is plain to see', async () => {
    const { statements, unread } = await readPdfFacts(await renderEvidencePdf(evidencePdf(250)));
    expect([statements.filter(({ unseen, isPlain }) => unseen !== null || !isPlain), unread]).toEqual([[], null]);
  });

  test('an actor who is called like a fact states no count plainly', async () => {
    const input = evidencePdf(5, (entry) => ({ ...entry, actor: 'Entries', action: '77', resource_id: 'Package: x1' }));
    input.summary.counts.actors = { Entries: 5 };
    expect((await factsIn(await renderEvidencePdf(input))).count).toEqual(['5']);
  });
});

describe('a layout of another service', () => {
  test.each<[string, (string | string[])[], object]>([
    [
      'colons in one line',
      ['Report', `Package id: ${PACKAGE}`, `Stream: ${STREAM}`, 'Number of entries: 1,250', `Head: ${HASH}`],
      ALL,
    ],
    [
      'a table, in capitals',
      [
        ['PACKAGE ID', PACKAGE],
        ['STREAM ID', STREAM],
        ['ENTRY COUNT', '1250'],
        ['HEAD DIGEST', HASH.toUpperCase()],
      ],
      ALL,
    ],
    [
      'names of fields',
      [
        ['package_id', PACKAGE],
        ['streamId', STREAM],
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
      { package: ['pkg-2026-00042'], count: ['1250'] },
    ],
    [
      'half a head',
      [
        ['Head hash', HASH.slice(0, 32)],
        ['Entries', '7'],
      ],
      { head: [HASH.slice(0, 32)], count: ['7'] },
    ],
    ['a head in groups with its algorithm', [`Head: SHA-256 ${HASH.match(/.{8}/g)?.join(' ')}`], { head: [HASH] }],
    ['a count with its word', ['Entries: 12 entries'], { count: ['12'] }],
    ['labels of its own', [`Chain tip ${HASH}`, 'Rows: 250', 'Bundle pkg-1'], {}],
    [
      'headings only',
      ['Evidence package AUD-2026-0014', 'Package contents', 'Stream overview', 'Entries', '1 to 250'],
      {},
    ],
    [
      'a table of several streams',
      [
        ['Stream', 'Entries', 'Package'],
        ['payments', '250', 'pkg-1'],
      ],
      {},
    ],
    [
      'words that are no values',
      [
        ['Package', 'contents'],
        ['Entries', '100 of 250'],
        ['Head', 'abc'],
      ],
      {},
    ],
    ['a heading above a title', ['Evidence package', 'AUD-2026-0014', 'Stream', 'prod-eu-central-1'], {}],
    ['a number under a heading, and a count beside its label', ['Entries', '7', 'Entries: 250'], { count: ['250'] }],
    ['a count stated twice and differently', ['Entries: 250', 'Entries: 251'], { count: ['250', '251'] }],
    ['a count stated twice alike', ['Entries: 250', 'Number of entries 250'], { count: ['250'] }],
    ['a count beyond all numbers', ['Entries: 99999999999999999999'], { count: ['99999999999999999999'] }],
    ['nothing at all', [], {}],
  ])('%s', async (_words, lines, expected) => {
    expect(await factsIn(await draw(rows(...lines)))).toEqual(expected);
  });

  test('a head that goes on under itself is put together', async () => {
    const texts: Text[] = [
      [50, 700, 'Head hash'],
      [150, 700, HASH.slice(0, 32)],
      [150, 688, HASH.slice(32)],
      [50, 670, 'Entries'],
      [150, 670, '9'],
    ];
    expect(await factsIn(await draw(texts))).toEqual({ head: [HASH], count: ['9'] });
  });

  test('values on the next line are found, and are less plain', async () => {
    const lines = ['Package ID', PACKAGE, 'Stream:', STREAM, 'Entries', '1 250', 'Chain head', HASH];
    const { statements } = await readPdfFacts(await draw(rows(...lines)));
    expect(statements.map(({ fact, texts, isPlain }) => [fact, texts[0], isPlain])).toEqual([
      ['package', PACKAGE, false],
      ['stream', STREAM, false],
      ['count', '1 250', false],
      ['head', HASH, false],
    ]);
  });

  test('the order in which it is drawn means nothing', async () => {
    const texts: Text[] = [
      [200, 700, '12'],
      [200, 680, HASH],
      [50, 680, 'Head'],
      [50, 700, 'Entries'],
    ];
    expect(await factsIn(await draw(texts))).toEqual({ count: ['12'], head: [HASH] });
  });

  test('every page counts', async () => {
    const bytes = await draw(rows('Entries: 250'), rows(`Head: ${hashOf(1)}`), rows('Entries: 9', `Head: ${HASH}`));
    expect(await factsIn(bytes)).toEqual({ count: ['250', '9'], head: [hashOf(1), HASH] });
  });
});

describe('what cannot be read', () => {
  const sound = () => draw(rows('Entries: 250', `Head: ${HASH}`, `Package id: ${PACKAGE}`));

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
    expect(await factsIn(encrypted(await sound(), ''))).toMatchObject({ count: ['250'], head: [HASH] });
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

const [PAGES = 0] = someRows([100, 300], () => 'pages').slice(-1);

test(`${PAGES} pages are read without a word`, async () => {
  const page = (number: number) =>
    rows(...Array.from({ length: 55 }, (_, line) => [`${number}.${line}`, 'alice', 'secret.read']));
  const middle = Array.from({ length: PAGES - 2 }, (_, index) => page(index));
  const bytes = await draw(rows('Entries: 16,390'), ...middle, rows(`Head: ${HASH}`));
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  const facts = await factsIn(bytes);
  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  for (const spy of printed) spy.mockRestore();
  expect(facts).toEqual({ count: ['16390'], head: [HASH] });
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
