import type { Reader } from '../database/database.ts';
import { EntryPages } from './entry-rows.ts';
import { type PackageRow, withoutTokens } from './packing.ts';
import { renderEvidencePdf } from './pdf/document.ts';
import { entryToWire } from './rules.ts';
import type { RowSeals } from './sealed-rows.ts';
import type { WireSummary } from './wire.ts';

/** Maximum number of entries that are printed in full, and the number printed from each end of a larger package. */
const PRINTED_WHOLE = 200;
const PRINTED_ENDS = 100;

/** Returns the PDF form of a package. */
export async function printPackage(reader: Reader, seals: RowSeals, row: PackageRow): Promise<Uint8Array> {
  const { first_sequence: first, last_sequence: last } = row;
  const isWhole = row.entry_count <= PRINTED_WHOLE || first === null || last === null;
  return renderEvidencePdf({
    title: row.title,
    summary: JSON.parse(row.summary) as WireSummary,
    generatedAt: row.created_at,
    checkpoints: await withoutTokens(reader, seals, row),
    first: await excerpt(reader, row, first ?? 1, isWhole ? (last ?? 0) : first + PRINTED_ENDS - 1),
    last: isWhole ? [] : await excerpt(reader, row, last - PRINTED_ENDS + 1, last),
  });
}

async function excerpt(reader: Reader, row: PackageRow, first: number, last: number) {
  const entries = [];
  for await (const page of new EntryPages(reader).between(row, first, last)) entries.push(...page.map(entryToWire));
  return entries;
}
