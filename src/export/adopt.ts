import { createReadStream } from 'node:fs';
import { measure } from '../archive/content.ts';
import { type Verification, verificationSchema } from '../bundle/documents.ts';
import { readMissing } from '../bundle/missing.ts';
import { openBundle } from '../bundle/read.ts';
import { EvidenceError } from '../errors.ts';
import { bundleKey, encryptedBundleKey } from '../ledger/keys.ts';
import { encryptedBundleSchema, readRecord, type StreamRecord, whereKept } from '../ledger/record.ts';
import type { ExportContext } from './context.ts';
import { bundleNames } from './encrypt.ts';

const MAX_VERIFICATION_BYTES = 256 * 2 ** 20;

/**
 * The record of a bundle that an interrupted run archived without living to record it; null when there is none. The
 * bundle is whole or it would not be there, and its own verification.json says what the record has to say.
 *
 * @param folder for what is fetched.
 * @throws EvidenceError `conflict` when what lies there is not this run's bundle of this stream.
 */
export async function adoptBundle(
  context: ExportContext,
  streamId: string,
  slug: string,
  folder: string,
): Promise<StreamRecord | null> {
  for (const { name, partial, isEncrypted } of bundleNames(slug)) {
    const key = bundleKey(context.runId, name);
    if ((await context.archive.stat(key)) === null) continue;
    if (isEncrypted) return readEncryptedOrphan(context, streamId, key, folder);
    return readOrphan(context, streamId, key, partial, folder);
  }
  return null;
}

/**
 * The record of the bundle that another process, exporting the same run at the same time, was the first to archive.
 *
 * @throws EvidenceError `conflict` when what lies there is not this run's bundle of this stream.
 */
export async function adoptRival(
  context: ExportContext,
  streamId: string,
  slug: string,
  folder: string,
): Promise<StreamRecord> {
  const record = await adoptBundle(context, streamId, slug, folder);
  if (record !== null) return record;
  throw notOurs(streamId, 'it is not where it was found a moment ago');
}

async function readOrphan(
  context: ExportContext,
  streamId: string,
  key: string,
  partial: boolean,
  folder: string,
): Promise<StreamRecord> {
  const file = await context.archive.fetchFile(key, folder);
  const content = await measure(createReadStream(file));
  const bundle = await openBundle(file);
  try {
    const [problem] = await bundle.checkIntegrity();
    if (problem !== undefined) throw notOurs(key, problem.message);
    const bytes = await bundle.readFile('data/verification.json', MAX_VERIFICATION_BYTES);
    const verification: Verification = readRecord(verificationSchema, bytes, `${key}:data/verification.json`);
    if (verification.run_id !== context.runId || verification.verdict.stream_id !== streamId)
      throw notOurs(key, `it holds run ${verification.run_id}, stream "${verification.verdict.stream_id}"`);
    // What is there already is not stored again, but asked after.
    const stored = await context.archive.put(key, { file }, content);
    return {
      format: 'evidence-stream-record/1',
      run_id: context.runId,
      ...verification.verdict,
      partial,
      missing: await readMissing(bundle),
      bundle: { key, ...content, identity: bundle.identity ?? '', ...whereKept(stored) },
      recorded_at: context.now().toISOString(),
    };
  } finally {
    await bundle.close();
  }
}

/** What it holds only its recipients can read; what was written down before it was stored, says so for its digest. */
async function readEncryptedOrphan(
  context: ExportContext,
  streamId: string,
  key: string,
  folder: string,
): Promise<StreamRecord> {
  const file = await context.archive.fetchFile(key, folder);
  const content = await measure(createReadStream(file));
  const announced = encryptedBundleKey(context.runId, content.sha256);
  if ((await context.archive.stat(announced)) === null) throw notOurs(key, `there is no ${announced}`);
  const bytes = await context.archive.readBytes(announced, MAX_VERIFICATION_BYTES);
  const { format: _format, bundle, ...rest } = readRecord(encryptedBundleSchema, bytes, announced);
  if (
    rest.run_id !== context.runId ||
    rest.stream_id !== streamId ||
    bundle.key !== key ||
    bundle.sha256 !== content.sha256
  )
    throw notOurs(key, `${announced} is of ${bundle.key}, stream "${rest.stream_id}"`);
  const stored = await context.archive.put(key, { file }, content);
  return {
    format: 'evidence-stream-record/1',
    ...rest,
    bundle: { ...bundle, ...whereKept(stored) },
    recorded_at: context.now().toISOString(),
  };
}

function notOurs(key: string, why: string): EvidenceError {
  return new EvidenceError('conflict', `${key} has no record, and it is not what this run would put there: ${why}`, {
    nextStep: 'Keep the archive as it is and export again with --revise.',
  });
}
