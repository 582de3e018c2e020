import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import type { KnownPast } from './continuity-question.ts';
import { digestAt } from './overlap.ts';
import { findRewritten } from './rewritten.ts';
import type { Restart } from './schemas.ts';
import { findMissing } from './truncated.ts';

/**
 * Describes an acceptance: its subject, time, author and reason. It does not show that the stream restarted or ended.
 */
export function describeRestart({ head, accepted_at, accepted_by, reason }: Omit<Restart, 'earlier'>): string {
  return `a restart or an end after entry ${head.sequence} of run ${head.run_id} was accepted on ${accepted_at} by ${accepted_by.user}: ${reason}`;
}

/** Describes the newest acceptance; null if there is none. */
export function newestRestart(restarts: readonly Restart[]): string | null {
  const newest = restarts.at(-1);
  return newest === undefined ? null : describeRestart(newest);
}

/** Finds accepted differences, which would otherwise refute the package: entries are still missing or different. */
export function findAccepted(question: KnownPast): StreamFinding[] {
  const { walk, restarts, statement } = question;
  return restarts.flatMap((restart) => {
    const { earlier, head } = restart;
    const before = { ...question, earlier, restarts: [] };
    const isSame = digestAt(walk, head.sequence) === head.hash;
    const still = isSame ? `; entry ${head.sequence} is there as it was exported` : '';
    const accepted = toStreamFinding('continuity/accepted', walk.streamId, `${describeRestart(restart)}${still}`, {
      sequence: head.sequence,
    });
    return [
      accepted,
      ...findMissing(before).map((finding) => asAccepted('continuity/accepted-missing', finding)),
      ...findRewritten(walk, earlier, statement).map((finding) => asAccepted('continuity/accepted', finding)),
    ];
  });
}

function asAccepted(
  code: 'continuity/accepted' | 'continuity/accepted-missing',
  finding: StreamFinding,
): StreamFinding {
  const { stream_id, message, sequence, from, to, expected, actual } = finding;
  return toStreamFinding(code, stream_id, `${message}; that was accepted`, { sequence, from, to, expected, actual });
}
