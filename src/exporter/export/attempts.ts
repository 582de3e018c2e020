import type { Rows } from '../../core/rows/rows.ts';
import type { StoredObject } from '../../verifier/archive/archive.ts';
import { ATTEMPT } from '../../verifier/records/attempt.ts';
import { attemptFileOf } from '../../verifier/records/keys.ts';
import type { RunRecord, RunStream } from '../../verifier/records/record.ts';
import { readRecord } from '../../verifier/records/record-bytes.ts';
import { isBoundRecord } from './binding.ts';
import type { ExportContext, RunState } from './context.ts';

type Attempt = RunRecord['attempts'][number];

/** The tries of this run that ended incomplete and wrote it down. What somebody else put there is none of them. */
export async function readAttempts(
  { archive, binding }: Pick<ExportContext, 'archive' | 'binding'>,
  objects: Rows<StoredObject>,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const { key } of objects) {
    if (attemptFileOf(key) !== 'attempt.json') continue;
    const bytes = await archive.readBytes(key, ATTEMPT.maxBytes);
    if (!isBoundRecord(binding.key, bytes)) continue;
    const { started_at, ended_at } = readRecord(ATTEMPT, bytes, key);
    attempts.push({ started_at, ended_at });
  }
  return attempts;
}

/**
 * Every export that worked on the run, the oldest first: this one, those that wrote down that they ended, and those of
 * which only what they received is left, because they were interrupted.
 */
export function listAttempts(
  { start, attempts }: Pick<RunState, 'start' | 'attempts'>,
  streams: Rows<Pick<RunStream, 'collected'>>,
  finishedAt: string,
): Attempt[] {
  const ends = new Map<string, string | null>(
    streams.map(({ collected }) => [collected.export_started_at, null] as const),
  );
  for (const { started_at, ended_at } of attempts) ends.set(started_at, ended_at);
  ends.set(start.at.toISOString(), finishedAt);
  return [...ends]
    .map(([started_at, ended_at]) => ({ started_at, ended_at }))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
}
