import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { appendEntry } from '../../../src/exporter/ledger/append.ts';
import { changeProtection, type ProtectionOptions } from '../../../src/exporter/ledger/protection.ts';
import type { ObjectLock } from '../../../src/verifier/archive/archive.ts';
import { type HoldRecord, readHoldLog } from '../../../src/verifier/records/hold-log.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { expectedOf } from '../../conformance/archive.ts';
import { LockingArchive } from '../../support/memory-locks.ts';
import { runRecord } from '../../support/records.ts';
import { ledgerEnd } from '../../support/signed-archive.ts';

const LOCK: ObjectLock = { mode: 'compliance', retain_until: '2030-01-01T00:00:00.000Z' };
const UNTIL = new Date('2033-01-01T00:00:00Z');

/** Creates an archive with two runs of three objects each. */
async function newArchive(lock: ObjectLock | null = LOCK): Promise<LockingArchive> {
  const locking = new LockingArchive(lock);
  for (const runId of ['a', 'b']) {
    const record = runRecord(runId, []);
    const bytes = toRecordBytes(record);
    for (const name of ['run.json', 'streams/s.zip', 'streams/s.json']) {
      const content = name === 'run.json' ? bytes : Buffer.from(name);
      await locking.archive.put(`runs/${runId}/${name}`, { bytes: content }, expectedOf(content));
    }
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const trust = { signingKey: null, publicKeys: [] };
    await appendEntry(locking.archive, { kind: 'run', record, sha256 }, await ledgerEnd(locking.archive), trust);
  }
  return locking;
}

const OF_RUN = ['ledger/00000001.json', 'runs/a/run.json', 'runs/a/streams/s.json', 'runs/a/streams/s.zip'];

function options(action: HoldRecord['action'], more: Partial<ProtectionOptions> = {}): ProtectionOptions {
  const common = { runId: 'a', action, reason: 'case 7', orderedBy: { user: 'u', host: 'h' }, mode: null };
  return { ...common, retainUntil: action === 'extend' ? UNTIL : null, ...more };
}

let seconds = 0;
function change({ archive }: LockingArchive, wanted: ProtectionOptions) {
  const now = () => new Date(Date.UTC(2027, 0, 1, 0, 0, seconds++));
  return changeProtection({ archive, now, signal: new AbortController().signal }, wanted);
}

const keysWith = ({ table }: LockingArchive, wanted: (key: string) => boolean) =>
  [...table.keys()].filter((key) => wanted(key) && !key.includes('/hold-log/')).sort();

describe('a hold', () => {
  test('is on every object of the run, its ledger entry and its records, and on nothing else', async () => {
    const locking = await newArchive();
    await change(locking, options('hold'));
    expect(keysWith(locking, (key) => locking.table.get(key)?.held === true)).toEqual(OF_RUN);
    const records = [...locking.table].filter(([key]) => key.includes('/hold-log/'));
    expect(records.map(([, { held }]) => held)).toEqual([true, true]);
  });

  test('leaves who, when, why, and how each object was before and is then', async () => {
    const locking = await newArchive();
    const { key } = await change(locking, options('hold'));
    const [stored] = await readHoldLog(locking.archive, 'a');
    expect(stored?.key).toBe(key);
    expect(stored?.record).toMatchObject({ action: 'hold', reason: 'case 7', ordered_by: { user: 'u', host: 'h' } });
    const sorted = (objects: { key: string }[] = []) => objects.toSorted((x, y) => (x.key < y.key ? -1 : 1));
    expect(sorted(stored?.record.objects)).toEqual(
      OF_RUN.map((name) => ({ key: name, version_id: null, lock: LOCK, legal_hold: false })),
    );
    expect(sorted(stored?.result?.objects)).toEqual(
      OF_RUN.map((name) => ({ key: name, lock: LOCK, legal_hold: true })),
    );
    expect(stored?.result?.record_sha256).toBe(stored?.sha256);
  });

  test('is taken away by a release, which leaves the lock', async () => {
    const locking = await newArchive();
    await change(locking, options('hold'));
    await change(locking, options('release'));
    expect([...locking.table.values()].filter(({ held }) => held === true)).toEqual([]);
    expect(locking.table.get('runs/a/run.json')?.lock).toEqual(LOCK);
  });
});

describe('an extension', () => {
  test('locks what is locked for less, in its own mode, and leaves what is locked for longer', async () => {
    const locking = await newArchive();
    const longer: ObjectLock = { mode: 'governance', retain_until: '2040-01-01T00:00:00.000Z' };
    locking.table.set('runs/a/streams/s.zip', { lock: longer, held: false });
    await change(locking, options('extend', { mode: 'governance' }));
    expect(locking.table.get('runs/a/streams/s.zip')?.lock).toEqual(longer);
    expect(locking.table.get('runs/a/run.json')?.lock).toEqual({ ...LOCK, retain_until: UNTIL.toISOString() });
    expect(locking.table.get('runs/b/run.json')?.lock).toEqual(LOCK);
  });

  test('takes the mode of the others for what has no lock', async () => {
    const locking = await newArchive();
    locking.table.set('runs/a/streams/s.zip', { lock: null, held: false });
    await change(locking, options('extend'));
    expect(locking.table.get('runs/a/streams/s.zip')?.lock?.valueOf()).toMatchObject({ mode: 'compliance' });
  });
});

const REFUSED: [string, ObjectLock | null, ProtectionOptions, string][] = [
  ['an extension that extends nothing', LOCK, options('extend', { retainUntil: new Date('2029-01-01') }), 'usage'],
  ['a release of what is not held', LOCK, options('release'), 'usage'],
  ['an extension of what has no lock, in no mode', null, options('extend'), 'config'],
];

test.each(REFUSED)('%s changes nothing and records nothing', async (_what, lock, wanted, code) => {
  const locking = await newArchive(lock);
  const before = new Map(locking.table);
  await expect(change(locking, wanted)).rejects.toMatchObject({ code });
  expect(locking.table).toEqual(before);
});

test('what the store does not show is not changed', async () => {
  const locking = await newArchive();
  locking.table.set('runs/a/run.json', { lock: 'hidden', held: false });
  await expect(change(locking, options('hold'))).rejects.toMatchObject({ code: 'store-refused' });
  expect(await readHoldLog(locking.archive, 'a')).toEqual([]);
});

test('what the store refuses to begin with is recorded as refused, and keeps nobody from another change', async () => {
  const locking = await newArchive();
  locking.onChange = () => {
    throw new EvidenceError('store-refused', '403');
  };
  await expect(change(locking, options('hold'))).rejects.toMatchObject({ code: 'store-refused' });
  locking.onChange = () => {};
  await change(locking, options('extend'));
  const records = await readHoldLog(locking.archive, 'a');
  expect(records.map(({ result }) => result?.outcome)).toEqual(['refused', 'completed']);
});

test('an archive that locks nothing is refused', async () => {
  const archive = openMemoryArchive();
  const context = { archive, now: () => new Date(0), signal: new AbortController().signal };
  await expect(changeProtection(context, options('hold'))).rejects.toMatchObject({ code: 'usage' });
});

/** Number of changes: one per object, one for the record before and one for the record after. */
const CHANGES = OF_RUN.length + 2;

describe.each(['hold', 'extend'] as const)('%s, interrupted', (action) => {
  test.each(Array.from({ length: CHANGES - 1 }, (_, at) => at))('before change %i, is completed', async (at) => {
    const locking = await newArchive();
    let changes = 0;
    locking.onChange = () => {
      changes += 1;
      if (changes > at) throw new Error('killed');
    };
    await expect(change(locking, options(action))).rejects.toThrow('killed');
    locking.onChange = () => {};
    await expect(change(locking, options(action, { reason: 'another' }))).rejects.toMatchObject({
      code: 'conflict',
      nextStep: expect.stringContaining('--reason "case 7"'),
    });
    expect((await change(locking, options(action))).resumed).toBe(true);
    const records = await readHoldLog(locking.archive, 'a');
    expect(records.map(({ result }) => result !== null)).toEqual([true]);
    const isChanged = (key: string) =>
      action === 'hold'
        ? locking.table.get(key)?.held === true
        : JSON.stringify(locking.table.get(key)).includes(UNTIL.toISOString());
    expect(keysWith(locking, isChanged)).toEqual(OF_RUN);
  });
});
