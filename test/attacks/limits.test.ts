import { createWriteStream, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toRecordBytes } from '../../src/verifier/records/record-bytes.ts';
import { chainOf, entryAfter, packageOf, type SentEntry } from '../support/chain.ts';
import { COUNTED, costIn } from '../support/cost.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';
import { runRecord } from '../support/records.ts';
import { someRows } from '../support/some-rows.ts';

const MB = 2 ** 20;
const MOST_MEMORY = 350e6;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'limits-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PLACE = '"@"';

/** Puts a value into an entry of a package of three entries. */
const inEntry = (value: () => Iterable<string>) => () => around(chainWith({ note: '@' }), value);
const inHead = (value: () => Iterable<string>) => () =>
  around(JSON.stringify(packageOf(chainOf(3), { note: '@' })), value);

function chainWith(metadata: unknown): string {
  const [first, , third] = chainOf(3) as [SentEntry, SentEntry, SentEntry];
  return JSON.stringify(packageOf([first, entryAfter(first, { metadata }), third]));
}

function* around(text: string, value: () => Iterable<string>): Iterable<string> {
  const [before = '', behind = ''] = text.split(PLACE);
  yield before;
  yield* value();
  yield behind;
}

function* list(item: string, bytes: number): Iterable<string> {
  yield '[';
  const piece = `${item},`.repeat(10_000);
  for (let written = 0; written < bytes; written += piece.length) yield piece;
  yield `${item}]`;
}

function* text(sign: string, bytes: number): Iterable<string> {
  yield '"';
  const piece = sign.repeat(100_000);
  for (let written = 0; written < bytes; written += piece.length * Buffer.byteLength(sign)) yield piece;
  yield '"';
}

/** Skips every second sequence number. */
function withHoles(count: number, order: (entries: SentEntry[]) => SentEntry[]): Iterable<string> {
  const entries: SentEntry[] = [];
  for (let index = 0; index < count; index++)
    entries.push({ ...entryAfter(entries.at(-1) ?? null), sequence: 2 * index + 1 });
  return [JSON.stringify(packageOf(order(entries)))];
}

/** Shuffles entries the same way each time: by digest, which is independent of their order. */
const shuffled = (entries: SentEntry[]) => entries.toSorted((a, b) => (a.hash < b.hash ? -1 : 1));

/** Number of holes that took minutes before the fix. */
const [HOLES = 0] = someRows([20_000, 60_000], () => 'holes').slice(-1);

const TOO_MANY = /holds more than 250000 values/;
const TOO_LARGE = /has more than 16777216 bytes/;

type Row = [words: string, write: () => Iterable<string>, exit: number, message: RegExp, seconds: number];

const ROWS: Row[] = [
  ['62 MB of objects in an entry', inEntry(() => list('[{}]', 62 * MB)), 3, TOO_MANY, 10],
  ['56 MB of arrays in an entry', inEntry(() => list('[]', 56 * MB)), 3, TOO_MANY, 10],
  ['62 MB of text in an entry', inEntry(() => text('a', 62 * MB)), 3, TOO_LARGE, 10],
  ['62 MB of objects beside the entries', inHead(() => list('[{}]', 62 * MB)), 3, TOO_MANY, 10],
  ['62 MB of text beside the entries', inHead(() => text('a', 62 * MB)), 3, TOO_LARGE, 10],
  ['as many objects as an entry may hold', inEntry(() => list('[{}]', 350_000)), 1, /digest of entry 2 is not/, 10],
  ['as much text as an entry may hold', inEntry(() => text('日', 15 * MB)), 1, /digest of entry 2 is not/, 15],
  [
    'entries with holes, the last first',
    () => withHoles(HOLES, (all) => all.toReversed()),
    1,
    /arrives after/,
    HOLES / 4000,
  ],
  ['entries with holes, shuffled', () => withHoles(HOLES, shuffled), 1, /arrives after/, HOLES / 4000],
];

test.each(someRows(ROWS, ([words, , exit, message]) => `${exit} ${message} ${/beside/.test(words)}`))(
  '%s',
  async (_words, write, exit, message, seconds) => {
    const file = join(folder, 'evidence.json');
    await pipeline(Readable.from(write()), createWriteStream(file));
    const { code, stdout, stderr } = await nodeToEnd(EVIDENCE, ['verify', file, '--json', '--quiet'], {
      cwd: folder,
      nodeFlags: COUNTED,
    });
    expect(code).toBe(exit);
    const messages = JSON.parse(stdout).streams.flatMap(({ findings }: { findings: { message: string }[] }) =>
      findings.map((finding) => finding.message),
    );
    expect(messages.some((found: string) => message.test(found))).toBe(true);
    const cost = costIn(stderr);
    expect(cost.memory).toBeLessThan(MOST_MEMORY);
    // CPU time: each of these packages once took minutes.
    expect(cost.seconds).toBeLessThan(seconds);
  },
);

/** Lists streams that were left out, with this many bytes in total. */
function leftOut(bytes: number) {
  const pattern = 'x'.repeat(120);
  return Array.from({ length: Math.floor(bytes / 200) }, (_, index) => ({ stream_id: `s${index}`, pattern }));
}

test.each([
  ['with 20 MB of streams left out', { excluded: leftOut(20 * MB) }, /was not listed/],
  [
    'with a stream of 9 MB',
    { excluded: [{ stream_id: 's', pattern: 'x'.repeat(9 * MB) }] },
    /a (row|line) of more than/,
  ],
  [
    'with 17 MB beside its lists',
    { warnings: leftOut(30 * MB).map(({ pattern }) => ({ code: 'replaces' as const, message: pattern })) },
    /more than 16777216/,
  ],
])('a run record %s', async (_words, more, message) => {
  const archive = mkdtempSync(join(folder, 'archive-'));
  const record = runRecord('R', [], more);
  mkdirSync(join(archive, 'runs/R'), { recursive: true });
  writeFileSync(join(archive, 'runs/R/run.json'), toRecordBytes(record));
  const { code, stdout, stderr } = await nodeToEnd(EVIDENCE, ['verify', archive, '--quiet'], {
    cwd: folder,
    nodeFlags: COUNTED,
  });
  expect(stdout, `${code} ${stderr.slice(0, 3000)}`).toMatch(message);
  expect(code).toBe(1);
  expect(costIn(stderr).memory).toBeLessThan(MOST_MEMORY);
});
