import { revokeBoundKeys } from '../accounts/api.ts';
import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { baitOf, changeBait } from './bait/rows.ts';
import type { EndpointDeps } from './deps.ts';
import { CHAIN_EVENT_TYPES } from './enums.ts';
import { EventWriting } from './event-writing.ts';
import { boundTo, changeEndpoint, type Endpoint, findEndpointInUse } from './host-rows.ts';
import { unstage } from './staging.ts';
import type { EndpointTables } from './tables.ts';

/** Retires an endpoint in one transaction. @throws DomainError `not_found`; `conflict` if it is already retired. */
export function retireEndpoint(
  deps: EndpointDeps,
  actor: Actor,
  endpointId: string,
  { reason }: { reason: string },
): Promise<void> {
  const { database, clock, administration } = deps;
  return database.write(async (transaction) => {
    const endpoint = await findEndpointInUse(transaction, endpointId);
    const now = clock();
    const ended = { due_at: null, stale_at: null, went_back_at: null, baseline_no: null };
    const retired = { retired_at: now.toISOString(), retired_by: actor.name, retired_reason: reason };
    await changeEndpoint(transaction, endpoint, { ...ended, ...retired });
    for (const kind of ['scan', 'baseline'] as const)
      await unstage(transaction, { endpointNo: endpoint.endpoint_no, kind });
    await endBaselines(transaction, endpoint, retired);
    await leaveBait(transaction, endpoint, retired.retired_at);
    const keys = await revokeBoundKeys(transaction, boundTo(endpointId), { actor, now, administration });
    const events = await EventWriting.begin(transaction, deps, endpoint, 'reports');
    events.resolveOfReports(CHAIN_EVENT_TYPES, 'the endpoint was retired');
    events.entries.add(actor, {
      action: 'endpoint.retired',
      of: ['endpoint', endpointId],
      more: { reason, last_sequence: endpoint.sequence, revoked_keys: keys.map(({ key_id }) => key_id) },
    });
    await events.write();
  });
}

/** Ends the baselines: the active one is superseded, and proposals are rejected. */
async function endBaselines(
  transaction: Transaction,
  { endpoint_no }: Endpoint,
  { retired_at: decided_at, retired_by: decided_by }: { retired_at: string; retired_by: string },
): Promise<void> {
  const rejected = { status: 'rejected', decided_at, decided_by, decided_reason: 'the endpoint was retired' } as const;
  for (const [before, change] of [
    ['active', { status: 'superseded' }],
    ['proposed', rejected],
  ] as const) {
    const baselines = transaction.tables<EndpointTables>().updateTable('baselines').set(change);
    await baselines.where('endpoint_no', '=', endpoint_no).where('status', '=', before).execute();
  }
}

/** Leaves planted bait in its place, where it remains a trap. */
async function leaveBait(transaction: Transaction, endpoint: Endpoint, now: string): Promise<void> {
  const left = { status: 'left', content: null, reason: 'the endpoint was retired', ended_at: now } as const;
  for (const bait of await baitOf(transaction, endpoint))
    if (bait.ended_at === null) await changeBait(transaction, bait, left);
}
