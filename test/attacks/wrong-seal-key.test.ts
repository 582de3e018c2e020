import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chainOf, SEAL_KEY, type SentEntry } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';

let service: FalseService;
let key: KeyFiles;
const at = (name: string) => join(service.directory, name);

beforeEach(async () => {
  service = await startFalseService();
  key = await makeKey(service.directory, 'signing.pem', 'ed25519');
  const verify = { require: ['order', 'content', 'seal'], seal_keys: { k1: 'k1' } };
  writeFileSync(at('evidence.yaml'), JSON.stringify({ sign: { key_file: 'signing.pem' }, verify }));
});
afterEach(() => service.close());

/** Returns the exit code for an auditor without a seal key, or for the operator with one. */
async function verified(...words: string[]): Promise<number> {
  const nowhere = { cwd: join(service.directory, '..') };
  const all = ['verify', at('evidence-archive'), '--public-key', key.publicFile, ...words];
  return (await evidence(all, nowhere)).code;
}

const OPERATOR = () => ['--seal-key', `k1=${at('k1')}`];
const PERIOD = { period: '2026-10' };

/** Exports a run that refutes seals, and a revision that proves them. */
async function exportTwice(first: SentEntry[], firstKey: string): Promise<void> {
  service.streams.set('s', { entries: first });
  writeFileSync(at('k1'), firstKey);
  expect((await service.export(PERIOD)).code).toBe(1);
  expect(await verified()).toBe(1);
  service.streams.set('s', { entries: chainOf(3, { stream_id: 's' }) });
  writeFileSync(at('k1'), SEAL_KEY);
  expect((await service.export({ ...PERIOD, revise: true })).code).toBe(0);
}

test('a run with a wrong seal key refutes the archive for nobody once a signed revision proves the same seals', async () => {
  await exportTwice(chainOf(3, { stream_id: 's' }), 'a wrong key');
  expect([await verified(...OPERATOR()), await verified()]).toEqual([0, 0]);
  expect(await verified('--without', 'seal')).toBe(0);
  // The finding stays open without the key that vouches for the revision, or if the reader requires seals.
  expect((await evidence(['verify', at('evidence-archive')], { cwd: join(service.directory, '..') })).code).toBe(1);
  expect(await verified('--require', 'order,content,seal')).toBe(1);
});

test('seals that were wrong are not withdrawn by a revision with others', async () => {
  const entries = chainOf(3, { stream_id: 's' }).map((entry) => ({ ...entry, seal: 'f'.repeat(64) }));
  await exportTwice(entries, SEAL_KEY);
  expect([await verified(...OPERATOR()), await verified()]).toEqual([1, 1]);
});
