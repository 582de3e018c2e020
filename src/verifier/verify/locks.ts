import { inParallel } from '../../core/parallel.ts';
import type { Inspected, LockReader, ObjectLock, ReadableArchive } from '../archive/archive.ts';
import { runOf, type StoredLedgerEntry } from '../ledger/ledger.ts';
import type { StoredHoldRecord } from '../records/hold-log.ts';
import { runIdOf } from '../records/keys.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import type { RunCheck } from './run.ts';

/** Result of checking the locks of all objects stored under one. */
export interface LockReport {
  state: 'proved' | 'refuted' | 'unproved';
  reason?: string;
  /** Number of objects whose lock was read. */
  checked: number;
  /** End of the first lock to end. */
  first_end: string | null;
  /** Objects whose lock ends earlier than requested. */
  expiring: { key: string; retain_until: string | null }[];
  /** True if a minimum end was requested and not every lock is shown to last until then. */
  unmet: boolean;
  findings: ObjectFinding[];
}

export interface LockQuestion {
  archive: ReadableArchive;
  /** Keys of all objects in scope. */
  keys: readonly string[];
  checks: readonly RunCheck[];
  /** Keyed by run id. */
  holdLog: ReadonlyMap<string, readonly StoredHoldRecord[]>;
  entries: readonly StoredLedgerEntry[];
  now: Date;
  /** Time until which locks must last at least; null if any lock will do. */
  until: Date | null;
}

/** Expected protection of an object. */
interface Expectation {
  lock: ObjectLock | 'any' | 'none';
  held: boolean;
}

const AT_ONCE = 16;

/** Reason why locks are not judged if the archive supports none. */
const LOCKS_NOTHING = 'this kind of archive has no locks';
const WHERE_LOCKS_ARE = 'locks need an archive in S3, in a bucket with Object Lock';

/** Compares the locks of objects with those recorded when the objects were stored, held or extended. */
export async function verifyLocks(question: LockQuestion): Promise<LockReport> {
  const { archive, keys, until } = question;
  const expected = expectationsOf(question);
  const report: LockReport = { state: 'proved', checked: 0, first_end: null, expiring: [], unmet: false, findings: [] };
  const unproved = (reason: string): LockReport => ({ ...report, state: 'unproved', reason, unmet: until !== null });
  if (archive.locks === null) {
    const asked =
      until === null
        ? ''
        : `, so nothing in it is locked until ${until.toISOString()}, as requested: ${WHERE_LOCKS_ARE}`;
    return unproved(`${LOCKS_NOTHING}${asked}`);
  }
  if (expected.size === 0 && until === null) return unproved('no run records that it was stored under a lock');
  let hidden = 0;
  const { locks } = archive;
  await inParallel(keys, AT_ONCE, async (key) => {
    const found = await locks.inspect(key);
    if (found === null) return;
    report.checked += 1;
    const finding = await judge(locks, key, found, expected.get(key), question.now);
    const isHidden = until !== null && found.lock === 'hidden' && !found.legal_hold;
    if (finding === 'hidden' || isHidden) hidden += 1;
    if (finding !== null && finding !== 'hidden') report.findings.push(finding);
    const end = endOf(found);
    report.first_end = earlierOf(report.first_end, end);
    if (until !== null && endsBefore(found, until)) report.expiring.push({ key, retain_until: end });
  });
  report.findings.sort((a, b) => (a.key < b.key ? -1 : 1));
  report.expiring.sort((a, b) => (a.key < b.key ? -1 : 1));
  report.unmet = report.expiring.length > 0 || (until !== null && hidden > 0);
  if (report.findings.length > 0) return { ...report, state: 'refuted' };
  return hidden > 0 ? unproved(`this identity may not see the locks of ${hidden} objects`) : report;
}

function endOf({ lock }: Inspected): string | null {
  return lock === 'hidden' ? null : (lock?.retain_until ?? null);
}

function earlierOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return Date.parse(other) < Date.parse(one) ? other : one;
}

/** True if nothing that can be seen keeps an object until a time. */
function endsBefore(found: Inspected, until: Date): boolean {
  if (found.lock === 'hidden' || found.legal_hold) return false;
  const end = endOf(found);
  return end === null || Date.parse(end) < until.getTime();
}

async function judge(
  locks: LockReader,
  key: string,
  found: Inspected,
  expected: Expectation | undefined,
  now: Date,
): Promise<ObjectFinding | 'hidden' | null> {
  if (expected === undefined) return null;
  if (expected.held && !found.legal_hold) {
    const held = await locks.isHeld(key);
    if (held === null) return 'hidden';
    if (!held) return toObjectFinding('object/unlocked', key, 'is recorded as on legal hold, but is not');
  }
  const { lock } = expected;
  if (lock === 'none') return null;
  if (found.lock === 'hidden') return 'hidden';
  if (lock === 'any')
    return found.lock === null
      ? toObjectFinding('object/unlocked', key, 'is not locked, although its run was stored under locks')
      : null;
  // A lock that has expired was not removed.
  if (Date.parse(lock.retain_until) <= now.getTime()) return null;
  const isAsStrong =
    found.lock !== null &&
    Date.parse(found.lock.retain_until) >= Date.parse(lock.retain_until) &&
    (lock.mode === 'governance' || found.lock.mode === 'compliance');
  if (isAsStrong) return null;
  return toObjectFinding('object/unlocked', key, 'is not locked as recorded', {
    expected: describe(lock),
    actual: found.lock === null ? 'no lock' : describe(found.lock),
  });
}

function describe({ mode, retain_until }: ObjectLock): string {
  return `${mode} until ${retain_until}`;
}

/**
 * Returns the expected protection of each object. An export stores all its objects under the same protection, but not
 * every record can state its own.
 */
function expectationsOf({ keys, checks, holdLog, entries }: LockQuestion): Map<string, Expectation> {
  const expected = new Map<string, Expectation>();
  for (const { runId, record } of checks) {
    const bundles = record?.streams.map(({ bundle }) => bundle) ?? [];
    if (bundles.some(({ lock }) => lock !== undefined)) {
      const entry = entries.find((stored) => runOf(stored.entry)?.id === runId);
      const own = keys.filter((key) => runIdOf(key) === runId || key === entry?.key);
      for (const key of own) expected.set(key, { lock: 'any', held: false });
    }
    for (const { key, lock, legal_hold } of bundles)
      if (lock !== undefined || legal_hold) expected.set(key, { lock: lock ?? 'none', held: legal_hold === true });
    for (const stored of holdLog.get(runId) ?? [])
      for (const [key, expectation] of expectedAfter(stored, expected)) expected.set(key, expectation);
  }
  return expected;
}

/** Yields the expectations that a hold, a release or a longer lock changes. */
function* expectedAfter(
  { record, result }: StoredHoldRecord,
  expected: ReadonlyMap<string, Expectation>,
): Iterable<[key: string, Expectation]> {
  const { action, objects } = record;
  // An uncompleted change may have been applied to some objects, so an uncompleted release lowers the expectation.
  if (result === null ? action !== 'release' : result.outcome === 'refused') return;
  for (const { key } of objects) {
    const before = expected.get(key) ?? { lock: 'none', held: false };
    const after = result?.objects.find((object) => object.key === key)?.lock ?? null;
    if (action === 'extend') yield [key, { ...before, lock: after ?? before.lock }];
    else if (action === 'hold') yield [key, { ...before, held: true }];
    else if (expected.has(key)) yield [key, { ...before, held: false }];
  }
}
