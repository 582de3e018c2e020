import { nameUnseen } from '../../../core/html/unseen.ts';
import type { Result } from '../messages.ts';

/**
 * The relation of a bundle to this report, by its identity: the digest of its manifest, whatever file it lies in.
 * - `listed`: the one that the report lists.
 * - `replaced`: it says that it is of this run, and the report lists another one for its stream.
 * - `stray`: it says that it is of this run, and the report lists no such stream.
 * - `elsewhere`: it says that it is of another run.
 * - `unknown`: it cannot be told.
 */
export type Belonging = 'listed' | 'replaced' | 'stray' | 'elsewhere' | 'unknown';

export function belongingOf({ identity, runId, streamId }: Result, ownRun: string): Belonging {
  if (identity === null || !/^[0-9a-f]{64}$/.test(identity)) return 'unknown';
  const leftOut = streamsLeftOut();
  if (document.querySelector(`tr[data-identity="${identity}"]`) !== null || leftOut.has(identity)) return 'listed';
  if (runId === null || streamId === null) return 'unknown';
  if (nameUnseen(runId) !== nameUnseen(ownRun)) return 'elsewhere';
  // As both are seen: a stream that only looks like a listed one is to alarm too.
  return listedNames(leftOut.values()).has(nameUnseen(streamId)) ? 'replaced' : 'stray';
}

function listedNames(more: Iterable<string>): Set<string> {
  const names = document.querySelectorAll('tr[data-identity] summary');
  return new Set([...Array.from(names, ({ textContent }) => textContent ?? ''), ...more].map(nameUnseen));
}

/** Streams by the identity of their bundle, where the table does not list all. */
function streamsLeftOut(): ReadonlyMap<string, string> {
  const lines = document.querySelector('#identities')?.textContent.trim().split('\n') ?? [];
  return new Map(lines.map((line) => JSON.parse(line) as [identity: string, streamId: string]));
}
