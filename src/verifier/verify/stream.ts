import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../core/digest.ts';
import { bundleFileName, slugOf } from '../bundle/layout.ts';
import type { ComparedSection } from '../chain/walk.ts';
import { type ClaimName, requiredOf } from '../claims/claim.ts';
import { asReadBack, asRecorded, type ReportedVerdict } from '../claims/recorded.ts';
import type { Identities } from '../encryption/keys.ts';
import type { ContractUse } from '../reading/in-use.ts';
import { bundleKey, runRecordKey, streamRecordKey } from '../records/keys.ts';
import { type LedgerHead, type RunRecord, type RunStream, STREAM_RECORD } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';
import type { AttestationContext } from './attestations.ts';
import { verifyBundle } from './bundle.ts';
import type { VerifyOptions } from './content.ts';
import type { NotedStreams } from './noted-entries.ts';
import { type Checked, type ObjectFinding, readObject, recordDiffers } from './object-finding.ts';
import { compareRecorded, type LedgerPast, sameRecord, statedVerdict } from './recorded-stream.ts';
import { checkDigest, fetchBundle, isAttested, isThere } from './stored.ts';

export interface VerifiedStream {
  /** Our own verdict; only the recorded one if the bundle is attested or was not decrypted. */
  verdict: ReportedVerdict;
  /** True if the bundle was not read, because the store attests that it is the recorded one. */
  attested: boolean;
  /** True if the bundle or its record is wrong: other runs are not compared with it. */
  altered: boolean;
  /** True if the stream was not recorded as incomplete. */
  whole: boolean;
  /** True if the bundle is the recorded one but was not decrypted here. */
  encrypted: boolean;
  bundle: RunStream['bundle'];
  /** Contract by which the bundle was read; null if it was not read. */
  contract: ContractUse | null;
  /** Claims that must be proved for the stream. */
  required: readonly ClaimName[];
  /** Other streams in its package. */
  others: readonly string[];
  /**
   * Runs with parts of whose bundles this bundle was compared, by its own account; confirmed once those bundles are
   * read.
   */
  parts: readonly string[];
}

export interface RunContext extends VerifyOptions, AttestationContext, LedgerPast {
  /** Folder for bundles of a remote archive while they are read. */
  workDirectory: string;
  /** True to skip reading bundles whose digest the store itself attests. */
  fast?: boolean;
  /** Identities that decrypt bundles; null if there are none. */
  identities?: Identities | null;
  /** Number of streams verified in parallel; 1 by default. */
  concurrency?: number;
  /** Returns the head that a run left in the ledger for a stream; undefined if it left none. */
  headOf(runId: string, streamId: string): { sequence: number; hash: string } | undefined;
  /** Returns the heads of the newest entry before a run's own that the run knew, by stream id. */
  headsBefore(
    run: Pick<RunRecord, 'run_id' | 'started_at' | 'earlier_runs'>,
  ): Iterable<[streamId: string, head: LedgerHead]>;
  onStream?(streamId: string): void;
  /** Notes the entries that supplements name; null if none need noting. */
  notes?: NotedStreams | null;
}

/** Verifies a run's stream: its record, its bundle and every claim. Null if there is no verdict. */
export async function verifyStream(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
): Promise<Checked<VerifiedStream | null>> {
  const { bundle } = stream;
  const recorded = [...checkPlaces(run, stream), ...(await verifyStreamRecord(context, run, stream))];
  const required = requiredOf(context, run.scope.required_claims);
  if (context.fast === true && (await isAttested(context.archive, bundle)))
    return { value: { ...unread(stream, required, 'not read here'), attested: true }, findings: recorded };
  // Deletes fetched files after each check, because an archive may be larger than the disk.
  const folder = await mkdtemp(join(context.workDirectory, 'bundle-'));
  try {
    const fetched = await fetchBundle(context, bundle, folder);
    const findings = [...recorded, ...fetched.findings];
    if (fetched.value === 'gone') return { value: null, findings };
    if (fetched.value === 'encrypted')
      return { value: { ...unread(stream, required, 'not opened here'), encrypted: true }, findings };
    const isAltered = fetched.findings.length > 0;
    const verified = await verifyFetched({ ...context, required, isAltered }, run, stream, fetched.value);
    return { value: verified.value, findings: [...findings, ...verified.findings] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns what the run recorded, which is all that is known without reading the bundle. */
function unread(stream: RunStream, required: readonly ClaimName[], why: string): VerifiedStream {
  return { ...beginning(stream, required), verdict: asRecorded(statedVerdict(stream), why), contract: null, parts: [] };
}

function beginning(stream: RunStream, required: readonly ClaimName[]) {
  const whole = !stream.partial && stream.status !== 'incomplete';
  return { bundle: stream.bundle, required, altered: false, whole, attested: false, encrypted: false, others: [] };
}

async function verifyFetched(
  context: RunContext,
  run: RunRecord,
  stream: RunStream,
  file: string,
): Promise<Checked<VerifiedStream | null>> {
  const { history, notes = null } = context;
  const compared = [...history.comparedWith(run.run_id, stream.stream_id), ...sealedIn(run, stream)];
  const watch = () => notes?.begin(stream.stream_id) ?? null;
  const verified = await verifyBundle(file, stream.bundle.key, { ...context, compared, watch });
  const { judged } = verified;
  if (judged !== null && judged.walk !== null) history.add(run.run_id, judged.walk);
  const { value: verdict, findings: differences } = compareRecorded(context, run, stream, verified);
  const findings = [...verified.findings, ...differences];
  if (judged === null || verdict === null) return { value: null, findings };
  const { contract, required, stated } = judged;
  const past = { earlier: stated.earlier, restarts: stated.accepted_restarts };
  const continuity = history.whyNotCompared(run.run_id, stream.stream_id, past);
  const value = {
    ...beginning(stream, required),
    verdict: continuity === null ? verdict : asReadBack(verdict, { continuity }, required),
    contract,
    others: judged.others,
    parts: stated.earlier.filter(({ part }) => part).map(({ run_id }) => run_id),
  };
  return { value, findings };
}

/**
 * Returns the section of entries whose seals a run and its revision judged differently. It is compared by content,
 * because digests do not cover seals.
 */
function sealedIn({ supersedes }: RunRecord, { claims, first_sequence: first, head }: RunStream): ComparedSection[] {
  const { state } = claims.seal;
  const isJudgedTwice = state === 'refuted' || (state === 'proved' && supersedes.length > 0);
  return isJudgedTwice && first !== null && head !== null ? [{ first, last: head.sequence, byContent: true }] : [];
}

/** Checks that a run's objects for a stream are where the stream's id puts them. */
function checkPlaces(run: RunRecord, { stream_id, partial, bundle, record }: RunStream): ObjectFinding[] {
  const slug = slugOf(stream_id);
  const completeness = partial ? 'PARTIAL' : 'COMPLETE';
  const expected = bundleKey(run.run_id, bundleFileName(slug, completeness, bundle.encrypted !== undefined));
  const wrong = bundle.key !== expected || (record !== null && record.key !== streamRecordKey(run.run_id, slug));
  if (!wrong) return [];
  const message = `states the wrong keys for the stream "${stream_id}"`;
  return [recordDiffers(runRecordKey(run.run_id), message)];
}

async function verifyStreamRecord(
  { archive }: RunContext,
  run: RunRecord,
  { record: stored, ...stated }: RunStream,
): Promise<ObjectFinding[]> {
  if (stored === null) return [];
  const there = await isThere(archive, stored.key);
  if (!there.value) return there.findings;
  const { value: bytes, findings } = await readObject(stored.key, () =>
    archive.readBytes(stored.key, STREAM_RECORD.maxBytes),
  );
  if (bytes === null) return findings;
  const altered = checkDigest(stored, { sha256: sha256(bytes), bytes: bytes.length });
  const read = await readObject(stored.key, async () => readRecord(STREAM_RECORD, bytes, stored.key));
  if (read.value === null) return [...altered, ...read.findings];
  const { format: _format, run_id, recorded_at: _at, binding: _binding, ...record } = read.value;
  if (run_id === run.run_id && sameRecord(record, stated)) return altered;
  return [...altered, recordDiffers(stored.key, 'contradicts the run record')];
}
