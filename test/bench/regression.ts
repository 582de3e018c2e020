import type { Row } from './row.ts';

/** Factor beyond which a worse ratio is not noise. */
const TIMES = 2;

/**
 * Describes the rows that became worse than recorded.
 * @throws Error if a recorded row was not measured, because its record would guard nothing.
 */
export function findRegressions(rows: readonly Row[], recorded: Readonly<Record<string, number>>): string[] {
  return Object.entries(recorded).flatMap(([id, before]) => {
    const row = rows.find((candidate) => candidate.id === id);
    if (row?.ratio == null || row.goal === null) throw new Error(`${id} is on record and was not measured`);
    const worse = row.goal.bound === '≥' ? before / row.ratio : row.ratio / before;
    return worse > TIMES ? [`${id}: ${row.ratio.toPrecision(3)}, on record ${before}`] : [];
  });
}
