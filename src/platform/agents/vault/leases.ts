import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';
import type { AgentSecret } from './secret-rows.ts';

/** For so long somebody who took a secret may work with it; then they ask again. */
export const LEASE_MS = 60 * 60_000;
/** The time that leases are kept; older ones stand in the audit stream alone. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

type Owner = Pick<Agent, 'agent_no'>;

/** A secret that was given out. */
export interface WireLease {
  lease_id: string;
  until: string;
}

/** Notes that a secret is given out. */
export async function takeLease(
  transaction: Transaction,
  { agent_no, name, version }: Pick<AgentSecret, 'agent_no' | 'name' | 'version'>,
  { by, now }: { by: string; now: Date },
): Promise<WireLease> {
  const tables = transaction.tables<AgentTables>();
  const old = new Date(now.getTime() - KEPT_MS).toISOString();
  await tables.deleteFrom('agent_leases').where('agent_no', '=', agent_no).where('until_at', '<', old).execute();
  const lease = { lease_id: randomUUID(), until: new Date(now.getTime() + LEASE_MS).toISOString() };
  const row = {
    agent_no,
    name,
    version,
    taken_at: now.toISOString(),
    taken_by: by,
    ended_at: null,
    ended_because: null,
  };
  const leases = tables.insertInto('agent_leases');
  await leases.values({ ...row, lease_id: lease.lease_id, until_at: lease.until }).execute();
  return lease;
}

/**
 * Ends what runs of an agent's leases. Whoever holds a value keeps it: the names say which have to be changed where
 * they are good for something.
 * @param name of one secret; of all where it is not given.
 */
export async function endLeases(
  transaction: Transaction,
  { agent_no }: Owner,
  { name, because, now }: { name?: string; because: string; now: Date },
): Promise<{ ended: number; handed_out: string[] }> {
  const at = now.toISOString();
  const leases = transaction.tables<AgentTables>().updateTable('agent_leases').where('agent_no', '=', agent_no);
  const running = leases.where('ended_at', 'is', null).where('until_at', '>', at);
  const chosen = name === undefined ? running : running.where('name', '=', name);
  const rows = await chosen.set({ ended_at: at, ended_because: because }).returning('name').execute();
  return { ended: rows.length, handed_out: [...new Set(rows.map((row) => row.name))].sort() };
}

/** Counts running leases, and finds when each secret was taken last, by name. */
export async function leasesOf(reader: Reader, { agent_no }: Owner, now: Date) {
  const leases = reader.tables<AgentTables>().selectFrom('agent_leases').where('agent_no', '=', agent_no);
  const running = leases.where('ended_at', 'is', null).where('until_at', '>', now.toISOString());
  const { count } = await running.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow();
  const last = await leases
    .groupBy('name')
    .select(({ fn }) => ['name', fn.max('taken_at').as('taken_at')])
    .execute();
  return { running: Number(count), lastTaken: new Map(last.map(({ name, taken_at }) => [name, taken_at])) };
}
