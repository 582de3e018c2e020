import { describe, expect, test } from 'vitest';
import { asPart } from '../../../src/verifier/chain/package.ts';
import {
  chainOf,
  examineReading,
  packageOf,
  readPackage,
  type SentEntry,
  type SentPackage,
  STREAM,
} from '../../support/chain.ts';

const entries = chainOf(5);
const sent = packageOf(entries);
const text = JSON.stringify(sent);

/** Returns the package with another third entry. */
const withThird = (third: unknown) => JSON.stringify({ ...sent, entries: entries.with(2, third as SentEntry) });
const third = entries[2] as SentEntry;

const DRIFT: [string, unknown, RegExp][] = [
  ['no sequence', { ...third, sequence: undefined }, /"sequence".*whole number from 1/],
  ['sequence 0', { ...third, sequence: 0 }, /"sequence".*whole number from 1/],
  ['sequence -1', { ...third, sequence: -1 }, /"sequence".*whole number from 1/],
  ['half a sequence', { ...third, sequence: 2.5 }, /"sequence".*whole number from 1/],
  ['a sequence as text', { ...third, sequence: '3' }, /"sequence".*whole number from 1/],
  ['a sequence beyond 2^53', { ...third, sequence: 2 ** 53 }, /"sequence".*whole number from 1/],
  ['no stream', { ...third, stream_id: undefined }, /"stream_id".*a string/],
  ['no id', { ...third, entry_id: { a: 1 } }, /"entry_id".*an id/],
  ['no timestamp', { ...third, timestamp: null }, /"timestamp".*a string/],
  ['no hash', { ...third, hash: undefined }, /"hash".*64 lower-case hex/],
  ['a hash in capitals', { ...third, hash: third.hash.toUpperCase() }, /"hash".*64 lower-case hex/],
  ['a hash with a line feed', { ...third, hash: `${third.hash}\n` }, /"hash".*64 lower-case hex/],
  ['a short link', { ...third, prev_hash: 'ab' }, /"prev_hash".*64 lower-case hex/],
];

describe('an entry of another shape is contract drift, and the stream incomplete', () => {
  test.each(DRIFT)('%s', (_words, entry, message) => {
    const reading = readPackage(withThird(entry));
    expect(reading).toMatchObject({
      facts: null,
      walk: { entries: 2 },
      defect: { code: 'contract/drift', message: expect.stringMatching(message) },
    });
    expect(examineReading(reading).status).toBe('incomplete');
  });
});

const HEADS: [string, Partial<SentPackage>, string][] = [
  ['another format', { format: 'evidence-package/2' }, 'contract/drift'],
  ['a count as text', { entry_count: '5' as unknown as number }, 'contract/drift'],
  ['a count below zero', { entry_count: -1 }, 'contract/drift'],
  ['no stream id', { stream: {} as SentPackage['stream'] }, 'contract/drift'],
  ['another stream', { stream: { stream_id: 'other' } }, 'package/foreign'],
  ['another package', { package_id: 'pkg-2' }, 'package/foreign'],
];

describe('a head that is not the one', () => {
  test.each(HEADS)('%s', (_words, head, code) => {
    const reading = readPackage({ ...sent, ...head }, { streamId: STREAM, packageId: 'pkg-1' });
    expect(reading.defect?.code).toBe(code);
    expect(examineReading(reading).status).toBe('incomplete');
  });

  test('facts after the entries count as well', () => {
    const { package_id, entries: list, ...rest } = sent;
    const behind = JSON.stringify({ ...rest, entries: list, package_id: 'pkg-2' });
    expect(readPackage(behind, { packageId: 'pkg-1' }).defect?.code).toBe('package/foreign');
    expect(readPackage(behind, { packageId: 'pkg-2' })).toMatchObject({ defect: null, facts: { packageId: 'pkg-2' } });
    expect(package_id).toBe('pkg-1');
  });
});

describe('unreadable packages', () => {
  const cases: [string, string, code?: string][] = [
    ['nothing', ''],
    ['HTML', '<!doctype html><title>Sign in</title>'],
    ['no entries', JSON.stringify({ ...sent, entries: undefined }), 'package/no-entries'],
    ['entries that are an object', JSON.stringify({ ...sent, entries: {} }), 'package/no-entries'],
    ['two lists of entries', text.replace(/}$/, ',"entries":[]}')],
    ['a head with a name twice', text.replace('{', '{"package_id":"pkg-0",')],
    ['an entry that is no object', JSON.stringify({ ...sent, entries: [1] })],
    ['something after the end', `${text}{}`],
  ];
  test.each(cases)('%s', (_words, bytes, code = 'package/unreadable') => {
    const reading = readPackage(bytes, { streamId: STREAM });
    expect(reading).toMatchObject({ facts: null, defect: { code, stream_id: STREAM } });
    expect(examineReading(reading).status).toBe('incomplete');
  });

  test('cut off at every offset, it is never whole', () => {
    const bytes = Buffer.from(text);
    for (let end = 0; end < bytes.length; end++) {
      const reading = readPackage(bytes.subarray(0, end).toString('latin1'));
      expect(reading.defect?.code, `at ${end}`).toBe('package/unreadable');
      expect(reading.facts).toBeNull();
    }
  });

  test('what was found before the cut stands', () => {
    const edited = JSON.stringify({ ...sent, entries: entries.with(1, { ...(entries[1] as SentEntry), actor: 'm' }) });
    const examination = examineReading(readPackage(edited.slice(0, -50)));
    expect(examination).toMatchObject({
      status: 'refuted',
      claims: { content: { state: 'refuted' }, order: { state: 'unproved' } },
    });
  });
});

describe('entries that can be read in two ways', () => {
  const cases: [string, (entry: string) => string, RegExp][] = [
    ['a member twice', (entry) => entry.replace('{', '{"actor":"m",'), /member name occurs twice/],
    ['a member twice, once escaped', (entry) => entry.replace('{', '{"\\u0061ctor":"m",'), /member name occurs twice/],
    [
      'a member twice further in',
      (entry) => entry.replace('"amount":', '"amount":0,"amount":'),
      /member name occurs twice/,
    ],
    ['a lone surrogate', (entry) => entry.replace('"actor":"', '"actor":"\\ud800'), /lone surrogate/],
  ];
  test.each(cases)('%s', (_words, edit, message) => {
    const line = JSON.stringify(third);
    const reading = readPackage(text.replace(line, edit(line)));
    expect(reading.walk.findings.list()).toMatchObject([
      { code: 'content/ambiguous-json', severity: 'error', sequence: 3, message: expect.stringMatching(message) },
    ]);
    expect(reading.walk.contentComputed).toBe(4);
    expect(examineReading(reading, ['order'])).toMatchObject({
      status: 'refuted',
      claims: { order: { state: 'proved' } },
    });
  });
});

test('without an expectation the stream is the one that the head names, or else the first entry', () => {
  expect(readPackage(sent).walk.streamId).toBe(STREAM);
  const { entries: list, stream: _stream, ...rest } = sent;
  const headless = JSON.stringify({ entries: list, ...rest, stream: { stream_id: 'other' } });
  expect(readPackage(headless)).toMatchObject({ walk: { streamId: STREAM }, defect: { code: 'package/foreign' } });
  expect(readPackage(packageOf([])).walk.streamId).toBe(STREAM);
});

test('a part keeps what was found, and nothing in it is the word of the package', () => {
  const part = asPart(readPackage(sent), 'the connection broke');
  expect(part).toMatchObject({
    facts: null,
    walk: { entries: 5 },
    defect: { code: 'package/unreadable', message: expect.stringContaining('the connection broke') },
  });
});

test('tokens of checkpoints are bytes, and absent ones null', () => {
  const checkpoint = { checkpoint_id: 'c', stream_id: STREAM, sequence: 2, hash: third.prev_hash, created_at: 'now' };
  const anchor = { status: 'anchored', tsa_url: null, gen_time: null, token: 'AAEC' };
  const pending = { status: 'pending', tsa_url: null, gen_time: null, token: null };
  const { facts } = readPackage({
    ...sent,
    checkpoints: [
      { ...checkpoint, anchor },
      { ...checkpoint, anchor: pending },
    ],
  });
  expect(facts?.checkpoints).toEqual([
    { streamId: third.stream_id, sequence: 2, digest: third.prev_hash, token: Buffer.from([0, 1, 2]) },
    { streamId: third.stream_id, sequence: 2, digest: third.prev_hash, token: null },
  ]);
});
