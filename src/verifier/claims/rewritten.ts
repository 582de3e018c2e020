import type { WalkResult } from '../chain/walk.ts';
import { type FindingPlace, type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { entriesIn } from './continuity-question.ts';
import { digestAt } from './overlap.ts';
import type { Span } from './schemas.ts';
import { isPlaced, newestHead } from './span.ts';
import type { StreamStatement } from './statement.ts';

/**
 * Finds entries for which the package or the list of streams states another digest, or the package holds other content,
 * than an earlier run; each number once.
 */
export function findRewritten(walk: WalkResult, earlier: readonly Span[], statement: StreamStatement): StreamFinding[] {
  const found = new Map<number, StreamFinding>();
  const differ = (sequence: number, message: string, place: FindingPlace) => {
    if (!found.has(sequence))
      found.set(sequence, toStreamFinding('continuity/rewritten', walk.streamId, message, place));
  };
  for (const { run_id, entries } of earlier.filter(isPlaced)) {
    const { first_sequence: first, previous_hash, entries_sha256 } = entries;
    const { sequence: last, hash } = entries.head;
    const head = digestAt(walk, last);
    if (head !== undefined && head !== hash)
      differ(last, `entry ${last} is not the one that run ${run_id} exported`, {
        sequence: last,
        expected: hash,
        actual: head,
      });
    const before = digestAt(walk, first - 1);
    if (before !== undefined && before !== previous_hash && !isBeginning(walk, first))
      differ(first - 1, `entry ${first - 1} is not the one that entry ${first} of run ${run_id} follows`, {
        sequence: first - 1,
        expected: previous_hash,
        actual: before,
      });
    const content = entries_sha256 === null ? null : (walk.contents.get(`${first}-${last}`) ?? null);
    if (content !== null && entries_sha256 !== null && content !== entries_sha256)
      differ(last, `${entriesIn(first, last)}: their content is not what run ${run_id} exported`, {
        from: first,
        to: last,
        expected: entries_sha256,
        actual: content,
      });
  }
  const stated = statedOtherwise(walk, earlier, statement);
  return [...found.values(), ...(stated === null || found.has(stated.sequence ?? -1) ? [] : [stated])];
}

/** Finds a stated digest of the newest exported entry, in the list of streams, that differs from the exported one. */
function statedOtherwise(
  { streamId }: WalkResult,
  earlier: readonly Span[],
  { headSequence, headDigest }: StreamStatement,
): StreamFinding | null {
  const newest = newestHead(earlier);
  if (newest === null || newest.sequence !== headSequence || headDigest === null || headDigest === newest.digest)
    return null;
  const message = `the list of streams states another entry ${headSequence} than run ${newest.runId} exported`;
  const place = { sequence: headSequence, expected: newest.digest, actual: headDigest };
  return toStreamFinding('continuity/rewritten', streamId, message, place);
}

/** Reports whether this is a stream's first entry, which states no predecessor that could differ. */
function isBeginning(walk: WalkResult, first: number): boolean {
  return walk.startsAtGenesis && walk.first?.sequence === first;
}
