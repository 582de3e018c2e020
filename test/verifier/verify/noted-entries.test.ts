import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PackageReader } from '../../../src/verifier/chain/package.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { NotedEntries } from '../../../src/verifier/verify/noted-entries.ts';
import { chainOf, packageOf, STREAM } from '../../support/chain.ts';

const folder = mkdtempSync(join(tmpdir(), 'noted-'));
const entries = chainOf(1200);

function noted(wanted: number[], text: string): NotedEntries {
  const notes = new NotedEntries(new Set(wanted), () => [], join(folder, `${wanted.length}-${text.length}`));
  using reader = new PackageReader(defaultContract, new Map(), {
    streamId: STREAM,
    onEntry: (entry) => notes.onEntry(entry),
    onSent: (sent) => notes.onSent(sent),
  });
  for (let at = 0; at < text.length; at += 50_000) reader.push(Buffer.from(text.slice(at, at + 50_000)));
  reader.finish();
  return notes;
}

test('entries that are wanted are found as they were sent, and no others', () => {
  using notes = noted([1, 2, 700, 1200, 5000], JSON.stringify(packageOf(entries)));
  for (const sequence of [1, 2, 700, 1200]) {
    const found = notes.find(sequence);
    const sent = entries[sequence - 1];
    expect(found?.digest).toBe(sent?.hash);
    expect(JSON.parse(Buffer.from(found?.bytes ?? []).toString())).toEqual(sent);
  }
  expect([notes.find(3), notes.find(5000)]).toEqual([null, null]);
});

test('an entry that can be read in two ways has a digest and no content', () => {
  const text = JSON.stringify(packageOf(entries.slice(0, 3)));
  const twice = text.replace('"actor":"actor-2"', '"actor":"nobody","actor":"actor-2"');
  using notes = noted([2], twice);
  expect(notes.find(2)).toEqual({ digest: entries[1]?.hash, bytes: null });
});

test('a stream that is read again is noted anew', () => {
  using notes = noted([1], JSON.stringify(packageOf(entries.slice(0, 1))));
  notes.restart();
  expect(notes.find(1)).toBe(null);
});
