import { sha256 } from '../../core/digest.ts';
import { type RowMap, RowMapBuilder } from '../../core/rows/map.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import type { Span } from '../claims/schemas.ts';
import { heldIn } from '../claims/span.ts';
import type { AcceptedFinding } from '../records/contradiction.ts';
import { ACCEPTANCE, type Acceptance, type LedgerHead, type RunRecord } from '../records/record.ts';
import { readRecord } from '../records/record-bytes.ts';

/** Reports whether a run states anything about a stream: that it vanished, or which entries were exported. */
export function hasStream({ streams, vanished }: RunRecord, streamId: string): boolean {
  return [streams, vanished].some((some) => some.some(({ stream_id }) => stream_id === streamId));
}

/**
 * Returns the finding of a run against earlier runs of a stream; null if there is none, undefined if the stream was not
 * read in order, so that later runs could not be compared with it.
 */
export function acceptableIn(record: RunRecord, streamId: string): AcceptedFinding | null | undefined {
  const { run_id, package_period: period } = record;
  const gone = record.vanished.find(({ stream_id }) => stream_id === streamId);
  if (gone !== undefined) return { run_id, finding: gone.finding.code, message: gone.finding.message, seen: null };
  const stream = record.streams.find(({ stream_id }) => stream_id === streamId);
  if (stream?.claims.continuity.state !== 'refuted') return null;
  const entries = heldIn(stream);
  if (entries === undefined) return undefined;
  const found = stream.findings.find(({ code, severity }) => code.startsWith('continuity/') && severity === 'error');
  return {
    run_id,
    finding: found?.code ?? 'continuity',
    message: found?.message ?? stream.claims.continuity.reason ?? 'continuity is refuted',
    seen: { run_id, period, part: false, entries },
  };
}

/** Returns the heads after an acceptance: for its stream, the head that the accepted run saw, if any. */
export function replaceHead(heads: RowMap<LedgerHead>, streamId: string, seen: Span | null): RowMap<LedgerHead> {
  const entries = seen?.entries ?? null;
  const after = new RowMapBuilder<LedgerHead>();
  for (const [id, head] of heads)
    if (id !== streamId) after.add(id, head);
    else if (seen !== null && entries !== null) after.add(id, { ...entries.head, run_id: seen.run_id });
  return after.finish();
}

/** @throws EvidenceError `unreadable`, `not-found`. */
export async function readAcceptance(
  archive: ReadableArchive,
  key: string,
): Promise<{ record: Acceptance; sha256: string }> {
  const bytes = await archive.readBytes(key, ACCEPTANCE.maxBytes);
  return { record: readRecord(ACCEPTANCE, bytes, key), sha256: sha256(bytes) };
}
