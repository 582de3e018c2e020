import type { Figure, Row } from './row.ts';

const HEAD = ['what', 'ours', 'limit/peer', 'ratio', 'goal'];
/** Numeric columns are right-aligned; the others are left-aligned. */
const NUMERIC = [false, true, true, true, false];

export function formatTable(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => (NUMERIC[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}

function cellsOf({ what, ours, other, ratio, goal, met }: Row): string[] {
  const wanted =
    goal === null
      ? ''
      : `${goal.bound} ${goal.of === 'ratio' ? `${digits(goal.value)} ×` : format({ ...ours, value: goal.value })}`;
  return [
    what,
    format(ours),
    other === null ? '–' : `${other.name} ${format(other)}`,
    ratio === null ? '–' : digits(ratio),
    goal === null ? '–' : `${met ? '✓' : '✗'} ${wanted}`,
  ];
}

function format({ value, unit }: Figure): string {
  return `${digits(value)} ${unit}`;
}

/** Rounds to three digits, the precision of a noisy machine. */
function digits(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
