import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { inParallel } from '../../core/parallel.ts';
import type { ObjectLock } from '../../verifier/archive/archive.ts';
import { findEntry } from '../../verifier/ledger/ledger.ts';
import {
  HOLD_RECORD,
  HOLD_RESULT,
  type HoldRecord,
  type HoldResult,
  type Protection,
  readHoldLog,
  type StoredHoldRecord,
} from '../../verifier/records/hold-log.ts';
import { holdRecordKey, holdResultKey, runPrefix } from '../../verifier/records/keys.ts';
import type { Archive, Locks } from '../archive/archive.ts';
import { lockAsRun, putRecord } from '../records/put-record.ts';

/** Change to the protection of a finalized run. */
export interface ProtectionOptions {
  runId: string;
  action: HoldRecord['action'];
  reason: string;
  orderedBy: HoldRecord['ordered_by'];
  /** New end of the locks for `extend`, in whole seconds. */
  retainUntil: Date | null;
  /** Mode for objects that `extend` finds without a lock; null for the mode of the run's other objects. */
  mode: ObjectLock['mode'] | null;
}

interface ProtectionContext {
  archive: Archive;
  now: () => Date;
  signal: AbortSignal;
}

export interface ProtectionChange {
  key: string;
  record: HoldRecord;
  result: HoldResult;
  /** True if an interrupted change was completed. */
  resumed: boolean;
}

type Ordered = Pick<StoredHoldRecord, 'key' | 'record' | 'sha256'>;

const AT_ONCE = 16;

/**
 * Changes the protection of every object of a run and brackets the change with two records: the order with the state
 * before, and the result with the state after. Calling it again with the same options completes an interrupted change.
 *
 * @throws EvidenceError `usage` if nothing can be changed or nothing is left to change; `conflict` while another change
 * is unfinished; `config`, `store-refused`, `archive`. Objects that were already changed stay changed.
 */
export async function changeProtection(
  context: ProtectionContext,
  options: ProtectionOptions,
): Promise<ProtectionChange> {
  const { archive } = context;
  const locks = requireLocks(archive);
  const open = (await readHoldLog(archive, options.runId)).filter(({ result }) => result === null);
  const other = open.find(({ record }) => !isSame(record, options));
  if (other !== undefined) throw unfinished(other);
  const ordered = open[0] ?? (await order(context, locks, options));
  const { key, record } = ordered;
  const mode = options.mode ?? record.objects.find(({ lock }) => lock !== null)?.lock?.mode ?? null;
  let changed = 0;
  const change = async (object: string) => {
    context.signal.throwIfAborted();
    await applyTo(locks, { ...options, mode }, object);
    changed += 1;
  };
  try {
    await lockAsRun(archive, key, context.now());
    await inParallel(
      record.objects.map((object) => object.key),
      AT_ONCE,
      change,
    );
  } catch (error) {
    // A writer that may write records but not change locks must not block later changes by others.
    const isIdle = changed === 0 && open.length === 0 && isEvidenceError(error, 'store-refused');
    if (isIdle) await conclude(context, locks, ordered, 'refused');
    throw error;
  }
  // The records of the change belong to the run and are protected too.
  await change(key);
  const result = await conclude(context, locks, ordered, 'completed');
  await change(holdResultKey(key));
  await lockAsRun(archive, holdResultKey(key), context.now());
  return { key, record, result, resumed: open.length > 0 };
}

/**
 * Returns the objects that a change would apply to, each with its present protection. Writes nothing.
 * @throws EvidenceError as `changeProtection` does if the change cannot be made.
 */
export async function foreseeProtection(archive: Archive, options: ProtectionOptions): Promise<HoldRecord['objects']> {
  const objects = await describeAll(requireLocks(archive), await listObjects(archive, options.runId));
  refuseIdle(options, objects);
  return objects;
}

/** Records the result of a change. */
async function conclude(
  { archive, now }: ProtectionContext,
  locks: Locks,
  { key, record, sha256 }: Ordered,
  outcome: HoldResult['outcome'],
): Promise<HoldResult> {
  const objects = await describeAll(locks, record.objects);
  const result: HoldResult = {
    format: FORMATS.holdResult,
    record_sha256: sha256,
    outcome,
    ended_at: now().toISOString(),
    objects: objects.map(({ key: name, lock, legal_hold }) => ({ key: name, lock, legal_hold })),
  };
  await putRecord(archive, holdResultKey(key), HOLD_RESULT, result);
  return result;
}

function requireLocks({ locks, url }: Archive): Locks {
  if (locks !== null) return locks;
  throw new EvidenceError('usage', `${url} does not lock objects, so runs cannot be held or locked for longer`, {
    nextStep: 'Use an archive in S3, in a bucket with Object Lock.',
  });
}

function isSame({ action, reason, retain_until }: HoldRecord, options: ProtectionOptions): boolean {
  return action === options.action && reason === options.reason && retain_until === toText(options.retainUntil);
}

function toText(moment: Date | null): string | null {
  return moment?.toISOString() ?? null;
}

function unfinished({ key, record }: StoredHoldRecord): EvidenceError {
  const { run_id, action, reason, ordered_at, ordered_by, retain_until } = record;
  const until = retain_until === null ? '' : ` --until ${retain_until}`;
  return new EvidenceError(
    'conflict',
    `the ${action} of run ${run_id} that ${ordered_by.user} ordered at ${ordered_at} was not completed (${key})`,
    { nextStep: `Complete it first: evidence ${action} ${run_id}${until} --reason ${JSON.stringify(reason)}` },
  );
}

/** Records the order before anything is changed. */
async function order({ archive, now }: ProtectionContext, locks: Locks, options: ProtectionOptions): Promise<Ordered> {
  const objects = await describeAll(locks, await listObjects(archive, options.runId));
  refuseIdle(options, objects);
  const record: HoldRecord = {
    format: FORMATS.hold,
    run_id: options.runId,
    action: options.action,
    reason: options.reason,
    ordered_by: options.orderedBy,
    ordered_at: now().toISOString(),
    retain_until: toText(options.retainUntil),
    objects,
  };
  const key = holdRecordKey(options.runId, record.ordered_at, options.action);
  const { sha256 } = await putRecord(archive, key, HOLD_RECORD, record);
  return { key, record, sha256 };
}

/** Lists every object of the run, and the ledger entry that attests it. */
async function listObjects(archive: Archive, runId: string): Promise<{ key: string }[]> {
  const objects: { key: string }[] = [];
  for await (const { key, irregular } of archive.list(runPrefix(runId)))
    if (irregular === undefined) objects.push({ key });
  const entry = await findEntry(archive, runId);
  if (entry !== null) objects.push({ key: entry.key });
  return objects;
}

/** Throws if the change would have no effect, or if it cannot be made for all objects. */
function refuseIdle({ runId, action, retainUntil, mode }: ProtectionOptions, objects: readonly Protection[]): void {
  if (action === 'release' && objects.every(({ legal_hold }) => !legal_hold))
    throw new EvidenceError('usage', `run ${runId} is not on legal hold; nothing was changed`);
  if (retainUntil === null) return;
  const ends = objects.map(({ lock }) => (lock === null ? 0 : Date.parse(lock.retain_until)));
  const earliest = Math.min(...ends);
  if (earliest >= retainUntil.getTime())
    throw new EvidenceError(
      'usage',
      `every object of run ${runId} is locked until ${new Date(earliest).toISOString()} or longer, and a lock is never shortened; nothing was changed`,
    );
  if (mode === null && objects.every(({ lock }) => lock === null))
    throw new EvidenceError('config', `run ${runId} is not locked, and no lock mode is configured`, {
      nextStep: 'Set archive.retention in evidence.yaml.',
    });
}

async function applyTo(locks: Locks, { action, retainUntil, mode }: ProtectionOptions, key: string): Promise<void> {
  if (retainUntil === null) await locks.hold(key, action === 'hold');
  // `refuseIdle` has already refused a run without locks and without a mode.
  else await locks.extend(key, retainUntil, mode ?? 'governance');
}

/** Returns the protection of each object, in the given order. */
async function describeAll(locks: Locks, objects: readonly { key: string }[]): Promise<HoldRecord['objects']> {
  const described: HoldRecord['objects'] = [];
  await inParallel([...objects.entries()], AT_ONCE, async ([index, { key }]) => {
    described[index] = await describe(locks, key);
  });
  return described;
}

async function describe(locks: Locks, key: string): Promise<HoldRecord['objects'][number]> {
  const found = await locks.inspect(key);
  if (found === null)
    throw new EvidenceError('archive', `${key} is no longer in the archive`, {
      nextStep: 'Check the archive: evidence verify.',
    });
  const held = found.legal_hold || (await locks.isHeld(key));
  if (found.lock === 'hidden' || held === null)
    throw new EvidenceError('store-refused', `the store does not show the protection of ${key}`, {
      nextStep: 'Give this identity s3:GetObjectRetention and s3:GetObjectLegalHold, then run the same command again.',
    });
  return { key, version_id: found.version_id ?? null, lock: found.lock, legal_hold: held };
}
