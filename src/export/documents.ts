import type { Archive } from '../archive/archive.ts';
import { sha256 } from '../encoding/digest.ts';
import { documentKey } from '../ledger/keys.ts';
import type { RunDocument, RunRecord } from '../ledger/record.ts';

/** Makes the reports of a run that is closed and stores them. The same record gives the same bytes. */
export async function putReports(archive: Archive, record: RunRecord): Promise<RunDocument[]> {
  const { renderReports } = await import('../report/reports.ts');
  const documents: RunDocument[] = [];
  for await (const { name, bytes } of renderReports(record))
    documents.push(await putDocument(archive, documentKey(record.run_id, name), name, bytes));
  return documents;
}

/** Makes the report of a try that ended incomplete. @param prefix of the attempt. */
export async function putAttemptReport(archive: Archive, record: RunRecord, prefix: string): Promise<RunDocument> {
  const { renderAttemptReport } = await import('../report/reports.ts');
  const { name, bytes } = await renderAttemptReport(record);
  return putDocument(archive, `${prefix}${name}`, name, bytes);
}

/** Stores an object of the run that its record will name. */
export async function putDocument(
  archive: Archive,
  key: string,
  name: string,
  bytes: Uint8Array,
): Promise<RunDocument> {
  const stored = { bytes: bytes.length, sha256: sha256(bytes) };
  const { version_id } = await archive.put(key, { bytes }, stored);
  return { name, key, ...stored, ...(version_id === undefined ? {} : { version_id }) };
}
