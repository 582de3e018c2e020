/** True under `npm run test:soak`, which sets it. */
const EVERY_ROW = process.env['EVERY_ROW'] !== undefined;

/**
 * Selects rows of a long table for `npm test`: the first row of each kind. `npm run test:soak` runs all rows. Each
 * fault and each expected code, which the table exists for, is a kind of its own; repetitions in another size, page
 * width or place of the same damage are not.
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

/**
 * Combines each of the first with each of the second, ordered so that `someRows` by the first covers all of the second.
 */
export function inTurn<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  const turns = others.map((_, turn) =>
    ones.map((one, index): [One, Other] => [one, others[(index + turn) % others.length] as Other]),
  );
  return turns.flat();
}
