import { describe, expect, test } from 'vitest';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import type { ObjectLock } from '../../../src/verifier/archive/archive.ts';
import type { HoldRecord, HoldResult, StoredHoldRecord } from '../../../src/verifier/records/hold-log.ts';
import { type LockQuestion, verifyLocks } from '../../../src/verifier/verify/locks.ts';
import type { RunCheck } from '../../../src/verifier/verify/run.ts';
import { LockingArchive, type Shown } from '../../support/memory-locks.ts';
import { DIGEST, runRecord, runStream } from '../../support/records.ts';

const NOW = new Date('2027-01-01T00:00:00Z');
const lock = (mode: ObjectLock['mode'], year: number): ObjectLock => ({
  mode,
  retain_until: `${year}-01-01T00:00:00.000Z`,
});
const LOCK = lock('governance', 2033);
const BUNDLE = 'runs/2026-10/streams/s.zip';
const RECORD = 'runs/2026-10/run.json';

function runCheck(recorded: ObjectLock | undefined): RunCheck {
  const stream = runStream('s');
  const bundle = { ...stream.bundle, ...(recorded === undefined ? {} : { lock: recorded }) };
  const record = runRecord('2026-10', [{ ...stream, bundle }]);
  return { runId: '2026-10', record } as unknown as RunCheck;
}

function holdRecord(
  action: HoldRecord['action'],
  until: number | null,
  outcome: HoldResult['outcome'] | 'open' = 'completed',
): StoredHoldRecord {
  const retain_until = until === null ? null : `${until}-01-01T00:00:00.000Z`;
  const object = {
    key: BUNDLE,
    lock: until === null ? LOCK : lock('governance', until),
    legal_hold: action === 'hold',
  };
  const record = { action, retain_until, objects: [{ ...object, version_id: null }] } as unknown as HoldRecord;
  const done = { format: 'evidence-hold-result/7' as const, record_sha256: DIGEST, ended_at: 'then' };
  return {
    key: 'k',
    record,
    sha256: DIGEST,
    result: outcome === 'open' ? null : { ...done, outcome, objects: [object] },
  };
}

interface Case {
  recorded?: ObjectLock | undefined;
  holdLog?: StoredHoldRecord[];
  bundle?: Partial<Shown>;
  record?: Partial<Shown>;
  until?: Date;
}

async function verify({ holdLog: done = [], bundle = {}, record = {}, until, ...more }: Case) {
  const recorded = 'recorded' in more ? more.recorded : LOCK;
  const locking = new LockingArchive(null);
  locking.table.set(BUNDLE, { lock: recorded ?? null, held: false, ...bundle });
  locking.table.set(RECORD, { lock: LOCK, held: false, ...record });
  const question: LockQuestion = {
    archive: locking.archive,
    keys: [BUNDLE, RECORD],
    checks: [runCheck(recorded)],
    holdLog: new Map([['2026-10', done]]),
    entries: [],
    now: NOW,
    until: until ?? null,
  };
  return verifyLocks(question);
}

const SOUND: [string, Case][] = [
  ['as it was stored', {}],
  ['locked for longer', { bundle: { lock: lock('governance', 2040) } }],
  ['locked more strongly', { bundle: { lock: lock('compliance', 2033) } }],
  ['ended by itself', { recorded: lock('compliance', 2020), bundle: { lock: null } }],
  ['on hold, as recorded', { holdLog: [holdRecord('hold', null)], bundle: { held: true } }],
  ['released, as recorded', { holdLog: [holdRecord('hold', null), holdRecord('release', null)] }],
  ['released, as was begun', { holdLog: [holdRecord('hold', null), holdRecord('release', null, 'open')] }],
  ['not on hold, as that was refused', { holdLog: [holdRecord('hold', null, 'refused')] }],
  ['not yet on hold', { holdLog: [holdRecord('hold', null, 'open')] }],
  ['extended, as recorded', { holdLog: [holdRecord('extend', 2040)], bundle: { lock: lock('governance', 2040) } }],
];
test.each(SOUND)('a lock is proved that is %s', async (_what, found) => {
  expect(await verify(found)).toMatchObject({ state: 'proved', checked: 2, findings: [] });
});

const UNSOUND: [string, Case, string][] = [
  ['taken away', { bundle: { lock: null } }, BUNDLE],
  ['shortened', { bundle: { lock: lock('governance', 2032) } }, BUNDLE],
  ['weakened', { recorded: lock('compliance', 2033), bundle: { lock: lock('governance', 2033) } }, BUNDLE],
  ['taken from an object whose record names none', { record: { lock: null } }, RECORD],
  ['shortened after it was extended', { holdLog: [holdRecord('extend', 2040)] }, BUNDLE],
  [
    'not on hold, whose release was refused',
    { holdLog: [holdRecord('hold', null), holdRecord('release', null, 'refused')] },
    BUNDLE,
  ],
  ['no longer on hold', { holdLog: [holdRecord('hold', null)] }, BUNDLE],
  ['put on hold again after a release', { holdLog: [holdRecord('release', null), holdRecord('hold', null)] }, BUNDLE],
];
test.each(UNSOUND)('a lock is refuted that was %s', async (_what, found, key) => {
  const report = await verify(found);
  expect([report.state, report.findings.map((finding) => [finding.code, finding.key])]).toEqual([
    'refuted',
    [['object/unlocked', key]],
  ]);
});

const UNKNOWN: [string, Case, RegExp][] = [
  ['this identity may not see', { bundle: { lock: 'hidden' } }, /may not see the locks of 1 /],
  ['is a hold that it may not see', { holdLog: [holdRecord('hold', null)], bundle: { held: 'hidden' } }, /may not see/],
];
test.each(UNKNOWN)('a lock is unproved that %s', async (_what, found, reason) => {
  expect(await verify(found)).toMatchObject({ state: 'unproved', reason: expect.stringMatching(reason), findings: [] });
});

test('nothing is proved where no run records a lock', async () => {
  expect(await verify({ recorded: undefined })).toMatchObject({ state: 'unproved', checked: 0 });
});

describe('locks that were asked for and are not shown', () => {
  const until = new Date('2030-01-01T00:00:00Z');
  test('are said once of an archive that locks nothing', async () => {
    const question: LockQuestion = {
      archive: openMemoryArchive(),
      keys: [BUNDLE, RECORD],
      checks: [],
      holdLog: new Map(),
      entries: [],
      now: NOW,
      until: null,
    };
    const reason = 'this kind of archive has no locks';
    const none = { state: 'unproved', checked: 0, expiring: [], findings: [] };
    expect(await verifyLocks(question)).toMatchObject({ ...none, unmet: false, reason });
    expect(await verifyLocks({ ...question, until })).toMatchObject({
      ...none,
      unmet: true,
      reason: `${reason}, so nothing in it is locked until 2030-01-01T00:00:00.000Z, as requested: locks need an archive in S3, in a bucket with Object Lock`,
    });
  });

  test.each<[what: string, found: Case, unmet: boolean, state: string]>([
    ['all last', {}, false, 'proved'],
    ['one does not', { record: { lock: lock('governance', 2028) } }, true, 'proved'],
    ['one is not to be seen', { recorded: undefined, bundle: { lock: 'hidden' } }, true, 'unproved'],
  ])('%s', async (_what, found, unmet, state) => {
    expect(await verify({ ...found, until })).toMatchObject({ unmet, state });
  });
});

test('what ends sooner than is asked for is named, with when it ends; a hold keeps it', async () => {
  const until = new Date('2034-01-01T00:00:00Z');
  const bundle = { lock: lock('governance', 2035) };
  const { expiring, first_end, state } = await verify({ until, bundle });
  expect(expiring).toEqual([{ key: RECORD, retain_until: LOCK.retain_until }]);
  expect([first_end, state]).toEqual([LOCK.retain_until, 'proved']);
  expect((await verify({ until, bundle, record: { held: true } })).expiring).toEqual([]);
});
