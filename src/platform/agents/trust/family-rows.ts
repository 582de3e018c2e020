import type { ColumnKind, Columns, Reader, Transaction } from '../../database/database.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';
import type { TrustStanding } from './step.ts';

/** All agents of the families of some, which are this transaction's until it ends. Ids of no agent are left out. */
export async function lockFamilies(transaction: Transaction, agentIds: readonly string[]): Promise<Agent[]> {
  const agents = transaction.tables<AgentTables>().selectFrom('agents');
  const { isAmong, locked } = transaction.sql;
  const named = await agents.select('root_agent_id').distinct().where(isAmong('agent_id', agentIds)).execute();
  const roots = named.map(({ root_agent_id }) => root_agent_id);
  // In one order, so that no two wait for each other.
  const inOrder = agents.select('agent_id').where(isAmong('agent_id', roots)).orderBy('agent_id');
  await inOrder.modifyEnd(locked).execute();
  return familiesOf(transaction, roots);
}

/** All agents of families, by the ids of their roots; each comes after its parent. */
export function familiesOf(reader: Reader, roots: readonly string[]): Promise<Agent[]> {
  const agents = reader.tables<AgentTables>().selectFrom('agents').selectAll();
  return agents.where(reader.sql.isAmong('root_agent_id', roots)).orderBy('agent_no').execute();
}

const STANDING: Columns & Record<keyof StandingRow, ColumnKind> = {
  agent_no: 'integer',
  score: 'integer',
  tier: 'text',
  ledger_length: 'integer',
  trusted_since: 'text',
  composition_changed_at: 'text',
  attested_at: 'text',
  attested_day: 'text',
  attested_points: 'integer',
  due_at: 'text',
  state: 'text',
  suspended_because: 'text',
  state_changed_at: 'text',
  actions: 'integer',
};

type StandingRow = TrustStanding &
  Pick<Agent, 'agent_no' | 'state' | 'suspended_because' | 'state_changed_at' | 'actions'>;

export function writeStandings(transaction: Transaction, agents: readonly StandingRow[]): Promise<void> {
  const names = Object.keys(STANDING) as (keyof StandingRow)[];
  const rows = agents.map((agent) => Object.fromEntries(names.map((name) => [name, agent[name]])));
  return transaction.updateAll('agents', STANDING, rows);
}
