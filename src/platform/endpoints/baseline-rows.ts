import type { Insertable, Selectable } from 'kysely';
import { personNamed } from '../accounts/api.ts';
import type { Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { rowChanger, rowFinder, rowInserter } from '../rows.ts';
import { ENDPOINT_TABLES, type EndpointTables } from './tables.ts';
import type { WireBaseline } from './wire/baselines.ts';

export type Baseline = Selectable<EndpointTables['baselines']>;

export const baselineRow = rowFinder(ENDPOINT_TABLES, 'baselines', 'baseline_no');

/** @throws DomainError `not_found`. */
export const findBaseline = rowFinder(ENDPOINT_TABLES, 'baselines', 'baseline_id', {
  missing: 'no baseline has this ID',
  isLocked: true,
});

const insertRow = rowInserter(ENDPOINT_TABLES, 'baselines');

/**
 * Inserts a baseline with the next version. The transaction must hold the endpoint's lock, so that versions are not
 * assigned twice.
 */
export async function insertBaseline(
  transaction: Transaction,
  baseline: Omit<Insertable<EndpointTables['baselines']>, 'version'>,
): Promise<Baseline> {
  const baselines = transaction.tables<EndpointTables>().selectFrom('baselines').select('version');
  const own = baselines.where('endpoint_no', '=', baseline.endpoint_no);
  const last = await own.orderBy('version', 'desc').limit(1).executeTakeFirst();
  return insertRow(transaction, { ...baseline, version: (last?.version ?? 0) + 1 });
}

export const changeBaseline = rowChanger(ENDPOINT_TABLES, 'baselines', 'baseline_no');

export function baselineToWire(
  row: Baseline & { endpoint_id: string; endpoint_name: string; root_hash: string; line_count: number },
): WireBaseline {
  return {
    ...pick(row, ['baseline_id', 'endpoint_id', 'endpoint_name', 'version', 'name', 'status', 'origin', 'line_count']),
    ...pick(row, ['root_hash', 'reason', 'made_at', 'made_by', 'decided_at', 'decided_by', 'decided_reason']),
    roots: JSON.parse(row.roots) as string[],
    complete: row.complete === 1,
  };
}

/** Reports whether a baseline equals one that would be made now. */
export function isBaselineAlike(
  one: Baseline,
  other: Pick<Baseline, 'name' | 'set_no' | 'roots' | 'complete'>,
): boolean {
  return (['name', 'set_no', 'roots', 'complete'] as const).every((member) => one[member] === other[member]);
}

/** @throws DomainError `forbidden` for the proposer, and for an API key, which does not identify a person. */
export function refuseOwn({ name }: Actor, { made_by }: Pick<Baseline, 'made_by'>): void {
  if (personNamed(name) === null)
    throw new DomainError(
      'forbidden',
      'several people may approve baselines, so an API key cannot; approve on the page of the baseline',
    );
  if (name === made_by)
    throw new DomainError('forbidden', 'you proposed this baseline; another person must approve it');
}
