import { grouped, plural } from '../../../core/plurals.ts';
import { firstOf, type Rows } from '../../../core/rows/rows.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { type ClaimRow, formatClaims } from './claims-table.ts';
import { formatLegend } from './legend.ts';

/** So many streams are seen at a glance; of more, those that are well are a count. */
const FEW = 24;
const SHOWN = 50;

/** Outcomes of streams about which nothing is to be done. */
const WELL: ReadonlySet<string> = new Set(['verified', 'collected', 'empty', 'recorded']);

/** Streams × claims, and what there is to say of the claims; with `--verbose` every stream. */
export function printStreamsTable(rows: Rows<ClaimRow>, printer: Printer): void {
  if (rows.length === 0) return;
  const isWhole = printer.verbose || rows.length <= FEW;
  const shown = isWhole
    ? [...rows]
    : firstOf(
        rows.filter(({ status }) => !WELL.has(status)),
        SHOWN,
      );
  const parts = [
    ...(shown.length > 0 ? [formatClaims(shown)] : []),
    ...(shown.length < rows.length ? [sayLeftOut(rows, shown)] : []),
    `${formatLegend(rows)}\n`,
  ];
  printer.block(parts.join('\n\n'));
}

/** Says how many streams the table leaves out, by their outcomes. */
function sayLeftOut(rows: Rows<ClaimRow>, shown: readonly ClaimRow[]): string {
  const left = countByStatus(rows);
  for (const [status, count] of countByStatus(shown)) left.set(status, (left.get(status) ?? 0) - count);
  const counts = [...left].filter(([, count]) => count > 0).map(([status, count]) => `${grouped(count)} ${status}`);
  const stream = shown.length === 0 ? 'stream' : 'more stream';
  return `${plural(rows.length - shown.length, stream)}: ${counts.join(', ')}. --verbose shows each.`;
}

function countByStatus(rows: Iterable<ClaimRow>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
