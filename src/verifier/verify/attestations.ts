import { isEvidenceError } from '../../core/errors.ts';
import type { Certificate } from '../../core/timestamp/certificate.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { runEnvelopeKey, runRecordKey } from '../records/keys.ts';
import type { RunRecord } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import { judgeStamps, readStamps, type StampVerdict } from '../records/stamps.ts';
import { readRunEnvelope, STATEMENT, toStatement } from '../records/statement.ts';
import type { Signed } from '../signature/envelope.ts';
import { type RestampCheck, verifyRestamps } from './hold-log.ts';
import { checked, type ObjectFinding, readObject, toObjectFinding, toUnreadable } from './object-finding.ts';
import { checkRunSignature, type Keyring } from './signatures.ts';

/** Objects outside a run that vouch for it. */
export interface AttestationCheck {
  /** Id of the key whose valid signature is on the run's statement; null for none. */
  signedBy: string | null;
  stamps: StampVerdict[];
  restamps: RestampCheck['restamps'];
  /** True if a stamp that the run record announces is missing, or proves nothing under the pinned roots. */
  unstamped: boolean;
  findings: ObjectFinding[];
  warnings: string[];
  /** Keys of the checked objects. */
  keys: string[];
}

export interface AttestationContext {
  archive: ReadableArchive;
  keyring: Keyring;
  /** Reports whether a ledger entry records a run. */
  isRecorded(runId: string): boolean;
  /** Trusted roots of authorities that stamp runs; null if none were pinned. */
  stampRoots: readonly Certificate[] | null;
  now: Date;
}

const MAX_DIFFERENCES = 20;

/** @param sha256 digest of the run's record. */
export async function verifyAttestations(
  context: AttestationContext,
  record: RunRecord,
  sha256: string,
): Promise<AttestationCheck> {
  const envelope = record.signed ? await verifyEnvelope(context, record, sha256) : UNSIGNED;
  const stamped = await verifyStamps(context, record);
  return {
    ...stamped,
    signedBy: envelope.signedBy,
    findings: [...envelope.findings, ...stamped.findings],
    keys: [...envelope.keys, ...stamped.keys],
  };
}

type EnvelopeCheck = Pick<AttestationCheck, 'signedBy' | 'findings' | 'keys'>;
const UNSIGNED: EnvelopeCheck = { signedBy: null, findings: [], keys: [] };

async function verifyEnvelope(
  { archive, keyring, isRecorded }: AttestationContext,
  record: RunRecord,
  sha256: string,
): Promise<EnvelopeCheck> {
  const key = runEnvelopeKey(record.run_id);
  const there = await readObject(key, async () => (await archive.stat(key)) !== null);
  if (there.value === null) return { signedBy: null, findings: there.findings, keys: [key] };
  // The statement is written before the ledger entry, so a run without both is open.
  if (!there.value && !isRecorded(record.run_id)) return UNSIGNED;
  if (!there.value) {
    const message = 'is missing, although the run record says that the run is signed';
    return { signedBy: null, findings: [toObjectFinding('object/missing', key, message)], keys: [key] };
  }
  const { value, findings } = await readObject(key, async () => {
    const { signature, ...signed } = await readRunEnvelope(archive, record.run_id);
    const finding = checkRunSignature(keyring, { key, signed, signature }, { id: record.run_id, sha256 });
    const differences = compareStatement(key, signed, record, sha256);
    return { keyId: signature.keyid, findings: [...(finding === null ? [] : [finding]), ...differences] };
  });
  const all = [...findings, ...(value?.findings ?? [])];
  return { signedBy: value !== null && all.length === 0 ? value.keyId : null, findings: all, keys: [key] };
}

/** Compares a statement with the one that follows from the run record, and lists the differences. */
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
          ? 'names, in addition to the files of the run,'
          : 'names with another digest';
    findings.push(toObjectFinding('signature/differs', key, `${what} ${name}`, { expected: stated, actual: wanted }));
  }
  if (findings.length === 0) findings.push(toObjectFinding('signature/differs', key, 'contradicts the run record'));
  return findings.slice(0, MAX_DIFFERENCES);
}

function readSubjects({ payload }: Signed, key: string): Map<string, string> {
  const { subject } = readRecord(STATEMENT, payload, key);
  return new Map(subject.map(({ name, digest }) => [name, digest.sha256]));
}

async function verifyStamps(
  { archive, stampRoots, now }: AttestationContext,
  record: RunRecord,
): Promise<Omit<AttestationCheck, 'signedBy'>> {
  const { run_id, timestamp_authority } = record;
  const { value: stamped, findings } = await readStamped(archive, run_id);
  if (stamped === null) return { stamps: [], restamps: [], unstamped: false, findings, warnings: [], keys: [] };
  const { stamps, restamped } = stamped;
  const judged = judgeStamps(stamps, new Date(record.finished_at), { roots: stampRoots, now });
  const refuted = judged
    .filter(({ state }) => state === 'refuted')
    .map(({ key, remarks }) => toObjectFinding('stamp/refuted', key, remarks.join('; ')));
  const remarks = judged
    .filter(({ state }) => state === 'proved' || (state !== 'refuted' && stampRoots !== null))
    .flatMap((stamp) => stamp.remarks.map((remark) => `${stamp.key}: ${remark}.`));
  const isToBeStamped = timestamp_authority !== null;
  // Under pinned roots, a stamp by another authority counts as none.
  const provesNothing = stampRoots !== null && !judged.some(({ state }) => state === 'proved');
  const absent =
    isToBeStamped && judged.length === 0
      ? [`Run ${run_id} lacks its time-stamp by ${timestamp_authority}; run the same export command again to add it.`]
      : [];
  return {
    stamps: judged,
    restamps: restamped.restamps,
    unstamped: isToBeStamped && (judged.length === 0 || provesNothing),
    findings: [...restamped.findings, ...refuted],
    warnings: [...restamped.warnings, ...remarks, ...absent],
    keys: [...stamps.stored.map(({ key }) => key), ...restamped.keys],
  };
}

/** Reads the stamps of a run and the records of later ones; returns a finding if they cannot be read. */
async function readStamped(archive: ReadableArchive, runId: string) {
  try {
    const stamps = await readStamps(archive, runId);
    return checked({ stamps, restamped: await verifyRestamps(archive, runId, stamps.stored) });
  } catch (error) {
    // A record in another run's place names objects that do not exist.
    if (!isEvidenceError(error, 'unreadable') && !isEvidenceError(error, 'not-found')) throw error;
    return { value: null, findings: [toUnreadable(runRecordKey(runId), error)] };
  }
}
