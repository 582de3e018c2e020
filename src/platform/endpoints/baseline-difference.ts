import { pathBytes } from '../../sensor/report/line.ts';
import type { Reader } from '../database/database.ts';
import { fromCursor, pageOf, toCursor } from '../http/cursor.ts';
import type { PageQuery } from '../http/fields.ts';
import { type Baseline, findBaseline } from './baseline-rows.ts';
import { pathKey } from './event-rows.ts';
import { setDifferences } from './lines/comparing.ts';
import { severityOfDifference, typeOf } from './rules.ts';
import type { EndpointTables } from './tables.ts';
import type { WireDifference } from './wire/baselines.ts';

/**
 * Compares a proposal with the active baseline, or a baseline with its predecessor, by path.
 * @throws DomainError `not_found`, `invalid_cursor`.
 */
export async function baselineDifference(reader: Reader, baselineId: string, { limit, cursor }: PageQuery) {
  const after = cursor === undefined ? null : Buffer.from(fromCursor('difference', ['string'], cursor)[0], 'hex');
  const baseline = await findBaseline(reader, baselineId);
  const before = await baselineBefore(reader, baseline);
  const rows: (WireDifference & { at: string })[] = [];
  for await (const { path, ...difference } of setDifferences(reader, before?.set_no ?? null, baseline.set_no)) {
    const at = pathBytes(path);
    if (after !== null && at.compare(after) <= 0) continue;
    rows.push({
      path: path.path ?? null,
      path_base64: path.path_base64 ?? null,
      at: at.toString('hex'),
      event_type: typeOf(difference),
      severity: severityOfDifference(pathKey(path), difference),
      ...(difference as Pick<WireDifference, 'expected' | 'observed'>),
    });
    if (rows.length > limit) break;
  }
  const { page, next_cursor } = pageOf(rows, limit, (last) => toCursor('difference', [last.at]));
  return {
    compared_with: before === null ? null : { baseline_id: before.baseline_id, version: before.version },
    data: page.map(({ at: _, ...row }) => row),
    next_cursor,
  };
}

/** Returns the baseline that a proposal would replace, or that a baseline has replaced. */
async function baselineBefore(
  reader: Reader,
  { baseline_no, endpoint_no, status, version }: Baseline,
): Promise<Baseline | null> {
  const baselines = reader.tables<EndpointTables>().selectFrom('baselines').selectAll();
  const others = baselines.where('endpoint_no', '=', endpoint_no).where('baseline_no', '!=', baseline_no);
  if (status === 'proposed') return (await others.where('status', '=', 'active').executeTakeFirst()) ?? null;
  const were = others.where('status', 'in', ['active', 'superseded']).where('version', '<', version);
  return (await were.orderBy('version', 'desc').limit(1).executeTakeFirst()) ?? null;
}
