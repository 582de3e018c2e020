import { FORMATS } from '../../core/formats.ts';
import { bundleFileName } from '../../verifier/bundle/layout.ts';
import { encryptedBundleKey } from '../../verifier/records/keys.ts';
import { ENCRYPTED_BUNDLE, type StreamRecord } from '../../verifier/records/record.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import { putRecord } from '../records/put-record.ts';
import { bindRecord } from './binding.ts';
import type { ExportContext } from './context.ts';

/** Bundle as stored: the zip itself, or its age encryption. */
export interface StoredForm extends Pick<StreamRecord['bundle'], 'bytes' | 'sha256' | 'encrypted'> {
  file: string;
}

/** @param zip packed and read back. */
export async function toStoredForm(
  { recipients, runtime: { signal } }: ExportContext,
  zip: { file: string; bytes: number; sha256: string },
): Promise<StoredForm> {
  const { file, bytes, sha256: digest } = zip;
  if (recipients === null) return { file, bytes, sha256: digest };
  // Loads the encryption code only if something is encrypted.
  const { encryptFile } = await import('../../verifier/encryption/age.ts');
  const target = `${file}.age`;
  const content = await encryptFile(file, target, recipients, { bytes, sha256: digest }, signal);
  return { file: target, ...content, encrypted: { bytes, sha256: digest, recipients: [...recipients.names] } };
}

/** Lists the names that a stream's bundle may have, for every outcome and every configuration of the archive. */
export function* bundleNames(slug: string): Generator<{ name: string; partial: boolean; isEncrypted: boolean }> {
  for (const status of ['COMPLETE', 'PARTIAL'] as const)
    for (const isEncrypted of [false, true])
      yield { name: bundleFileName(slug, status, isEncrypted), partial: status === 'PARTIAL', isEncrypted };
}

/**
 * Records the content of an encrypted bundle before it is stored, so that a recovering export can record the bundle
 * without reading it.
 */
export async function announceEncrypted(context: ExportContext, record: Unbound<StreamRecord>): Promise<void> {
  const announced = bindRecord(context.binding.key, { ...record, format: FORMATS.encryptedBundle });
  const key = encryptedBundleKey(context.question.run_id, record.bundle.sha256);
  await putRecord(context.archive, key, ENCRYPTED_BUNDLE, announced);
}
