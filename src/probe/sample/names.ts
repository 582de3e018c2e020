/**
 * Splits a name into lowercase words, so that `streamId`, `stream_id` and `Stream-ID` are equal. Names only decide
 * between fields that values do not distinguish.
 */
export function nameWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** Returns the names in a list that white space separates. */
export function namesIn(list: string): string[] {
  return list.trim().split(/\s+/);
}

/** Returns the last name of a path. */
export function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/**
 * Returns the first path that matches, trying one pattern after another; the shallowest of several. Patterns are
 * matched with the words of the last name, joined by spaces.
 */
export function byName(paths: readonly string[], patterns: readonly RegExp[]): string | undefined {
  const shallowFirst = paths.toSorted((a, b) => a.split('.').length - b.split('.').length);
  for (const pattern of patterns) {
    const found = shallowFirst.find((path) => pattern.test(nameWords(lastName(path)).join(' ')));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds a path like `byName`, or the shallowest path if no name matches. */
export function preferByName(paths: readonly string[], patterns: readonly RegExp[]): string | undefined {
  return byName(paths, patterns) ?? byName(paths, [/.*/]);
}
