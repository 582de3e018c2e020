import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { runDraftKey } from '../../verifier/records/keys.ts';
import { putReadable } from '../../verifier/records/put-record.ts';
import {
  RUN_DRAFT,
  RUN_RECORD,
  type RunDocument,
  type RunDraft,
  type RunRecord,
} from '../../verifier/records/record.ts';
import { readRecord, recordPieces, toRecordBytes } from '../../verifier/records/record-bytes.ts';
import { bindRecord, isBoundRecord } from './binding.ts';
import type { ExportContext } from './context.ts';
import { notOurs } from './records.ts';
import type { StoredRecord } from './stream-jobs.ts';

/** A run that is frozen: nothing about it changes any more, only its reports and its record may be missing. */
export interface FrozenRun {
  draft: RunDraft;
  document: RunDocument;
}

const NAME = 'run-draft.json';

/** What freezing a run takes. */
type DraftContext = Pick<ExportContext, 'archive' | 'binding'>;

/**
 * Null when the run was not frozen yet.
 * @throws EvidenceError `conflict` when it was not frozen by this export, nor by one that has the same keys.
 */
export async function readRunDraft(context: DraftContext, runId: string): Promise<FrozenRun | null> {
  const key = runDraftKey(runId);
  if ((await context.archive.stat(key)) === null) return null;
  const bytes = await context.archive.readBytes(key, RUN_DRAFT.maxBytes);
  if (!isBoundRecord(context.binding.key, bytes)) throw notOurs(key, 'it is not bound to it');
  return keepRunDraft(context, key, bytes);
}

/** Writes down what the run came to. Where another process froze the same run first, its word counts. */
export async function freezeRun(context: DraftContext, record: RunRecord): Promise<FrozenRun> {
  const { format: _format, documents: _documents, binding: _binding, streams, ...rest } = record;
  const records = streams.flatMap(({ record: stored }) => (stored === null ? [] : [stored]));
  requireRoom(record);
  const draft = bindRecord(context.binding.key, { format: FORMATS.runDraft, ...rest, streams: records });
  try {
    return await keepRunDraft(context, runDraftKey(record.run_id), toRecordBytes(draft));
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readRunDraft(context, record.run_id) : null;
    if (other === null) throw error;
    return other;
  }
}

/** Bytes for what a record has more once its reports are made. */
const RESERVED_BYTES = 64 * 1024;

/** A frozen run whose record cannot be read could never be finalized. @throws EvidenceError `service`. */
function requireRoom(record: RunRecord): void {
  let bytes = RESERVED_BYTES;
  for (const piece of recordPieces(record)) bytes += Buffer.byteLength(piece);
  if (bytes <= RUN_RECORD.maxBytes) return;
  throw new EvidenceError(
    'service',
    `the record of run ${record.run_id} would have ${bytes} bytes, and at most ${RUN_RECORD.maxBytes} are read again`,
    {
      nextStep: `The run stays open. Give it up, with \`evidence runs abandon ${record.run_id} --reason WHY\`, and export its streams in parts, with --stream, each in a run of its own (--request).`,
    },
  );
}

/**
 * Stores it, or finds it stored: either way the archive says in which version. It is taken as whoever goes on with it
 * will read it, down to the order of its members, since the reports are made from it.
 */
async function keepRunDraft({ archive }: DraftContext, key: string, bytes: Uint8Array): Promise<FrozenRun> {
  const draft = readRecord(RUN_DRAFT, bytes, key);
  return { draft, document: { name: NAME, ...(await putReadable(archive, key, bytes)) } };
}

/**
 * The record of a frozen run, but for its documents.
 * @param recorded the stream records that are there.
 * @throws EvidenceError `conflict` when one of those that it was frozen with is not among them.
 */
export function recordOf({ draft }: FrozenRun, recorded: readonly StoredRecord[]): RunRecord {
  const { format: _format, binding: _binding, streams, ...rest } = draft;
  const byKey = new Map(recorded.map((stored) => [stored.key, stored]));
  return {
    format: FORMATS.run,
    ...rest,
    streams: streams.map((stored) => {
      const found = byKey.get(stored.key);
      if (found?.sha256 !== stored.sha256)
        throw notOurs(stored.key, 'it is not the record that the run was frozen with');
      const { format: _ofStream, run_id: _run, recorded_at: _at, ...record } = found.record;
      return { ...record, record: stored };
    }),
    documents: [],
    binding: null,
  };
}
