import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { whereDefined } from '../../core/defined.ts';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { FORMATS } from '../../core/formats.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import { runDraftKey } from '../../verifier/records/keys.ts';
import {
  RUN_DRAFT,
  RUN_RECORD,
  type RunDocument,
  type RunDraft,
  type RunRecord,
  type RunStream,
} from '../../verifier/records/record.ts';
import { recordPieces } from '../../verifier/records/record-bytes.ts';
import type { StoredAs } from '../../verifier/records/stored-object.ts';
import { putLongFile } from '../records/put-record.ts';
import { bindPieces, isBoundStream } from './binding.ts';
import type { ExportContext } from './context.ts';
import { withFile } from './pieces.ts';
import { notOurs } from './records.ts';
import { withinRun } from './run-record.ts';
import type { StoredRecord } from './stream-jobs.ts';

/** Frozen run: its content no longer changes; only reports and the run record may be missing. */
export interface FrozenRun {
  draft: RunDraft;
  document: RunDocument;
}

const NAME = 'run-draft.json';

/** Parts of the context that freezing a run needs. */
type DraftContext = Pick<ExportContext, 'archive' | 'binding'> & { runtime: { workDirectory: string } };

/**
 * Returns null if the run is not frozen yet.
 * @throws EvidenceError `conflict` if an export with other keys has frozen the run.
 */
export async function readRunDraft(context: DraftContext, runId: string): Promise<FrozenRun | null> {
  const { archive, binding, runtime } = context;
  const key = runDraftKey(runId);
  if ((await archive.stat(key)) === null) return null;
  const folder = await mkdtemp(join(runtime.workDirectory, 'draft-'));
  try {
    const file = await archive.fetchFile(key, folder);
    if (!(await isBoundStream(binding.key, createReadStream(file)))) throw notOurs(key, 'it is not bound to it');
    return await keepRunDraft(context, key, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Records the result of the run. If another process froze the run first, its draft is returned. */
export async function freezeRun(
  context: DraftContext,
  record: RunRecord,
  maxBytes = RUN_RECORD.maxBytes,
): Promise<FrozenRun> {
  const { format: _format, documents: _documents, binding: _binding, streams, ...rest } = record;
  requireRoom(record, maxBytes);
  const records = new RowsBuilder<StoredAs>();
  for (const { record: stored } of streams) if (stored !== null) records.push(stored);
  const unbound = { format: FORMATS.runDraft, ...rest, streams: records.finish() };
  const draft = { ...unbound, binding: bindPieces(context.binding.key, recordPieces(unbound)) };
  const key = runDraftKey(record.run_id);
  try {
    return await withFile(context.runtime, NAME, recordPieces(draft), (file) => keepRunDraft(context, key, file));
  } catch (error) {
    const other = isEvidenceError(error, 'conflict') ? await readRunDraft(context, record.run_id) : null;
    if (other === null) throw error;
    return other;
  }
}

/** Room for the members that the record gains with its reports. */
const RESERVED_BYTES = 64 * 1024;

/**
 * Throws if the run record would be too large to be read back, because the frozen run could never be finalized. @throws
 * EvidenceError `service`.
 */
function requireRoom(record: RunRecord, maxBytes: number): void {
  let bytes = RESERVED_BYTES;
  for (const piece of recordPieces(record)) bytes += Buffer.byteLength(piece);
  if (bytes <= maxBytes) return;
  throw new EvidenceError(
    'service',
    `the record of run ${record.run_id} would have ${bytes} bytes; the maximum is ${maxBytes}`,
    {
      nextStep: `The run stays open. Abandon it with \`evidence runs abandon ${record.run_id} --reason WHY\`, and export its streams in several runs (--stream, --request).`,
    },
  );
}

/**
 * Stores the draft unless it is already stored, and returns its version in the archive. The draft is returned as its
 * reader has read it, including the order of members, because the reports are rendered from it.
 */
async function keepRunDraft({ archive }: DraftContext, key: string, file: string): Promise<FrozenRun> {
  const { record: draft, stored } = await putLongFile(archive, key, RUN_DRAFT, file);
  const { bytes, sha256, version_id } = stored;
  return { draft, document: { name: NAME, key, bytes, sha256, ...whereDefined({ version_id }) } };
}

/**
 * Reports whether these are exactly the stream records that the run was frozen with.
 * @param recorded sorted by stream id, as in the draft.
 */
export function areRecordsOf({ draft: { streams } }: FrozenRun, recorded: Rows<StoredRecord>): boolean {
  if (streams.length !== recorded.length) return false;
  const found = recorded[Symbol.iterator]();
  return streams.every((named) => isSame(named, found.next().value));
}

/**
 * Returns the record of a frozen run without its documents.
 * @param recorded existing stream records, sorted by stream id.
 * @throws EvidenceError `conflict` if they differ from those in the draft.
 */
export function recordOf({ draft }: FrozenRun, recorded: Rows<StoredRecord>): RunRecord {
  const { format: _format, binding: _binding, streams: named, ...rest } = draft;
  const records = recorded[Symbol.iterator]();
  const streams = new RowsBuilder<RunStream>();
  for (const stored of named) {
    const found: StoredRecord | undefined = records.next().value;
    if (found === undefined || !isSame(stored, found))
      throw notOurs(stored.key, 'it is not the record that the run draft fixed');
    streams.push({ ...withinRun(found.record), record: stored });
  }
  return { format: FORMATS.run, ...rest, streams: streams.finish(), documents: [], binding: null };
}

function isSame(named: StoredAs, found: StoredRecord | undefined): boolean {
  return found?.key === named.key && found.sha256 === named.sha256;
}
