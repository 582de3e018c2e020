/** The smallest and the largest of some texts, by their UTF-16 code units; null for none. */
export function edgesOf<T>(
  rows: Iterable<T>,
  textOf: (row: T) => string | null,
): { first: string; last: string } | null {
  let edges: { first: string; last: string } | null = null;
  for (const row of rows) {
    const text = textOf(row);
    if (text === null) continue;
    if (edges === null) edges = { first: text, last: text };
    if (text < edges.first) edges.first = text;
    if (text > edges.last) edges.last = text;
  }
  return edges;
}
