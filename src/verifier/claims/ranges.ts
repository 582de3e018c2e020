/** Range of sequence numbers, both ends included. */
export interface Range {
  from: number;
  to: number;
}

/** Returns the same numbers as sorted ranges that neither overlap nor touch. */
export function union(ranges: readonly Range[]): Range[] {
  const joined: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && range.from <= last.to + 1) last.to = Math.max(last.to, range.to);
    else if (range.from <= range.to) joined.push({ ...range });
  }
  return joined;
}

/** Returns the numbers of `ranges` that are in none of `others`. */
export function without(ranges: readonly Range[], others: readonly Range[]): Range[] {
  let left = union(ranges);
  for (const { from, to } of others)
    left = left.flatMap((range) =>
      [
        { from: range.from, to: Math.min(range.to, from - 1) },
        { from: Math.max(range.from, to + 1), to: range.to },
      ].filter((part) => part.from <= part.to),
    );
  return union(left);
}

/** Counts the numbers in ranges, each once. */
export function lengthOf(ranges: readonly Range[]): number {
  return union(ranges).reduce((sum, { from, to }) => sum + to - from + 1, 0);
}
