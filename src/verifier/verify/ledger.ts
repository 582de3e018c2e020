import type { ReadableArchive } from '../archive/archive.ts';
import { acceptableIn, hasStream, readAcceptance } from '../ledger/contradiction.ts';
import { deriveEntry } from '../ledger/derive.ts';
import { abandonmentOf, whyNamedTwice } from '../ledger/given-up.ts';
import {
  entryDigest,
  readEntry,
  runOf,
  type StoredLedgerEntry,
  type Subject,
  withSignaturesOf,
} from '../ledger/ledger.ts';
import { PastBuilder } from '../ledger/past.ts';
import { isLedgerKey, ledgerKey, runRecordKey } from '../records/keys.ts';
import { type Checked, type ObjectFinding, readObject, recordDiffers, toObjectFinding } from './object-finding.ts';
import { type StatedAcceptance, sameRecord } from './recorded-stream.ts';
import type { RunCheck } from './run.ts';

type AcceptanceSubject = Extract<Subject, { kind: 'acceptance' }>;

/** Ledger as read. */
export interface Ledger {
  entries: StoredLedgerEntry[];
  /** Keyed by object key. An acceptance that cannot be read is a finding and is left out. */
  acceptances: Map<string, AcceptanceSubject>;
  /** Keys of the objects that the ledger accounts for. */
  keys: string[];
  findings: ObjectFinding[];
}

/** Reports whether a run is to be verified. */
export type InScope = (runId: string) => boolean;

export async function readLedger(archive: ReadableArchive, keys: ReadonlySet<string>): Promise<Ledger> {
  const entryKeys = [...keys].filter(isLedgerKey).sort();
  const ledger: Ledger = { entries: [], acceptances: new Map(), keys: [...entryKeys], findings: [] };
  for (const [index, key] of entryKeys.entries()) {
    const expected = ledgerKey(index + 1);
    if (key !== expected && ledger.findings.every(({ code }) => code !== 'ledger/gap'))
      ledger.findings.push(toObjectFinding('ledger/gap', expected, 'is missing, but later entries exist'));
    const { value: stored, findings } = await readObject(key, () => readEntry(archive, key));
    ledger.findings.push(...findings);
    if (stored === null) continue;
    ledger.entries.push(stored);
    if (!('acceptance_key' in stored.entry)) continue;
    const accepted = await readAccepted(archive, keys, stored.entry.acceptance_key);
    ledger.keys.push(stored.entry.acceptance_key);
    ledger.findings.push(...accepted.findings);
    if (accepted.value !== null) ledger.acceptances.set(accepted.value.key, accepted.value);
  }
  return ledger;
}

async function readAccepted(
  archive: ReadableArchive,
  keys: ReadonlySet<string>,
  key: string,
): Promise<Checked<AcceptanceSubject | null>> {
  if (!keys.has(key)) {
    const missing = toObjectFinding('object/missing', key, 'is recorded by the ledger, but missing');
    return { value: null, findings: [missing] };
  }
  return readObject(key, async () => ({ kind: 'acceptance', key, ...(await readAcceptance(archive, key)) }));
}

/**
 * Checks that each entry follows, byte for byte, from its subject and the entry before, and names a run that no other
 * entry names.
 */
export function checkLedger(ledger: Ledger, checks: readonly RunCheck[], inScope: InScope): ObjectFinding[] {
  const findings: ObjectFinding[] = [];
  const runs = new Map(checks.map((check) => [check.runId, check]));
  const past = new PastBuilder();
  let previous: StoredLedgerEntry | null = null;
  for (const stored of ledger.entries) {
    const { key, entry } = stored;
    const why = whyNamedTwice(entry, past);
    if (why !== null) findings.push(toObjectFinding('ledger/contradicts', key, why));
    past.add(entry);
    findings.push(...checkEntry(stored, previous, ledger, runs, inScope));
    previous = stored;
  }
  return findings;
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
  // A canonical entry is signed in every byte, even if its subject is not checked here.
  if (entryDigest(entry) !== stored.sha256)
    return [toObjectFinding('object/altered', key, 'is not in the form of a ledger entry')];
  const subject = subjectOf(stored, ledger, runs);
  if (subject === undefined) return reportAbsent(stored, runs, inScope);
  const named = namedBy(entry);
  if (named !== null && 'sha256' in subject && subject.sha256 !== named.sha256)
    return [anotherThanRecorded(named.key, key, named.sha256, subject.sha256)];
  const baseless = subject.kind === 'acceptance' ? checkContradiction(subject, stored, ledger, runs) : [];
  return [...checkDerived(stored, subject, previous), ...baseless];
}

/**
 * Checks that an acceptance covers a finding of the newest earlier run with the stream, if that run is verified here.
 */
function checkContradiction(
  { key, record }: Extract<Subject, { kind: 'acceptance' }>,
  { entry }: StoredLedgerEntry,
  { entries }: Ledger,
  runs: ReadonlyMap<string, RunCheck>,
): ObjectFinding[] {
  const { stream_id, contradiction } = record;
  const before = entries.filter((one) => one.entry.number < entry.number).flatMap((one) => runOf(one.entry)?.id ?? []);
  const place = before.lastIndexOf(contradiction.run_id);
  const newer = before.slice(place + 1).find((runId) => {
    const other = runs.get(runId)?.record ?? null;
    return other !== null && hasStream(other, stream_id);
  });
  const differs = (message: string) => [recordDiffers(key, message)];
  if (place === -1)
    return differs(`accepts a finding of run ${contradiction.run_id}, which the ledger does not record before it`);
  if (newer !== undefined)
    return differs(`accepts a finding of run ${contradiction.run_id}, but the later run ${newer} has the stream, too`);
  const run = runs.get(contradiction.run_id)?.record ?? null;
  if (run === null || sameRecord(acceptableIn(run, stream_id) ?? null, contradiction)) return [];
  return differs(`accepts a finding that run ${contradiction.run_id} did not make in the stream "${stream_id}"`);
}

function subjectOf(
  { entry }: StoredLedgerEntry,
  ledger: Ledger,
  runs: ReadonlyMap<string, RunCheck>,
): Subject | undefined {
  const abandonment = abandonmentOf(entry);
  if (abandonment !== null) return { kind: 'abandonment', abandonment };
  if ('hands_over_to' in entry) return { kind: 'hand-over', to: entry.hands_over_to, at: entry.created_at };
  if ('run_id' in entry) return toRunSubject(runs.get(entry.run_id));
  return 'acceptance_key' in entry ? ledger.acceptances.get(entry.acceptance_key) : undefined;
}

/** Returns the object that an entry names; null for an entry that holds its own content. */
function namedBy(entry: StoredLedgerEntry['entry']): { key: string; sha256: string } | null {
  if ('run_id' in entry) return { key: runRecordKey(entry.run_id), sha256: entry.run_sha256 };
  return 'acceptance_key' in entry ? { key: entry.acceptance_key, sha256: entry.acceptance_sha256 } : null;
}

/** Checks that an entry follows from its subject and the entry before. */
function checkDerived(
  { key, entry, sha256: actual }: StoredLedgerEntry,
  subject: Subject,
  previous: StoredLedgerEntry | null,
): ObjectFinding[] {
  const derived = withSignaturesOf(deriveEntry(subject, previous), entry);
  const expected = entryDigest(derived);
  if (expected === actual) return [];
  const message = 'does not follow from its subject and the entry before';
  return [toObjectFinding('object/altered', key, message, { expected, actual })];
}

/** Returns a finding about an object that is not the one recorded by a ledger entry. */
function anotherThanRecorded(key: string, entryKey: string, expected: string, actual: string): ObjectFinding {
  return toObjectFinding('object/altered', key, `its SHA-256 differs from the one in ${entryKey}`, {
    expected,
    actual,
  });
}

function toRunSubject(run: RunCheck | undefined): Extract<Subject, { kind: 'run' }> | undefined {
  if (run === undefined || run.record === null || run.sha256 === null) return undefined;
  return { kind: 'run', record: run.record, sha256: run.sha256 };
}

/** Reports a missing run. An unreadable run and a missing acceptance were reported when read. */
function reportAbsent(
  { key, entry }: StoredLedgerEntry,
  runs: ReadonlyMap<string, RunCheck>,
  inScope: InScope,
): ObjectFinding[] {
  const run = runOf(entry);
  if (run === null || !inScope(run.id)) return [];
  const check = runs.get(run.id);
  if (check === undefined)
    return [toObjectFinding('object/missing', runRecordKey(run.id), `is recorded by ${key}, but missing`)];
  if (check.sha256 === null || check.sha256 === run.sha256) return [];
  return [anotherThanRecorded(runRecordKey(run.id), key, run.sha256, check.sha256)];
}

/**
 * Returns a function that reports whether the ledger names an acceptance. It returns true if an acceptance cannot be
 * read, which is a finding already.
 */
export function acceptedIn({ entries, acceptances }: Ledger): (acceptance: StatedAcceptance) => boolean {
  const named = entries.filter(({ entry }) => 'acceptance_key' in entry).length;
  const known = new Set(
    [...acceptances.values()].flatMap(({ record }) => [keyOf(record), keyOf({ ...record, contradiction: undefined })]),
  );
  return (acceptance) => acceptances.size < named || known.has(keyOf(acceptance));
}

function keyOf({ stream_id, accepted_at, accepted_by, reason, head, contradiction }: StatedAcceptance): string {
  const { sequence, hash, run_id } = head;
  const who = [accepted_by.user, accepted_by.host];
  return JSON.stringify([stream_id, accepted_at, who, reason, sequence, hash, run_id, contradiction ?? null]);
}
