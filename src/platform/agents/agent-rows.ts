import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { AgentTables } from './tables.ts';

export type Agent = Selectable<AgentTables['agents']>;

/** @throws DomainError `not_found`. */
export async function findAgent(reader: Reader, agentId: string): Promise<Agent> {
  const agents = reader.tables<AgentTables>().selectFrom('agents').selectAll();
  const row = await agents.where('agent_id', '=', agentId).executeTakeFirst();
  if (row === undefined) throw new DomainError('not_found', 'there is no agent of this id');
  return row;
}

/**
 * An agent whose family is this transaction's until it ends: families are locked by the row of their root, so that what
 * happens within one happens one after the other. Whoever locks several locks them in the order of their roots' ids.
 * @throws DomainError `not_found`.
 */
export async function lockAgent(transaction: Transaction, agentId: string): Promise<Agent> {
  // A family never changes its root.
  const { root_agent_id } = await findAgent(transaction, agentId);
  await lockRoot(transaction, root_agent_id);
  return findAgent(transaction, agentId);
}

/** Locks a family by the id of its root. */
async function lockRoot(transaction: Transaction, rootAgentId: string): Promise<void> {
  const agents = transaction.tables<AgentTables>().selectFrom('agents').select('agent_no');
  await agents.where('agent_id', '=', rootAgentId).modifyEnd(transaction.sql.locked).executeTakeFirstOrThrow();
}

/** All that an agent delegates to, over however many others; each comes after its parent. */
export async function descendantsOf(reader: Reader, { agent_id, root_agent_id }: Agent): Promise<Agent[]> {
  const agents = reader.tables<AgentTables>().selectFrom('agents').selectAll();
  const family = await agents.where('root_agent_id', '=', root_agent_id).orderBy('agent_no').execute();
  const below = new Set([agent_id]);
  // A parent is registered before its children.
  return family.filter((agent) => {
    const isBelow = agent.parent_agent_id !== null && below.has(agent.parent_agent_id);
    if (isBelow) below.add(agent.agent_id);
    return isBelow;
  });
}

export async function changeAgent(
  transaction: Transaction,
  { agent_no }: Pick<Agent, 'agent_no'>,
  change: Partial<Omit<Agent, 'agent_no' | 'agent_id' | 'root_agent_id'>>,
): Promise<void> {
  const agents = transaction.tables<AgentTables>().updateTable('agents').set(change);
  await agents.where('agent_no', '=', agent_no).execute();
}
