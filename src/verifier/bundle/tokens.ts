import { sha256 } from '../../core/digest.ts';

/** An RFC 3161 token as a file beside the package that holds it. */
export interface TokenFile {
  path: string;
  content: Uint8Array;
  /** Hex. */
  sha256: string;
}

/**
 * The tokens of a package as files, so that `openssl` can check them: `<sequence>.tsr`, and where an entry has several
 * that differ, `<sequence>.2.tsr` and so on, in the order of the package.
 */
export function tokenFiles(checkpoints: readonly { sequence: number; token: Uint8Array | null }[]): TokenFile[] {
  const bySequence = new Map<number, Map<string, TokenFile>>();
  for (const { sequence, token: content } of checkpoints) {
    if (content === null) continue;
    const tokens = bySequence.get(sequence) ?? new Map<string, TokenFile>();
    bySequence.set(sequence, tokens);
    const digest = sha256(content);
    if (tokens.has(digest)) continue;
    const number = tokens.size === 0 ? '' : `.${tokens.size + 1}`;
    tokens.set(digest, { path: `data/checkpoints/${sequence}${number}.tsr`, content, sha256: digest });
  }
  return [...bySequence.values()].flatMap((tokens) => [...tokens.values()]);
}
