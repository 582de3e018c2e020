import { isEvidenceError } from '../../core/errors.ts';
import type { Archive } from '../archive/archive.ts';
import { runEnvelopeKey, runRecordKey } from '../records/keys.ts';
import type { RunRecord } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import { readRunEnvelope } from '../records/run-envelope.ts';
import { judgeStamps, readStamps, type StampVerdict } from '../records/stamps.ts';
import { STATEMENT, toStatement } from '../records/statement.ts';
import type { Signed } from '../signature/envelope.ts';
import type { Certificate } from '../timestamp/certificate.ts';
import { type ObjectFinding, toObjectFinding, toUnreadable } from './object-finding.ts';
import { type RestampCheck, verifyRestamps } from './restamps.ts';
import { checkRunSignature, type Keyring } from './signatures.ts';
import { readObject } from './stored.ts';

/** The objects beside a run that vouch for it. */
export interface AttestationCheck {
  /** Id of the key whose signature on the run's statement holds; null for none. */
  signedBy: string | null;
  stamps: StampVerdict[];
  restamps: RestampCheck['restamps'];
  /** A stamp that the run record announces is not there yet, or proves nothing under the roots that the reader pinned. */
  unstamped: boolean;
  findings: ObjectFinding[];
  warnings: string[];
  /** The objects that were looked at. */
  keys: string[];
}

export interface AttestationContext {
  archive: Archive;
  keyring: Keyring;
  /** Tells if a ledger entry records a run. */
  isRecorded(runId: string): boolean;
  /** The roots of the authorities that are trusted to stamp runs; null when none were pinned. */
  stampRoots: readonly Certificate[] | null;
  now: Date;
}

const MAX_DIFFERENCES = 20;

/** @param sha256 of the run's record. */
export async function verifyAttestations(
  context: AttestationContext,
  record: RunRecord,
  sha256: string,
): Promise<AttestationCheck> {
  const check: AttestationCheck = {
    signedBy: null,
    stamps: [],
    restamps: [],
    unstamped: false,
    findings: [],
    warnings: [],
    keys: [],
  };
  if (record.signed) await verifyEnvelope(context, record, sha256, check);
  await verifyStamps(context, record, check);
  return check;
}

async function verifyEnvelope(
  { archive, keyring, isRecorded }: AttestationContext,
  record: RunRecord,
  sha256: string,
  check: AttestationCheck,
): Promise<void> {
  const key = runEnvelopeKey(record.run_id);
  // The statement is written before the ledger entry: a run without either is open.
  if (!isRecorded(record.run_id) && (await archive.stat(key)) === null) return;
  check.keys.push(key);
  await readObject(key, check.findings, async () => {
    if ((await archive.stat(key)) === null) {
      check.findings.push(
        toObjectFinding('object/missing', key, 'is not there, and the run record says that the run is signed'),
      );
      return;
    }
    const { signature, ...signed } = await readRunEnvelope(archive, record.run_id);
    const run = { id: record.run_id, sha256 };
    const finding = checkRunSignature(keyring, { key, signed, signature }, run);
    check.findings.push(...(finding === null ? [] : [finding]), ...compareStatement(key, signed, record, sha256));
    if (check.findings.length === 0) check.signedBy = signature.keyid;
  });
}

/** The statement follows from the run record; where it differs, what differs is named. */
function compareStatement(key: string, signed: Signed, record: RunRecord, sha256: string): ObjectFinding[] {
  const expected = toStatement(record, sha256);
  if (signed.payloadType === expected.payloadType && signed.payload.equals(expected.payload)) return [];
  const [ours, theirs] = [readSubjects(expected, key), readSubjects(signed, key)];
  const findings: ObjectFinding[] = [];
  if (!theirs.has(runRecordKey(record.run_id)))
    return [toObjectFinding('signature/differs', key, 'is not a statement about this run')];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const [wanted, stated] = [ours.get(name), theirs.get(name)];
    if (wanted === stated) continue;
    const what =
      stated === undefined
        ? 'does not name'
        : wanted === undefined
          ? 'names, beside those of the run,'
          : 'names with another digest';
    findings.push(
      toObjectFinding('signature/differs', key, `${what} ${name}`, {
        ...(stated === undefined ? {} : { expected: stated }),
        ...(wanted === undefined ? {} : { actual: wanted }),
      }),
    );
  }
  if (findings.length === 0)
    findings.push(toObjectFinding('signature/differs', key, 'says something else about the run than its record'));
  return findings.slice(0, MAX_DIFFERENCES);
}

function readSubjects({ payload }: Signed, key: string): Map<string, string> {
  const { subject } = readRecord(STATEMENT, payload, key);
  return new Map(subject.map(({ name, digest }) => [name, digest.sha256]));
}

async function verifyStamps(
  { archive, stampRoots, now }: AttestationContext,
  record: RunRecord,
  check: AttestationCheck,
): Promise<void> {
  const { run_id, timestamp_authority } = record;
  try {
    const stamps = await readStamps(archive, run_id);
    check.keys.push(...stamps.stored.map(({ key }) => key));
    check.stamps = judgeStamps(stamps, new Date(record.finished_at), { roots: stampRoots, now });
    const { restamps, findings, warnings, keys } = await verifyRestamps(archive, run_id, stamps.stored);
    check.restamps = restamps;
    check.findings.push(...findings);
    check.warnings.push(...warnings);
    check.keys.push(...keys);
  } catch (error) {
    // A record that lies where another run's belongs names objects that are not there.
    if (!isEvidenceError(error, 'unreadable') && !isEvidenceError(error, 'not-found')) throw error;
    check.findings.push(toUnreadable(runRecordKey(run_id), error));
    return;
  }
  for (const { key, state, remarks } of check.stamps) {
    if (state === 'refuted') check.findings.push(toObjectFinding('stamp/refuted', key, remarks.join('; ')));
    else if (state === 'proved' || stampRoots !== null)
      check.warnings.push(...remarks.map((remark) => `${key}: ${remark}.`));
  }
  const isToBeStamped = timestamp_authority !== null;
  // Under pinned roots, a stamp of somebody else in the place of the authority's is none.
  const provesNothing = stampRoots !== null && !check.stamps.some(({ state }) => state === 'proved');
  check.unstamped = isToBeStamped && (check.stamps.length === 0 || provesNothing);
  if (isToBeStamped && check.stamps.length === 0)
    check.warnings.push(
      `Run ${run_id} was to be time-stamped by ${timestamp_authority} and is not; whoever exported it adds that with the same export command.`,
    );
}
