/** Two texts line by line: `-` what only the first has, `+` what only the second has, in their order. */
export function difference(before: string, after: string): string {
  const [old, next] = [before.split('\n'), after.split('\n')];
  const lengths = commonLengths(old, next);
  const lines: string[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < next.length) {
    if (at < old.length && old[at] === next[to]) {
      at++;
      to++;
    } else if (to >= next.length || (at < old.length && lengthAt(lengths, at + 1, to) >= lengthAt(lengths, at, to + 1)))
      lines.push(`- ${old[at++]}`);
    else lines.push(`+ ${next[to++]}`);
  }
  return lines.join('\n');
}

function lengthAt(lengths: readonly number[][], at: number, to: number): number {
  return lengths[at]?.[to] ?? 0;
}

/** For each pair of places, how many lines the rest of both has in common (longest common subsequence). */
function commonLengths(old: readonly string[], next: readonly string[]): number[][] {
  const lengths = Array.from({ length: old.length + 1 }, () => new Array<number>(next.length + 1).fill(0));
  for (let at = old.length - 1; at >= 0; at--)
    for (let to = next.length - 1; to >= 0; to--) {
      const row = lengths[at];
      if (row === undefined) continue;
      row[to] =
        old[at] === next[to]
          ? lengthAt(lengths, at + 1, to + 1) + 1
          : Math.max(lengthAt(lengths, at + 1, to), lengthAt(lengths, at, to + 1));
    }
  return lengths;
}
