import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../core/digest.ts';
import { bundleFileName, slugOf } from '../bundle/layout.ts';
import { collectedIn } from '../bundle/stated.ts';
import { type ClaimName, DEFAULT_REQUIRED, strictest } from '../claims/claim.ts';
import { asReadBack, asRecorded, type ReportedVerdict, withRecorded } from '../claims/recorded.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { Identities } from '../encryption/identities.ts';
import { bundleKey, runRecordKey, streamRecordKey } from '../records/keys.ts';
import { type RunRecord, type RunStream, streamRecordSchema } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import type { AttestationContext } from './attestations.ts';
import { verifyBundle } from './bundle.ts';
import type { VerifiedBundle, VerifyOptions } from './content.ts';
import type { ContractUse } from './contract-use.ts';
import { type ObjectFinding, toObjectFinding } from './object-finding.ts';
import { sameRecord } from './same-record.ts';
import { checkPast, type LedgerPast } from './stated-past.ts';
import { checkDigest, fetchBundle, isAttested, isThere, readObject } from './stored.ts';

export interface VerifiedStream {
  /** Ours, made now; of an attested bundle, and of one that was not decrypted, only what was recorded. */
  verdict: ReportedVerdict;
  /** The bundle was not read: the store attests that it is what was recorded. */
  attested: boolean;
  /** Something is wrong with the bundle or with what the run recorded of it: other runs are not compared with it. */
  altered: boolean;
  /** It was not recorded as incomplete. */
  whole: boolean;
  /** The bundle is what was recorded, but encrypted, and was not decrypted here. */
  encrypted: boolean;
  bundle: RunStream['bundle'];
  /** The one that the bundle was read by; null where it was not read. */
  contract: ContractUse | null;
  /** What must be proved of it. */
  required: readonly ClaimName[];
  /** Runs of whose bundles a part is said to have been compared with it; that they say the same is known once they are read. */
  parts: readonly string[];
}

export interface RunContext extends VerifyOptions, AttestationContext, LedgerPast {
  /** Where bundles of a remote archive are put for as long as they are read. */
  workDirectory: string;
  /** Whether a bundle need not be read whose digest the store itself attests. */
  fast?: boolean;
  /** To decrypt bundles with; null where there are none. */
  identities?: Identities | null;
  /** How many streams at once; 1 unless told. */
  concurrency?: number;
  /** The head that a run left in the ledger for a stream; undefined when it left none. */
  headOf(runId: string, streamId: string): { sequence: number; hash: string } | undefined;
  onStream?(streamId: string): void;
}

const MAX_RECORD_BYTES = 2 ** 30;

/** Verifies what a run recorded of a stream: its record, its bundle, every claim anew. Null where there is no verdict. */
export async function verifyStream(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  findings: ObjectFinding[],
): Promise<VerifiedStream | null> {
  const { bundle } = stream;
  checkPlaces(run, stream, findings);
  if (stream.record !== null) await verifyStreamRecord(context, run, stream, stream.record, findings);
  const required = strictest(context.required ?? DEFAULT_REQUIRED, run.scope.required_claims);
  const common = { bundle, required, altered: false, whole: !stream.partial && stream.status !== 'incomplete' };
  const unread = (why: string) => ({
    ...common,
    verdict: asRecorded(statedVerdict(stream), why),
    contract: null,
    parts: [],
  });
  if (context.fast === true && (await isAttested(context.archive, bundle)))
    return { ...unread('not read here'), attested: true, encrypted: false };
  // What is fetched from afar goes when it was looked at: an archive may be larger than the disk.
  const folder = await mkdtemp(join(context.workDirectory, 'bundle-'));
  try {
    const found = findings.length;
    const file = await fetchBundle(context, bundle, folder, findings);
    if (file === 'gone') return null;
    if (file === 'encrypted') return { ...unread('not opened here'), attested: false, encrypted: true };
    const compared = context.history.comparedWith(run.run_id, stream.stream_id);
    const verified = await verifyBundle(file, bundle.key, {
      ...context,
      required,
      compared,
      isAltered: findings.length > found,
    });
    findings.push(...verified.findings);
    if (verified.walk !== null) context.history.add(run.run_id, verified.walk);
    const verdict = compareRecorded(context, run, stream, verified, findings);
    if (verdict === null) return null;
    const { contract, earlier } = verified;
    const continuity = context.history.whyNotCompared(run.run_id, stream.stream_id, verified);
    return {
      ...common,
      verdict: continuity === null ? verdict : asReadBack(verdict, { continuity }, verified.required),
      attested: false,
      encrypted: false,
      contract,
      required: verified.required,
      parts: earlier.filter(({ part }) => part).map(({ run_id }) => run_id),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a run record states of a stream, without where it lies. */
function statedVerdict({
  bundle: _bundle,
  record: _record,
  partial: _partial,
  missing: _missing,
  collected: _collected,
  service: _service,
  ...stated
}: RunStream) {
  return stated;
}

/** The verdict made now, once it was held against what the run recorded. */
function compareRecorded(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  verified: VerifiedBundle,
  findings: ObjectFinding[],
): ReportedVerdict | null {
  const { bundle } = stream;
  const stated = statedVerdict(stream);
  const differ = (what: string) =>
    findings.push(
      toObjectFinding(
        'record/differs',
        runRecordKey(run.run_id),
        `its ${what} of "${stream.stream_id}" differs from the bundle's`,
      ),
    );
  if (verified.identity !== bundle.identity) differ('bundle identity');
  if (verified.runId !== null && verified.runId !== run.run_id) differ('run id');
  if (verified.recorded !== null && verified.contractSha256 !== run.source.contract_sha256) differ('contract');
  if (verified.recorded !== null && !sameRecord(verified.recorded, stated)) differ('verdict');
  if (verified.period !== null && !sameRecord(verified.period, run.period)) differ('period');
  const { transferLog: log } = verified;
  if (log !== null && log.audit_url !== run.source.audit_url) differ('audit service');
  if (log !== null && !sameRecord(collectedIn(log), stream.collected)) differ('time of collection');
  if (verified.service !== null && !sameRecord(verified.service, stream.service)) differ("service's statement");
  if (verified.recorded !== null && !sameForms(stream, verified)) differ('list of missing forms');
  if (verified.packagePeriod !== null && !sameRecord(verified.packagePeriod, run.package_period))
    differ('package period');
  findings.push(...checkPast(context, stream, verified));
  return verified.verdict === null ? null : worse(withRecorded(verified.verdict, stated), stated.status);
}

function sameForms({ partial, missing }: RunStream, verified: VerifiedBundle): boolean {
  const forms = (list: RunStream['missing']) => list.map(({ form, reason }) => `${form} ${reason.trim()}`).sort();
  return partial === missing.length > 0 && sameRecord(forms(missing), forms(verified.missing));
}

/** Where a run puts a stream's objects follows from the stream's id. */
function checkPlaces(
  run: RunRecord,
  { stream_id, partial, bundle, record }: RunStream,
  findings: ObjectFinding[],
): void {
  const slug = slugOf(stream_id);
  const completeness = partial ? 'PARTIAL' : 'COMPLETE';
  const expected = bundleKey(run.run_id, bundleFileName(slug, completeness, bundle.encrypted !== undefined));
  const wrong = bundle.key !== expected || (record !== null && record.key !== streamRecordKey(run.run_id, slug));
  if (wrong)
    findings.push(
      toObjectFinding(
        'record/differs',
        runRecordKey(run.run_id),
        `puts the stream "${stream_id}" where it does not belong`,
      ),
    );
}

async function verifyStreamRecord(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  stored: NonNullable<RunStream['record']>,
  findings: ObjectFinding[],
): Promise<void> {
  if (!(await isThere(context.archive, stored.key, findings))) return;
  const found = await readObject(stored.key, findings, async () => {
    const bytes = await context.archive.readBytes(stored.key, MAX_RECORD_BYTES);
    checkDigest(stored, { sha256: sha256(bytes), bytes: bytes.length }, findings);
    return readRecord(streamRecordSchema, bytes, stored.key);
  });
  if (found === null) return;
  const { format: _format, run_id, recorded_at: _at, binding: _binding, ...record } = found;
  const { record: _stored, ...stated } = stream;
  if (run_id !== run.run_id || !sameRecord(record, stated))
    findings.push(toObjectFinding('record/differs', stored.key, 'says something else than the run record'));
}

/** What was refuted when the seal keys were at hand is not verified because they are not. */
function worse(verdict: ReportedVerdict, recorded: Verdict['status']): ReportedVerdict {
  return recorded === 'refuted' ? { ...verdict, status: 'refuted' } : verdict;
}
