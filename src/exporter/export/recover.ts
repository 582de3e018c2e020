import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { measure } from '../../verifier/archive/measure.ts';
import { slugOf } from '../../verifier/bundle/layout.ts';
import { bundleKey, encryptedBundleKey } from '../../verifier/records/keys.ts';
import type { Question } from '../../verifier/records/question.ts';
import { ENCRYPTED_BUNDLE, type StreamRecord } from '../../verifier/records/record.ts';
import { readRecord } from '../../verifier/records/record-bytes.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { whereKept } from '../records/put-record.ts';
import { isBoundRecord } from './binding.ts';
import type { ExportContext } from './context.ts';
import { bundleNames } from './encrypt.ts';
import { verifyLeftover } from './leftover-bundle.ts';
import type { FindListed } from './plan.ts';
import { notOurs, readStreamRecord, saysTheSame } from './records.ts';
import { Relisting } from './relist.ts';
import type { Recovered } from './stream-jobs.ts';

/** A bundle as a file, and what it was found to be. */
interface Fetched {
  file: string;
  bytes: number;
  sha256: string;
}

/**
 * The record of a bundle that this run archived without living to record it, or that another process exporting the same
 * run was the first to archive. What it says is found out anew, from the bundle.
 *
 * @param key of the bundle.
 * @param find returns a stream as the service lists it now; the bundle is compared with its listing unless it is encrypted.
 * @throws EvidenceError `conflict` when it is not bound to this run, or does not hold.
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
    // An object that is there already is not stored again, but asked after.
    const stored = await context.archive.put(key, { file }, content);
    return { ...recovered, record: { ...record, bundle: { ...record.bundle, ...whereKept(stored) } } };
  });
}

/**
 * A stream record that this run wrote, once its bundle was verified anew.
 *
 * @param key of the record.
 * @throws EvidenceError `conflict` when either is not bound to this run, or does not hold.
 */
export async function recoverRecord(context: ExportContext, key: string): Promise<Recovered & { bytes: Uint8Array }> {
  const { record, bytes } = await readStreamRecord(context, key);
  const { bundle } = record;
  return withFetched(context, bundle.key, async ({ file, ...content }) => {
    if (content.sha256 !== bundle.sha256) throw notOurs(bundle.key, `it is not the bundle that ${key} records`);
    if (bundle.encrypted !== undefined) return { record, bytes, unread: true };
    const { verdict, identity, ...stated } = await verifyLeftover(context, file, bundle.key);
    const found = { ...record, ...verdict, ...stated, bundle: { ...bundle, identity } };
    if (!saysTheSame(found, record)) throw notOurs(key, 'it says something else of its bundle than was found now');
    return { record, bytes, unread: false };
  });
}

/** Reads what was written down before a bundle was stored that only its recipients can read; it holds for its digest. */
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

/** Checks the key of a bundle. It follows from its stream, and from whether a form is missing in it. */
function checkPlace({ run_id: runId }: Question, key: string, { stream_id, partial }: Unbound<StreamRecord>): void {
  const names = [...bundleNames(slugOf(stream_id))].filter((name) => name.partial === partial);
  if (names.every(({ name }) => bundleKey(runId, name) !== key))
    throw notOurs(key, 'it is not where a bundle of its stream belongs');
}

/** Something of the run, fetched as a file for as long as `use` takes. */
export async function withFetched<T>(
  context: ExportContext,
  key: string,
  use: (bundle: Fetched) => Promise<T>,
): Promise<T> {
  // Files that are fetched from afar go when they were looked at: an archive may be larger than the disk.
  const folder = await mkdtemp(join(context.runtime.workDirectory, `${basename(key)}-`));
  try {
    const file = await context.archive.fetchFile(key, folder).catch((error: unknown) => {
      throw isEvidenceError(error, 'not-found') ? notOurs(key, 'it is recorded, and not there') : error;
    });
    return await use({ file, ...(await measure(createReadStream(file))) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
