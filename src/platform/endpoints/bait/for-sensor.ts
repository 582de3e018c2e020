import type { BaitDeps } from '../deps.ts';
import type { Endpoint } from '../host-rows.ts';
import type { SensorBait } from '../wire/bait.ts';
import { baitOf } from './rows.ts';

/** The bait that an endpoint's sensor has to plant, watch and remove. */
export async function baitForSensor(
  { database, baitBox }: Pick<BaitDeps, 'database' | 'baitBox'>,
  endpoint: Pick<Endpoint, 'endpoint_no'>,
): Promise<SensorBait[]> {
  const rows = await baitOf(database, endpoint);
  return rows
    .filter(({ ended_at }) => ended_at === null)
    .map(({ bait_id, path, mode, uid, gid, status, content }) => ({
      bait_id,
      path,
      mode,
      uid,
      gid,
      wanted: status === 'leaving' ? ('removed' as const) : ('planted' as const),
      content: content === null ? null : baitBox.open(content, bait_id).toString(),
    }));
}
