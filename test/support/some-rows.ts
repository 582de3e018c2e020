/** Set by `npm run test:soak`. */
const EVERY_ROW = process.env['EVERY_ROW'] !== undefined;

/**
 * The rows of a long table that `npm test` tries: the first one of each kind. `npm run test:soak` tries all of them. What a
 * table is there for has a kind of its own: each fault, each expected code. A kind is not told apart by what only repeats
 * it: another size, another width of a page, another place of the same damage.
 */
export function someRows<Row>(rows: readonly Row[], kindOf: (row: Row) => string | number | boolean): Row[] {
  if (EVERY_ROW) return [...rows];
  const kinds = new Set<string | number | boolean>();
  return rows.filter((row) => {
    const kind = kindOf(row);
    if (kinds.has(kind)) return false;
    kinds.add(kind);
    return true;
  });
}

/** Each of the one with each of the other, in an order in which `someRows` by the one meets all of the other. */
export function inTurn<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  const turns = others.map((_, turn) =>
    ones.map((one, index): [One, Other] => [one, others[(index + turn) % others.length] as Other]),
  );
  return turns.flat();
}
