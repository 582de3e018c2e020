import { matchesGlob } from 'node:path';

/** A pattern that is a stream's id to the letter means that stream, whatever signs it contains. */
export function matchesStream(streamId: string, glob: string): boolean {
  return streamId === glob || matchesGlob(plain(streamId), plain(glob));
}

/**
 * Globs are made for paths, where `*` passes over names that begin with a dot. In an id a dot is a sign like others.
 */
function plain(text: string): string {
  return text.replace(/\{[^{},]*\.\.[^{},]*\}|\./g, (found) => (found === '.' ? '\ue000' : found));
}

/** Says why a stream is not in a scope of globs; null for one that is. */
export function whyExcluded(
  streamId: string,
  scope: { streams: readonly string[]; exclude: readonly string[] },
): string | null {
  const matching = scope.exclude.find((glob) => matchesStream(streamId, glob));
  if (matching !== undefined) return `--exclude ${matching}`;
  const named = scope.streams.length === 0 || scope.streams.some((glob) => matchesStream(streamId, glob));
  return named ? null : 'not named by --stream';
}
