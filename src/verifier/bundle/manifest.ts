import { comparePaths } from './path.ts';

/** A manifest, RFC 8493 section 2.1.3, with the lines that are none kept apart. */
export interface Manifest {
  /** SHA-256 in lower-case hex by path. */
  digests: Map<string, string>;
  /** Faults in the text, one sentence per line. */
  flaws: string[];
}

/**
 * The text of a manifest, sorted by path. RFC 8493 section 2.1.3: line feed, carriage return and percent sign, and
 * only those, are percent-encoded in a path.
 */
export function manifestText(files: readonly { path: string; sha256: string }[]): string {
  return files
    .toSorted((one, other) => comparePaths(one.path, other.path))
    .map(({ path, sha256 }) => `${sha256}  ${path.replace(/[\r\n%]/g, encodeURIComponent)}\n`)
    .join('');
}

/**
 * Reads only the form that `sha256sum -c` reads too and that we write: lower-case hex, two spaces, path, line feed. A
 * laxer reader would call a manifest good that another program cannot check.
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
