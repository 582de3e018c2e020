import type { Selectable } from 'kysely';
import type { Database, Reader } from '../../database/database.ts';
import { pick } from '../../database/table.ts';
import { there } from '../../errors.ts';
import { rowChanger } from '../../rows.ts';
import type { SecretBox } from '../../secrets.ts';
import type { ReadSign } from '../enums.ts';
import type { Endpoint } from '../host-rows.ts';
import { ENDPOINT_TABLES, type EndpointTables } from '../tables.ts';
import type { SensorBait, WireBait } from '../wire/bait.ts';

export type BaitRow = Selectable<EndpointTables['endpoint_bait']>;

/** Returns all bait of an endpoint, oldest first. */
export function baitOf(reader: Reader, { endpoint_no }: Pick<Endpoint, 'endpoint_no'>): Promise<BaitRow[]> {
  const rows = reader.tables<EndpointTables>().selectFrom('endpoint_bait').selectAll();
  return rows.where('endpoint_no', '=', endpoint_no).orderBy('bait_no').execute();
}

/** @throws DomainError `not_found`, also for bait of another endpoint. */
export async function findBait(
  reader: Reader,
  { endpoint_no }: Pick<Endpoint, 'endpoint_no'>,
  baitId: string,
): Promise<BaitRow> {
  const rows = reader.tables<EndpointTables>().selectFrom('endpoint_bait').selectAll();
  const named = rows.where('endpoint_no', '=', endpoint_no).where('bait_id', '=', baitId);
  return there(await named.modifyEnd(reader.sql.locked).executeTakeFirst(), 'the endpoint has no bait with this ID');
}

export const changeBait = rowChanger(ENDPOINT_TABLES, 'endpoint_bait', 'bait_no');

export function seenBy({ seen_by }: Pick<BaitRow, 'seen_by'>): ReadSign[] {
  return JSON.parse(seen_by) as ReadSign[];
}

export function baitToWire(row: BaitRow, { endpoint_id }: Pick<Endpoint, 'endpoint_id'>): WireBait {
  return {
    ...pick(row, ['bait_id', 'credential_id', 'label', 'path', 'mode', 'uid', 'gid', 'status', 'reason']),
    ...pick(row, ['asked_at', 'planted_at', 'ended_at']),
    credential_type: row.credential_type as WireBait['credential_type'],
    endpoint_id,
    seen_by: seenBy(row),
  };
}

/** Returns the bait that an endpoint's sensor has to plant, watch or remove. */
export async function baitForSensor(
  { database, baitBox }: { database: Database; baitBox: SecretBox },
  endpoint: Pick<Endpoint, 'endpoint_no'>,
): Promise<SensorBait[]> {
  const rows = await baitOf(database, endpoint);
  return rows
    .filter(({ ended_at }) => ended_at === null)
    .map((row) => ({
      ...pick(row, ['bait_id', 'path', 'mode', 'uid', 'gid']),
      wanted: row.status === 'leaving' ? ('removed' as const) : ('planted' as const),
      content: row.content === null ? null : baitBox.open(row.content, row.bait_id).toString(),
    }));
}
