import type { WalkResult } from '../chain/walk.ts';

/** What a walk saw that later runs are compared with, as it is written down. */
export function seenIn(walk: WalkResult) {
  const { first, head, bound, times } = walk;
  const section = first === null || head === null ? null : { first: first.sequence, last: head.sequence };
  return {
    previous_hash: first?.previous ?? null,
    first_recorded_at: toTime(times.first),
    last_recorded_at: toTime(times.last),
    digests_bind: section !== null && bound,
    entries_sha256: section === null ? null : (walk.contents.get(`${section.first}-${section.last}`) ?? null),
  };
}

function toTime(milliseconds: number): string | null {
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}
