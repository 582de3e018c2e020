import { comparePaths } from './path.ts';

/** Manifest (RFC 8493 section 2.1.3), with its malformed lines kept apart. */
export interface Manifest {
  /** SHA-256 in lower-case hex by path. */
  digests: Map<string, string>;
  /** Faults in the text, one sentence per line. */
  flaws: string[];
}

/**
 * Returns the text of a manifest, sorted by path. In a path, line feed, carriage return and percent sign, and only
 * those, are percent-encoded (RFC 8493 section 2.1.3).
 */
export function manifestText(files: readonly { path: string; sha256: string }[]): string {
  return files
    .toSorted((one, other) => comparePaths(one.path, other.path))
    .map(({ path, sha256 }) => `${sha256}  ${path.replace(/[\r\n%]/g, encodeURIComponent)}\n`)
    .join('');
}

/**
 * Reads a manifest strictly, in the form that we write and `sha256sum -c` reads: lower-case hex, two spaces, path, line
 * feed. A lenient reader would accept manifests that other programs cannot check.
 */
export function parseManifest(text: string): Manifest {
  const digests = new Map<string, string>();
  const flaws: string[] = [];
  const lines = text.split('\n');
  if (lines.pop() !== '') flaws.push('the last line does not end with a line feed');
  for (const [index, line] of lines.entries()) {
    const match = /^([0-9a-f]{64}) {2}([^ *\r][^\r]*)$/.exec(line);
    const [, digest, encoded] = match ?? [];
    if (digest === undefined || encoded === undefined) {
      flaws.push(`line ${index + 1} is not a SHA-256, two spaces and a path`);
      continue;
    }
    const path = encoded.replace(/%(0A|0D|25)/gi, decodeURIComponent);
    if (digests.has(path)) flaws.push(`line ${index + 1} names ${JSON.stringify(path)} a second time`);
    else digests.set(path, digest);
  }
  return { digests, flaws };
}
