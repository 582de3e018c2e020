import { sha256 } from '../../core/digest.ts';
import { isEvidenceError } from '../../core/errors.ts';
import { runDraftKey } from '../../verifier/records/keys.ts';
import {
  type RunDraft,
  runDraftSchema,
  type RunDocument,
  type RunRecord,
  readRecord,
  toRecordBytes,
} from '../../verifier/records/record.ts';
import { bindRecord, isBoundRecord } from './binding.ts';
import type { ExportContext } from './context.ts';
import { putDocument } from './documents.ts';
import type { StoredRecord } from './stream-jobs.ts';
import { notOurs } from './records.ts';

/** A run that is closed: nothing about it changes any more, only its reports and its record may be missing. */
export interface FrozenRun {
  closing: RunDraft;
  document: RunDocument;
}

const MAX_CLOSING_BYTES = 2 ** 30;
const NAME = 'run-draft.json';

/** Who closes a run. */
type DraftContext = Pick<ExportContext, 'archive' | 'bindingKey'>;

/**
 * Null when the run was not closed yet.
 * @throws EvidenceError `conflict` when it was not closed by this export, nor by one that has the same keys.
 */
export async function readRunDraft(closer: DraftContext, runId: string): Promise<FrozenRun | null> {
  const key = runDraftKey(runId);
  if ((await closer.archive.stat(key)) === null) return null;
  const bytes = await closer.archive.readBytes(key, MAX_CLOSING_BYTES);
  if (!isBoundRecord(closer.bindingKey, bytes)) throw notOurs(key, 'it is not bound to it');
  return keepRunDraft(closer, key, bytes);
}

/** Writes down what the run came to. Where another process closed the same run first, its word counts. */
export async function freezeRun(closer: DraftContext, record: RunRecord): Promise<FrozenRun> {
  const { format: _format, documents: _documents, binding: _binding, streams, ...rest } = record;
  const records = streams.flatMap(({ record: stored }) => (stored === null ? [] : [stored]));
  const closing = bindRecord(closer.bindingKey, { format: 'evidence-run-draft/1', ...rest, streams: records });
  try {
    return await keepRunDraft(closer, runDraftKey(record.run_id), toRecordBytes(closing));
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readRunDraft(closer, record.run_id) : null;
    if (other === null) throw error;
    return other;
  }
}

/**
 * Stores it, or finds it stored: either way the archive says in which version. It is taken as whoever goes on with it
 * will read it, down to the order of its members, since the reports are made from it.
 */
async function keepRunDraft({ archive }: DraftContext, key: string, bytes: Uint8Array): Promise<FrozenRun> {
  const closing = readRecord(runDraftSchema, bytes, key);
  const content = { bytes: bytes.length, sha256: sha256(bytes) };
  return { closing, document: await putDocument(archive, key, NAME, { bytes }, content) };
}

/**
 * The record of a closed run, but for its documents.
 * @param recorded the stream records that are there.
 * @throws EvidenceError `conflict` when one of those that it was closed with is not among them.
 */
export function recordOf({ closing }: FrozenRun, recorded: readonly StoredRecord[]): RunRecord {
  const { format: _format, binding: _binding, streams, ...rest } = closing;
  const byKey = new Map(recorded.map((stored) => [stored.key, stored]));
  return {
    format: 'evidence-run/1',
    ...rest,
    streams: streams.map((stored) => {
      const found = byKey.get(stored.key);
      if (found?.sha256 !== stored.sha256)
        throw notOurs(stored.key, 'it is not the record that the run was closed with');
      const { format: _ofStream, run_id: _run, recorded_at: _at, ...record } = found.record;
      return { ...record, record: stored };
    }),
    documents: [],
    binding: null,
  };
}
