import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { renderEvidencePdf } from '../../../src/platform/audit/pdf/document.ts';
import { readPdfFacts } from '../../../src/verifier/pdf-text/pdf.ts';
import { type Deps, drawnPdf, list, put, stream } from '../../support/drawn-pdf.ts';
import { evidencePdf, hashOf } from '../../support/evidence-pdf.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pdf-facts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HASH = hashOf(250);
const SOUND = [`Package id: pkg-0042-ab`, 'Entries: 250', `Head: ${HASH}`];

async function factsIn(bytes: Uint8Array): Promise<string[]> {
  const { statements, unread } = await readPdfFacts(bytes);
  expect(unread).toEqual([]);
  return statements.map(({ fact, value }) => `${fact} ${value}`);
}

describe('the PDF form of our own platform', () => {
  test.each([0, 1, 250, 10_000])('states the facts of %d entries', async (total) => {
    const input = evidencePdf(total);
    expect(await factsIn(await renderEvidencePdf(input))).toEqual([
      `package ${input.summary.package_id}`,
      'stream iam.amazonaws.com',
      `count ${total}`,
      ...(total === 0 ? [] : [`head ${hashOf(total)}`]),
    ]);
  });
});

/** Draws two columns. */
const row = (y: number, label: string, value: string) => put(label, 50, y) + put(value, 200, y);

test.each<[string, string, string[]]>([
  [
    'colons in one line',
    list('Report', 'Package id: pkg-0042-ab', 'Stream: payments/prod', 'Number of entries: 1,250', `Head: ${HASH}`),
    ['package pkg-0042-ab', 'stream payments/prod', 'count 1,250', `head ${HASH}`],
  ],
  [
    'columns, in capitals',
    row(700, 'PACKAGE ID', 'pkg-0042-ab') +
      row(686, 'ENTRY COUNT', '1250') +
      row(672, 'HEAD DIGEST', HASH.toUpperCase()),
    ['package pkg-0042-ab', 'count 1250', `head ${HASH}`],
  ],
  [
    'names of members',
    list('package_id: p1', 'entry_count: 1250', `head_hash: ${HASH}`),
    ['package p1', 'count 1250', `head ${HASH}`],
  ],
  ['a head in groups with its algorithm', list(`Head: SHA-256 ${HASH.match(/.{8}/g)?.join(' ')}`), [`head ${HASH}`]],
  ['a count with its word', list('Entries: 12 entries'), ['count 12']],
  ['labels of its own', list('Rows: 250', 'Bundle pkg-1'), []],
  [
    'headings',
    list('Evidence package AUD-2026-0014', 'Package contents', 'Stream overview', 'Entries', '1 to 250'),
    [],
  ],
  ['words that are no values', row(700, 'Package', 'contents') + row(686, 'Entries', '100 of 250'), []],
  ['half a head', list(`Head hash: ${HASH.slice(0, 32)}`), []],
  [
    'an id in a column near a count',
    row(700, 'Stream', 'payments') + row(686, 'Entries', '7'),
    ['stream payments', 'count 7'],
  ],
  ['text that no person sees', `3 Tr ${put('Entries: 7')}`, ['count 7']],
])('the text of a page: %s', async (_words, page, expected) => {
  expect(await factsIn(drawnPdf([page]))).toEqual(expected);
});

test('every page is read, the first hundred at most', async () => {
  const pages = Array.from({ length: 101 }, (_, index) => put(`Entries: ${index + 1}`));
  const { statements, unread } = await readPdfFacts(drawnPdf(pages));
  expect(statements.map(({ value, page }) => [value, page])).toEqual(
    Array.from({ length: 100 }, (_, index) => [String(index + 1), index + 1]),
  );
  expect(unread).toEqual(['pages 101 to 101 of the PDF were not read: it has too many']);
});

/** Operators that end the reading of a page, or after which the library omits content. */
const BROKEN: [string, string, Deps?][] = [
  ['a graphics state that is not defined', '/Gx gs'],
  ['a picture or form that is not defined', '/Xx Do'],
  ['an inline picture without members', 'BI ID EI'],
  [
    'a graphics state that is not defined, in a form of one point',
    '/X Do',
    {
      objects: [stream('/Gx gs', '/Type/XObject/Subtype/Form/BBox[0 0 1 1]/Resources<<>>')],
      resources: '/XObject<</X 20 0 R>>',
    },
  ],
];

test.each(BROKEN)('a page is read whole, or said not to be: %s', async (_words, operators, deps) => {
  const lie = list('Entries: 999');
  for (const page of [`${lie}${operators}`, `${operators}\n${lie}`, `${lie}${'0 g '.repeat(3000)}${operators}`]) {
    const { statements, unread } = await readPdfFacts(drawnPdf([list(...SOUND), page], deps));
    expect(statements.filter(({ page: at }) => at === 1)).toHaveLength(3);
    const isRead = statements.some(({ value, page: at }) => value === '999' && at === 2);
    expect([isRead, unread]).toEqual(
      isRead ? [true, []] : [false, [expect.stringMatching(/^page 2 of the PDF could not be read: /)]],
    );
  }
});

test.each([
  ['without text', '0 0 9 9 re f', {}],
  ['with a content that cannot be inflated', 'no deflate', { page: '/Filter/FlateDecode/Contents[20 0 R]' }],
])('a page %s is said not to be read', async (_words, content, { page = '' }: Deps) => {
  const objects = [stream(content, '/Filter/FlateDecode')];
  const { unread } = await readPdfFacts(
    drawnPdf(page === '' ? [list(...SOUND), content] : [content], { objects, page }),
  );
  expect(unread).toEqual([expect.stringMatching(/^page \d of the PDF could not be read: it has no text$/)]);
});

describe('what cannot be opened', () => {
  const sound = () => drawnPdf([list(...SOUND)]);

  test.each<[string, () => Uint8Array, RegExp]>([
    ['nothing', () => new Uint8Array(), /empty/],
    ['a web page', () => Buffer.from('<html>Entries: 250</html>'.repeat(100)), /./],
    ['only a beginning and an end', () => Buffer.from('%PDF-1.7\n%%EOF\n'), /./],
    ['noise between beginning and end', () => Buffer.from(`%PDF-1.7\n${'x 0 obj <<'.repeat(999)}\n%%EOF\n`), /./],
    ['encrypted', () => encrypted(sound(), 'secret'), /^it is encrypted$/],
  ])('%s', async (_words, make, message) => {
    const failure = await readPdfFacts(make()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
  });

  test('one that is encrypted for printing only is open to every reader, and to us', async () => {
    expect(await factsIn(encrypted(sound(), ''))).toHaveLength(3);
  });

  test('one byte changed anywhere ends in facts or in the error, never otherwise', async () => {
    const bytes = sound();
    let ended = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x15;
      const result = await readPdfFacts(changed).catch((error: unknown) => error);
      expect(result).toSatisfy(
        (value: object) => 'statements' in value || ('code' in value && value.code === 'unreadable'),
      );
      ended++;
    }
    expect(ended).toBeGreaterThan(100);
  });
});

test('a page that states facts without end is not read', async () => {
  const page = Array.from({ length: 1001 }, (_, index) => put(`Entries: ${index}`, 50, 14 * index)).join('');
  const { statements, unread } = await readPdfFacts(drawnPdf([page], { page: '/MediaBox[0 0 595 14400]' }));
  expect([statements, unread]).toEqual([[], ['page 1 of the PDF could not be read: it states more than 1000 facts']]);
});

test('it is read without a word on the terminal, and the bytes that were handed in are left as they are', async () => {
  const bytes = drawnPdf([list(...SOUND), '/Gx gs']);
  const before = Buffer.from(bytes);
  const printed = [vi.spyOn(process.stdout, 'write'), vi.spyOn(process.stderr, 'write')];
  await readPdfFacts(bytes);
  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
  for (const spy of printed) spy.mockRestore();
  expect(before.equals(bytes)).toBe(true);
});

function encrypted(bytes: Uint8Array, password: string): Uint8Array {
  const [plain, locked] = [join(folder, 'plain.pdf'), join(folder, 'locked.pdf')];
  writeFileSync(plain, bytes);
  execFileSync('qpdf', ['--encrypt', password, 'owner', '256', '--', plain, locked]);
  return readFileSync(locked);
}
