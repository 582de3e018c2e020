import { expect, test } from 'vitest';
import { PackageReader } from '../../../src/verifier/chain/package.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, entryAfter, KEYS, packageOf, readPackage, type SentEntry, STREAM } from '../../support/chain.ts';
import { readInRanges } from '../../support/ranges.ts';

const happened = (second: number) => new Date(Date.UTC(2023, 6, 10, 0, 0, second)).toISOString();

function chainThatHappened(length: number): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let at = 1; at <= length; at++)
    entries.push(entryAfter(entries.at(-1) ?? null, { occurred_at: happened(length - at) }));
  return entries;
}

const ENTRIES = chainThatHappened(6);
const BOTH = { first: happened(5), last: happened(0) };

test.each<[words: string, entries: SentEntry[], occurred: object]>([
  ['an intact chain', ENTRIES, BOTH],
  ['entries in another order', [...ENTRIES.slice(3), ...ENTRIES.slice(0, 3)], BOTH],
  ['an edited entry at its end', [...ENTRIES.slice(0, 5), { ...(ENTRIES[5] as SentEntry), actor: 'x' }], BOTH],
  ['a last entry that does not say it', [...ENTRIES, entryAfter(ENTRIES[5] as SentEntry)], { ...BOTH, last: null }],
  ['no entry', [], { first: null, last: null }],
])('when the first and the last entry happened: %s', (_words, entries, occurred) => {
  const bytes = Buffer.from(JSON.stringify(packageOf(entries)));
  expect(readPackage(bytes.toString()).walk.occurred).toEqual(occurred);
  const reader = new PackageReader(defaultContract, KEYS, { streamId: STREAM });
  readInRanges(reader, bytes, [bytes.length / 3, (2 * bytes.length) / 3].map(Math.floor));
  expect(reader.finish().walk.occurred).toEqual(occurred);
});

test('in bytes that come one after the other', () => {
  const text = JSON.stringify(packageOf(ENTRIES));
  const cuts = Array.from({ length: text.length - 1 }, (_, at) => at + 1);
  expect(readPackage(text, { cuts }).walk.occurred).toEqual(BOTH);
});

test('a finding about an entry says who did what, and when; one about several does not', () => {
  const chain = chainOf(9);
  const edit = (at: number) => Object.assign(chain[at] as SentEntry, { resource_id: 'other' });
  for (const at of [2, 5, 6]) edit(at);
  const found = readPackage(packageOf(chain)).walk.findings.list();
  const [one, several] = found.filter(({ code }) => code === 'content/mismatch');
  expect(one).toMatchObject({
    sequence: 3,
    entry_id: 'e-3',
    recorded_at: chain[2]?.timestamp,
    actor: chain[2]?.['actor'],
    action: 'payment.created',
  });
  expect(Object.keys(several ?? {})).toEqual(['code', 'severity', 'stream_id', 'message', 'from', 'to']);
});
