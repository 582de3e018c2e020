import type { Printer } from '../../../core/terminal/printer.ts';
import { grouped, plural } from '../../../core/words.ts';
import { type ClaimRow, formatClaims } from './claims-table.ts';
import { formatLegend } from './legend.ts';

/** So many streams are seen at a glance; of more, those that are well are a count. */
const FEW = 24;
const SHOWN = 50;

/** Of these nothing is to be done about a stream. */
const WELL: ReadonlySet<string> = new Set(['verified', 'collected', 'empty', 'recorded']);

/** Streams × claims, and what there is to say of the claims; with `--verbose` every stream. */
export function printStreamsTable(rows: readonly ClaimRow[], printer: Printer): void {
  if (rows.length === 0) return;
  const isWhole = printer.verbose || rows.length <= FEW;
  const amiss = rows.filter(({ status }) => !WELL.has(status));
  const shown = isWhole ? rows : amiss.slice(0, SHOWN);
  const parts = [
    ...(shown.length > 0 ? [formatClaims(shown)] : []),
    ...(shown.length < rows.length ? [sayLeftOut(rows, new Set(shown))] : []),
    `${formatLegend(rows)}\n`,
  ];
  printer.block(parts.join('\n\n'));
}

/** How many streams the table leaves out, by what came of them. */
function sayLeftOut(rows: readonly ClaimRow[], shown: ReadonlySet<ClaimRow>): string {
  const left = rows.filter((row) => !shown.has(row));
  const counts = [...Map.groupBy(left, ({ status }) => status)].map(
    ([status, { length }]) => `${grouped(length)} ${status}`,
  );
  return `${plural(left.length, shown.size === 0 ? 'stream' : 'more stream')}: ${counts.join(', ')}. --verbose shows each.`;
}
