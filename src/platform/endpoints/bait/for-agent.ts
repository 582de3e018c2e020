import type { BaitDeps } from '../deps.ts';
import type { Endpoint } from '../host-rows.ts';
import type { AgentBait } from '../requests/bait.ts';
import { baitOf } from './rows.ts';

/** The bait that an endpoint's agent has to plant, watch and remove. */
export async function baitForAgent(
  { database, baitBox }: Pick<BaitDeps, 'database' | 'baitBox'>,
  endpoint: Pick<Endpoint, 'endpoint_no'>,
): Promise<AgentBait[]> {
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
