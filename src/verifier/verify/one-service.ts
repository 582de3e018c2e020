import { sha256 } from '../../core/digest.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { runOf, type StoredLedgerEntry } from '../ledger/ledger.ts';
import { archiveBytes, readStatedService } from '../ledger/service.ts';
import { ARCHIVE_KEY, runRecordKey } from '../records/keys.ts';
import { type ObjectFinding, readObject, recordDiffers, toObjectFinding } from './object-finding.ts';
import type { RunCheck } from './run.ts';

/** Service whose evidence an archive holds. */
export interface ServiceReport {
  /** Current address of the service as the ledger states it; before the first run, as the archive states it. */
  audit_url: string;
  /** Address changes that an operator confirmed. */
  moved: { run_id: string; from: string; to: string }[];
}

/**
 * Checks that the archive holds the evidence of one service: its own statement, the ledger and every run agree. Returns
 * the service, and the keys of the checked objects.
 */
export async function verifyService(
  archive: ReadableArchive,
  keys: ReadonlySet<string>,
  entries: readonly StoredLedgerEntry[],
  checks: readonly RunCheck[],
) {
  const findings: ObjectFinding[] = [];
  let stated: string | null = null;
  const isThere = keys.has(ARCHIVE_KEY);
  if (!isThere && entries.some(({ entry }) => entry.audit_url !== null))
    findings.push(
      toObjectFinding('object/missing', ARCHIVE_KEY, 'is missing: it names the service whose evidence this is'),
    );
  if (isThere) {
    const read = await readObject(ARCHIVE_KEY, () => readStatedService(archive));
    findings.push(...read.findings, ...checkStated(read.value, entries));
    stated = read.value?.auditUrl ?? null;
  }
  const audit_url = entries.at(-1)?.entry.audit_url ?? stated;
  findings.push(...checkRuns(entries, checks));
  const service: ServiceReport | null = audit_url === null ? null : { audit_url, moved: movesIn(entries) };
  return { service, findings, keys: isThere ? [ARCHIVE_KEY] : [] };
}

/** Checks that the archive's statement follows from the first ledger entry. */
function checkStated(
  stated: Awaited<ReturnType<typeof readStatedService>> | null,
  [first]: readonly StoredLedgerEntry[],
): ObjectFinding[] {
  if (stated === null || first?.entry.number !== 1 || first.entry.audit_url === null) return [];
  const expected = sha256(archiveBytes(first.entry.audit_url));
  if (stated.sha256 === expected) return [];
  const message = `is not of ${first.entry.audit_url}, as ${first.key} is`;
  return [toObjectFinding('object/altered', ARCHIVE_KEY, message, { expected, actual: stated.sha256 })];
}

/** Checks that each run is of a service that the archive was of until then. */
function checkRuns(entries: readonly StoredLedgerEntry[], checks: readonly RunCheck[]): ObjectFinding[] {
  const records = new Map(checks.flatMap(({ runId, record }) => (record === null ? [] : [[runId, record] as const])));
  const known = new Set<string>();
  return entries.flatMap(({ key, entry }) => {
    if (entry.audit_url !== null) known.add(entry.audit_url);
    const record = records.get(runOf(entry)?.id ?? '');
    if (record === undefined || known.has(record.source.audit_url)) return [];
    const values = { expected: [...known].join(', '), actual: record.source.audit_url };
    const message = `is of another service than the archive, whose service is the one in ${key}`;
    return [recordDiffers(runRecordKey(record.run_id), message, values)];
  });
}

function movesIn(entries: readonly StoredLedgerEntry[]): ServiceReport['moved'] {
  return entries.flatMap(({ entry }, index) => {
    const from = entries[index - 1]?.entry.audit_url ?? null;
    const run_id = runOf(entry)?.id;
    if (run_id === undefined || from === null || entry.audit_url === null || from === entry.audit_url) return [];
    return [{ run_id, from, to: entry.audit_url }];
  });
}
