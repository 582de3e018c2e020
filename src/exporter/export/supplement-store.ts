import { whereDefined } from '../../core/defined.ts';
import { isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import type { Rows } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { announcedSupplementsKey, runDraftKey, supplementsKey } from '../../verifier/records/keys.ts';
import { readRecord } from '../../verifier/records/record-bytes.ts';
import {
  ANNOUNCED_SUPPLEMENTS,
  type RunSupplements,
  type StoredSupplements,
} from '../../verifier/records/supplements.ts';
import { putRecord, whereKept } from '../records/put-record.ts';
import { bindRecord, isBoundRecord } from './binding.ts';
import type { ExportContext } from './context.ts';
import { toStoredForm } from './encrypt.ts';
import { notOurs } from './records.ts';
import { withFetched } from './recover.ts';

/**
 * Stores the supplements of a run, after recording their content so that an interrupted export can resume from it. If
 * another process stored them first, its supplements are returned.
 *
 * @param zip packed and read back.
 * @throws EvidenceError `conflict` if the archive has supplements that this run did not store.
 */
export async function storeSupplements(
  context: ExportContext,
  supplements: RunSupplements,
  key: string,
  zip: { file: string; bytes: number; sha256: string; identity: string },
): Promise<StoredSupplements> {
  const { archive, question } = context;
  const { file, bytes, sha256, encrypted } = await toStoredForm(context, zip);
  const object = { key, bytes, sha256, identity: zip.identity, ...whereDefined({ encrypted }) };
  const stored = { ...supplements, object };
  // A frozen run lists all its objects, so nothing may be added.
  if ((await archive.stat(runDraftKey(question.run_id))) !== null) return stored;
  const announced = { format: FORMATS.supplementsRecord, run_id: question.run_id, ...stored };
  const announcedKey = announcedSupplementsKey(question.run_id, sha256);
  await putRecord(archive, announcedKey, ANNOUNCED_SUPPLEMENTS, bindRecord(context.binding.key, announced));
  try {
    return { ...stored, object: { ...object, ...whereKept(await archive.put(key, { file }, object)) } };
  } catch (error) {
    if (!isEvidenceError(error, 'conflict')) throw error;
    return recoverSupplements(context, key);
  }
}

/** Returns the key of the run's complete stored supplements. Partial supplements are collected again. */
export function storedSupplementsKey(runId: string, objects: Rows<StoredObject>): string | undefined {
  const keys = [false, true].map((isEncrypted) => supplementsKey(runId, { isPartial: false, isEncrypted }));
  return objects.find(({ key }) => keys.includes(key))?.key;
}

/**
 * Reads supplements that this run stored, or that another process exporting the same run stored first.
 * @throws EvidenceError `conflict` if they are not bound to this run.
 */
export async function recoverSupplements(context: ExportContext, key: string): Promise<StoredSupplements> {
  const { archive, question, binding } = context;
  return withFetched(context, key, async ({ file, ...content }) => {
    const announced = announcedSupplementsKey(question.run_id, content.sha256);
    if ((await archive.stat(announced)) === null) throw notOurs(key, `there is no ${announced}`);
    const bytes = await archive.readBytes(announced, ANNOUNCED_SUPPLEMENTS.maxBytes);
    if (!isBoundRecord(binding.key, bytes)) throw notOurs(announced, 'it is not bound to it');
    const {
      format: _format,
      binding: _binding,
      run_id,
      ...supplements
    } = readRecord(ANNOUNCED_SUPPLEMENTS, bytes, announced);
    const { object } = supplements;
    if (run_id !== question.run_id || object.key !== key || object.sha256 !== content.sha256)
      throw notOurs(key, `${announced} is of ${object.key}`);
    // Putting an existing object stores nothing; it returns how the object is stored.
    const stored = await archive.put(key, { file }, content);
    return { ...supplements, object: { ...object, ...whereKept(stored) } };
  });
}
