import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { measure } from '../../verifier/archive/archive.ts';
import { collectedIn } from '../../verifier/bundle/known.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import { type OpenBundle, openBundle } from '../../verifier/bundle/read.ts';
import { bundleKey, encryptedBundleKey } from '../../verifier/records/keys.ts';
import type { Question } from '../../verifier/records/question.ts';
import { ENCRYPTED_BUNDLE, type StreamRecord } from '../../verifier/records/record.ts';
import { readRecord } from '../../verifier/records/record-bytes.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { verifyBundle } from '../../verifier/verify/bundle.ts';
import { isBound } from '../bundle/binding.ts';
import { whereKept } from '../records/put-record.ts';
import { isBoundRecord } from './binding.ts';
import type { Binding, ExportContext } from './context.ts';
import { bundleNames } from './encrypt.ts';
import type { FindListed } from './plan.ts';
import { notOurs, readStreamRecord, saysTheSame } from './records.ts';
import { Relisting } from './relist.ts';
import type { Recovered } from './stream-jobs.ts';
import { verdictWithoutKey } from './without-key.ts';

/** Bundle as a file, with its size and digest. */
interface Fetched {
  file: string;
  bytes: number;
  sha256: string;
}

/**
 * Returns the record of a bundle that this run archived without recording it, or that another process exporting the
 * same run archived first. The record is derived again from the bundle.
 *
 * @param key of the bundle.
 * @param find returns a stream as the service lists it now; an unencrypted bundle is compared with its listing.
 * @throws EvidenceError `conflict` if the bundle is not bound to this run or does not verify.
 */
export async function recoverBundle(
  context: ExportContext,
  key: string,
  find: FindListed = () => undefined,
): Promise<Recovered> {
  return withFetched(context, key, async ({ file, ...content }) => {
    let recovered: Recovered;
    if (key.endsWith('.age')) {
      recovered = { record: await readAnnounced(context, key, content.sha256), unread: true };
    } else {
      const relisting = new Relisting(context, find);
      const { verdict, missing, collected, service, identity } = await verifyLeftover(context, file, key, relisting);
      const record: Unbound<StreamRecord> = {
        format: FORMATS.stream,
        run_id: context.question.run_id,
        ...verdict,
        partial: missing.length > 0,
        missing,
        collected,
        service,
        bundle: { key, ...content, identity },
        recorded_at: context.runtime.now().toISOString(),
      };
      recovered = { record, unread: false };
    }
    const { record } = recovered;
    checkPlace(context.question, key, record);
    // Putting an existing object stores nothing; it returns how the object is stored.
    const stored = await context.archive.put(key, { file }, content);
    return { ...recovered, record: { ...record, bundle: { ...record.bundle, ...whereKept(stored) } } };
  });
}

/**
 * Returns a stream record that this run wrote, after verifying its bundle again.
 *
 * @param key of the record.
 * @throws EvidenceError `conflict` if the record or the bundle is not bound to this run or does not verify.
 */
export async function recoverRecord(context: ExportContext, key: string): Promise<Recovered & { bytes: Uint8Array }> {
  const { record, bytes } = await readStreamRecord(context, key);
  const { bundle } = record;
  return withFetched(context, bundle.key, async ({ file, ...content }) => {
    if (content.sha256 !== bundle.sha256) throw notOurs(bundle.key, `it is not the bundle that ${key} records`);
    if (bundle.encrypted !== undefined) return { record, bytes, unread: true };
    const { verdict, identity, ...stated } = await verifyLeftover(context, file, bundle.key);
    const found = { ...record, ...verdict, ...stated, bundle: { ...bundle, identity } };
    if (!saysTheSame(found, record)) throw notOurs(key, 'it differs from the current result for its bundle');
    return { record, bytes, unread: false };
  });
}

/**
 * Reads the announcement that was stored before an encrypted bundle, which only its recipients can read. The digest
 * ties the two.
 */
async function readAnnounced(
  { archive, question, binding, runtime }: ExportContext,
  key: string,
  sha256: string,
): Promise<Unbound<StreamRecord>> {
  const announced = encryptedBundleKey(question.run_id, sha256);
  if ((await archive.stat(announced)) === null) throw notOurs(key, `there is no ${announced}`);
  const bytes = await archive.readBytes(announced, ENCRYPTED_BUNDLE.maxBytes);
  if (!isBoundRecord(binding.key, bytes)) throw notOurs(announced, 'it is not bound to it');
  const { format: _format, binding: _binding, ...rest } = readRecord(ENCRYPTED_BUNDLE, bytes, announced);
  if (rest.run_id !== question.run_id || rest.bundle.key !== key || rest.bundle.sha256 !== sha256)
    throw notOurs(key, `${announced} is of ${rest.bundle.key}`);
  return { format: FORMATS.stream, ...rest, recorded_at: runtime.now().toISOString() };
}

/** Checks that a bundle's key matches its stream and whether the bundle is partial. */
function checkPlace({ run_id: runId }: Question, key: string, { stream_id, partial }: Unbound<StreamRecord>): void {
  const names = [...bundleNames(slugOf(stream_id))].filter((name) => name.partial === partial);
  if (names.every(({ name }) => bundleKey(runId, name) !== key))
    throw notOurs(key, 'it is not under the key of its stream');
}

/** Fetches an object of the run to a file, which is removed when `use` has ended. */
export async function withFetched<T>(
  context: ExportContext,
  key: string,
  use: (bundle: Fetched) => Promise<T>,
): Promise<T> {
  // Fetched files are removed after each use, because an archive may be larger than the disk.
  const folder = await mkdtemp(join(context.runtime.workDirectory, `${basename(key)}-`));
  try {
    const file = await context.archive.fetchFile(key, folder).catch((error: unknown) => {
      throw isEvidenceError(error, 'not-found') ? notOurs(key, 'it is recorded but missing') : error;
    });
    return await use({ file, ...(await measure(createReadStream(file))) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Verifies a bundle in the archive as `evidence verify` does, after checking that it is bound to this run.
 *
 * @param file the bundle.
 * @param key of the bundle in the archive.
 * @param relisting observes the entries as they are read.
 * @throws EvidenceError `conflict` if the bundle is not bound to this run, is damaged, or states another result.
 */
async function verifyLeftover(context: ExportContext, file: string, key: string, relisting?: Relisting) {
  await requireBound(context.binding, file, key);
  const { contract, contractFile } = context.service;
  const { source, period, scope, run_id } = context.question;
  const found = await verifyBundle(file, key, {
    ...context.trust,
    contract: contractFile === null ? null : { contract, file: contractFile },
    acceptUnhashed: scope.accepted_unhashed,
    required: scope.required_claims,
    now: context.runtime.now(),
    ...(relisting === undefined ? {} : { watch: (stated) => relisting.begin(stated) }),
  });
  const [finding] = found.findings;
  if (finding !== undefined) throw notOurs(key, `${finding.key} ${finding.message}`);
  const { judged, identity } = found;
  if (judged === null || identity === null || judged.transferLog === null)
    throw notOurs(key, 'it contains nothing to judge');
  const { stated, transferLog, service, missing } = judged;
  const verdict = verdictWithoutKey(context, judged.verdict);
  const isOfRun =
    stated.run_id === run_id &&
    transferLog.audit_url === source.audit_url &&
    stated.contract_sha256 === source.contract_sha256 &&
    saysTheSame(stated.period, period);
  if (!isOfRun) throw notOurs(key, `it is of run ${stated.run_id} from ${transferLog.audit_url}`);
  if (!saysTheSame(verdict, stated.verdict))
    throw notOurs(key, 'keys, roots or this program have changed since, so its claims come out differently now');
  await relisting?.finish(judged, key);
  return { verdict, missing: [...missing], collected: collectedIn(transferLog), service, identity };
}

/** @throws EvidenceError `conflict`. */
async function requireBound({ key: bindingKey }: Binding, file: string, key: string): Promise<void> {
  let bundle: OpenBundle;
  try {
    bundle = await openBundle(file, {}, key);
  } catch (error) {
    throw isEvidenceError(error, 'unreadable') ? notOurs(key, error.message) : error;
  }
  try {
    const bound = bindingKey !== null && (await isBound(bundle, bindingKey, key).catch(asUnbound));
    if (!bound) throw notOurs(key, 'it is not bound to it');
  } finally {
    await bundle.close();
  }
}

function asUnbound(error: unknown): false {
  if (isEvidenceError(error)) return false;
  throw error;
}
