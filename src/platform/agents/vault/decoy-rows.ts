import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';
import type { AgentSecret } from './secret-rows.ts';

export type AgentDecoy = Selectable<AgentTables['agent_decoys']>;

/** Those of an agent that were not removed, the oldest first. */
export async function decoysOf(reader: Reader, { agent_no }: Pick<Agent, 'agent_no'>): Promise<AgentDecoy[]> {
  return await standing(reader).where('agent_no', '=', agent_no).orderBy('decoy_no').execute();
}

/** The decoy that a secret of a vault is; undefined if it is none. */
export async function decoyOfSecret(
  reader: Reader,
  { secret_no }: Pick<AgentSecret, 'secret_no'>,
): Promise<AgentDecoy | undefined> {
  return await standing(reader).where('secret_no', '=', secret_no).executeTakeFirst();
}

/** The decoy tools of agents, by the number of the agent and the name of the tool. */
export async function decoyToolsOf(
  reader: Reader,
  agentNos: readonly number[],
): Promise<Map<number, Map<string, AgentDecoy>>> {
  const found = new Map<number, Map<string, AgentDecoy>>();
  if (agentNos.length === 0) return found;
  const rows = await standing(reader)
    .where('agent_no', 'in', [...agentNos])
    .where('sort', '=', 'tool')
    .execute();
  for (const row of rows) found.set(row.agent_no, (found.get(row.agent_no) ?? new Map()).set(row.name, row));
  return found;
}

/** @throws DomainError `not_found`, also for one that was removed, or is another agent's. */
export async function findDecoy(
  reader: Reader,
  { agent_no }: Pick<Agent, 'agent_no'>,
  decoyId: string,
): Promise<AgentDecoy> {
  const decoys = standing(reader).where('agent_no', '=', agent_no).where('decoy_id', '=', decoyId);
  const row = await decoys.executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'the vault has no decoy of this id');
  return row;
}

/** The decoy that a trap is, and whose it is. @throws Error in words for a person, for one that was removed. */
export async function decoyOfTrap(
  reader: Reader,
  credentialId: string,
): Promise<{ agent_id: string; decoy: AgentDecoy }> {
  const decoy = await standing(reader).where('credential_id', '=', credentialId).executeTakeFirst();
  if (decoy === undefined) throw new Error('No vault of an agent has it any more.');
  const agents = reader.tables<AgentTables>().selectFrom('agents').select('agent_id');
  const { agent_id } = await agents.where('agent_no', '=', decoy.agent_no).executeTakeFirstOrThrow();
  return { agent_id, decoy };
}

export async function insertDecoy(transaction: Transaction, decoy: Omit<AgentDecoy, 'decoy_no'>): Promise<AgentDecoy> {
  const decoys = transaction.tables<AgentTables>().insertInto('agent_decoys').values(decoy);
  return await decoys.returningAll().executeTakeFirstOrThrow();
}

export async function endDecoy(
  transaction: Transaction,
  { decoy_no }: Pick<AgentDecoy, 'decoy_no'>,
  removed_at: string,
): Promise<void> {
  const decoys = transaction.tables<AgentTables>().updateTable('agent_decoys').set({ removed_at, secret_no: null });
  await decoys.where('decoy_no', '=', decoy_no).execute();
}

function standing(reader: Reader) {
  return reader.tables<AgentTables>().selectFrom('agent_decoys').selectAll().where('removed_at', 'is', null);
}
