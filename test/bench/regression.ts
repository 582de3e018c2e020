import type { Row } from './row.ts';

/** A ratio that is worse than the one on record by more than this is no noise. */
const TIMES = 2;

/**
 * The rows that became worse by half than the ratios on record, as sentences.
 * @throws Error when a row on record was not measured: its record would guard nothing.
 */
export function findRegressions(rows: readonly Row[], recorded: Readonly<Record<string, number>>): string[] {
  return Object.entries(recorded).flatMap(([id, before]) => {
    const row = rows.find((candidate) => candidate.id === id);
    if (row?.ratio == null || row.goal === null) throw new Error(`${id} is on record and was not measured`);
    const worse = row.goal.bound === '≥' ? before / row.ratio : row.ratio / before;
    return worse > TIMES ? [`${id}: ${row.ratio.toPrecision(3)}, on record ${before}`] : [];
  });
}
