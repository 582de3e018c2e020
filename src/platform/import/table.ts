import type { ImportResult } from './result.ts';

/** The result as lines for a terminal: a row for each stream, the totals, and what was left out. */
export function toTable(result: ImportResult): string {
  const rows = [...result.streams]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([streamId, { created, repeated }]) => [printable(streamId), String(created), String(repeated)] as const);
  const total = ['total', String(result.created), String(result.repeated)] as const;
  const all = [['stream', 'recorded', 'already there'] as const, ...rows, total];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const lines = all.map(([stream, created, repeated]) =>
    [stream.padEnd(widths[0] ?? 0), created.padStart(widths[1] ?? 0), repeated.padStart(widths[2] ?? 0)].join('  '),
  );
  for (const { reason, count } of result.skipped) lines.push(`not recorded: ${count} ${reason}`);
  return [...lines, ...result.notes].map((line) => `${line}\n`).join('');
}

/** A stream id is anyone's text; control characters in it must not reach the terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '\uFFFD');
}
