/**
 * Names decide only between fields that their values leave equal. A name is compared word by word, however it is
 * written: `streamId`, `stream_id` and `Stream-ID` are the same.
 */
export function nameWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** The last name of a path. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/**
 * The first of the paths by the first pattern that one of them fits; of several the least deep. The patterns are held
 * against the words of the last name, joined by spaces.
 */
export function byName(paths: readonly string[], patterns: readonly RegExp[]): string | undefined {
  const shallowFirst = paths.toSorted((a, b) => a.split('.').length - b.split('.').length);
  for (const pattern of patterns) {
    const found = shallowFirst.find((path) => pattern.test(nameWords(lastName(path)).join(' ')));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** As `byName`; where no name fits, the least deep of all. */
export function preferByName(paths: readonly string[], patterns: readonly RegExp[]): string | undefined {
  return byName(paths, patterns) ?? byName(paths, [/.*/]);
}
