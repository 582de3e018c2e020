import { matchesGlob } from 'node:path';
import type { Exclusion } from './record.ts';

/**
 * Reports whether a glob selects a stream. A pattern that equals a stream's id selects it, whatever characters it has.
 */
export function matchesStream(streamId: string, glob: string): boolean {
  return streamId === glob || matchesGlob(plain(streamId), plain(glob));
}

/**
 * Replaces dots, because globs are made for paths, in which `*` skips names that begin with a dot. In an id, a dot is a
 * character like any other.
 */
function plain(text: string): string {
  return text.replace(/\{[^{},]*\.\.[^{},]*\}|\./g, (found) => (found === '.' ? '\ue000' : found));
}

/** Returns the exclusion of a stream that is not in a scope of globs; null if it is. */
export function exclusionOf(
  streamId: string,
  scope: { streams: readonly string[]; exclude: readonly string[] },
): Exclusion | null {
  const pattern = scope.exclude.find((glob) => matchesStream(streamId, glob)) ?? null;
  const named = scope.streams.length === 0 || scope.streams.some((glob) => matchesStream(streamId, glob));
  return named && pattern === null ? null : { stream_id: streamId, pattern };
}
