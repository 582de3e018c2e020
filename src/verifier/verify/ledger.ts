import { sha256 } from '../../core/digest.ts';
import type { Archive } from '../archive/archive.ts';
import { readAcceptance } from '../ledger/acceptance.ts';
import {
  deriveEntry,
  readEntry,
  runOf,
  type StoredLedgerEntry,
  type Subject,
  withSignaturesOf,
} from '../ledger/ledger.ts';
import { isLedgerKey, ledgerKey, runRecordKey } from '../records/keys.ts';
import type { Acceptance } from '../records/record.ts';
import { toRecordBytes } from '../records/record-bytes.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import type { RunCheck } from './run.ts';
import { readObject } from './stored.ts';

/** The ledger as it was read. */
export interface Ledger {
  entries: StoredLedgerEntry[];
  /** By key; an acceptance that cannot be read is a finding, and not in here. */
  acceptances: Map<string, Extract<Subject, { kind: 'acceptance' }>>;
  /** The objects that it accounts for. */
  keys: string[];
  findings: ObjectFinding[];
}

/** Whether a run is to be verified. */
export type InScope = (runId: string) => boolean;

export async function readLedger(archive: Archive, keys: ReadonlySet<string>): Promise<Ledger> {
  const entryKeys = [...keys].filter(isLedgerKey).sort();
  const ledger: Ledger = { entries: [], acceptances: new Map(), keys: [...entryKeys], findings: [] };
  for (const [index, key] of entryKeys.entries()) {
    const expected = ledgerKey(index + 1);
    if (key !== expected && ledger.findings.every(({ code }) => code !== 'ledger/gap'))
      ledger.findings.push(toObjectFinding('ledger/gap', expected, 'is missing: the ledger goes on behind it'));
    await readObject(key, ledger.findings, async () => {
      const stored = await readEntry(archive, key);
      ledger.entries.push(stored);
      if ('acceptance_key' in stored.entry) await readAccepted(archive, keys, stored.entry.acceptance_key, ledger);
    });
  }
  return ledger;
}

async function readAccepted(archive: Archive, keys: ReadonlySet<string>, key: string, ledger: Ledger): Promise<void> {
  ledger.keys.push(key);
  if (!keys.has(key)) {
    ledger.findings.push(toObjectFinding('object/missing', key, 'is recorded by the ledger, but it is not there'));
    return;
  }
  await readObject(key, ledger.findings, async () => {
    ledger.acceptances.set(key, { kind: 'acceptance', key, ...(await readAcceptance(archive, key)) });
  });
}

/** Each entry follows from what it records and the entry before, byte for byte; each finalized run has one. */
export function checkLedger(ledger: Ledger, checks: readonly RunCheck[], inScope: InScope): ObjectFinding[] {
  const findings: ObjectFinding[] = [];
  const runs = new Map(checks.map((check) => [check.runId, check]));
  let previous: StoredLedgerEntry | null = null;
  for (const stored of ledger.entries) {
    findings.push(...checkEntry(stored, previous, ledger, runs, inScope));
    previous = stored;
  }
  return [...findings, ...checkRecorded(ledger.entries, checks)];
}

/** Every finalized run has an entry. Where no number is missing before, the entry that is not there is the next one. */
function checkRecorded(entries: readonly StoredLedgerEntry[], checks: readonly RunCheck[]): ObjectFinding[] {
  const recorded = new Set(entries.map(({ entry }) => runOf(entry)?.id));
  const unrecorded = checks.filter(({ runId }) => !recorded.has(runId));
  const last = entries.at(-1)?.entry.number ?? 0;
  const gapless = last === entries.length;
  return unrecorded.map(({ runId }, index) =>
    toObjectFinding(
      'ledger/missing-entry',
      gapless ? ledgerKey(last + 1 + index) : runRecordKey(runId),
      `run ${runId} is finalized, but no ledger entry records it; if an interruption kept it from being written, whoever exported the run adds it with the same export command`,
    ),
  );
}

function checkEntry(
  stored: StoredLedgerEntry,
  previous: StoredLedgerEntry | null,
  ledger: Ledger,
  runs: ReadonlyMap<string, RunCheck>,
  inScope: InScope,
): ObjectFinding[] {
  const { key, entry } = stored;
  if (previous !== null && entry.number === previous.entry.number + 1 && entry.previous_sha256 !== previous.sha256)
    return [
      toObjectFinding('ledger/broken-link', key, 'does not name the digest of the entry before it', {
        expected: entry.previous_sha256,
        actual: previous.sha256,
      }),
    ];
  // So that a signature is over every byte of it, whether what it records is looked at here or not.
  if (sha256(toRecordBytes(entry)) !== stored.sha256)
    return [toObjectFinding('object/altered', key, 'is not written as ledger entries are')];
  if ('hands_over_to' in entry)
    return checkDerived(stored, { kind: 'hand-over', to: entry.hands_over_to, at: entry.created_at }, previous);
  const subject =
    'run_id' in entry ? toRunSubject(runs.get(entry.run_id)) : ledger.acceptances.get(entry.acceptance_key);
  if (subject === undefined) return reportAbsent(stored, runs, inScope);
  const [subjectKey, expectedSha256] =
    'run_id' in entry
      ? [runRecordKey(entry.run_id), entry.run_sha256]
      : [entry.acceptance_key, entry.acceptance_sha256];
  return subject.sha256 === expectedSha256
    ? checkDerived(stored, subject, previous)
    : [anotherThanRecorded(subjectKey, key, expectedSha256, subject.sha256)];
}

/** It is what follows from what it records and the entry before. */
function checkDerived(
  { key, entry, sha256: actual }: StoredLedgerEntry,
  subject: Subject,
  previous: StoredLedgerEntry | null,
): ObjectFinding[] {
  const derived = withSignaturesOf(deriveEntry(subject, previous), entry);
  const expected = sha256(toRecordBytes(derived));
  if (expected === actual) return [];
  const message = 'is not the entry that follows from what it records and the entry before';
  return [toObjectFinding('object/altered', key, message, { expected, actual })];
}

/** An object is not the one that an entry of the ledger records. */
function anotherThanRecorded(key: string, entryKey: string, expected: string, actual: string): ObjectFinding {
  return toObjectFinding('object/altered', key, `its SHA-256 is not the one in ${entryKey}`, { expected, actual });
}

function toRunSubject(run: RunCheck | undefined): Extract<Subject, { kind: 'run' }> | undefined {
  if (run === undefined || run.record === null || run.sha256 === null) return undefined;
  return { kind: 'run', record: run.record, sha256: run.sha256 };
}

/** A run that is there but cannot be read, and an acceptance that is not there, were reported where they were read. */
function reportAbsent(
  { key, entry }: StoredLedgerEntry,
  runs: ReadonlyMap<string, RunCheck>,
  inScope: InScope,
): ObjectFinding[] {
  const run = runOf(entry);
  if (run === null || !inScope(run.id)) return [];
  const check = runs.get(run.id);
  if (check === undefined)
    return [toObjectFinding('object/missing', runRecordKey(run.id), `is recorded by ${key}, but it is not there`)];
  if (check.sha256 === null || check.sha256 === run.sha256) return [];
  return [anotherThanRecorded(runRecordKey(run.id), key, run.sha256, check.sha256)];
}

/** Whether the ledger names an acceptance. One that cannot be read is a finding already: then nobody knows what it says. */
export function acceptedIn({ entries, acceptances }: Ledger): (acceptance: Omit<Acceptance, 'format'>) => boolean {
  const named = entries.filter(({ entry }) => 'acceptance_key' in entry).length;
  const known = new Set([...acceptances.values()].map(({ record }) => keyOf(record)));
  return (acceptance) => acceptances.size < named || known.has(keyOf(acceptance));
}

function keyOf({ stream_id, accepted_at, accepted_by, reason, head }: Omit<Acceptance, 'format'>): string {
  const { sequence, hash, run_id } = head;
  return JSON.stringify([stream_id, accepted_at, accepted_by.user, accepted_by.host, reason, sequence, hash, run_id]);
}
