import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';

export type AgentSecret = Selectable<AgentTables['agent_secrets']>;
type Owner = Pick<Agent, 'agent_no'>;

/** By their names. */
export async function secretsOfAgent(reader: Reader, { agent_no }: Owner): Promise<Omit<AgentSecret, 'sealed'>[]> {
  const secrets = reader.tables<AgentTables>().selectFrom('agent_secrets').where('agent_no', '=', agent_no);
  const rows = await secrets.select(['secret_no', 'agent_no', 'name', 'version', 'put_at', 'put_by']).execute();
  return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export async function secretNamed(reader: Reader, { agent_no }: Owner, name: string): Promise<AgentSecret | undefined> {
  const secrets = reader.tables<AgentTables>().selectFrom('agent_secrets').selectAll();
  return await secrets.where('agent_no', '=', agent_no).where('name', '=', name).executeTakeFirst();
}

export async function insertSecret(
  transaction: Transaction,
  secret: Omit<AgentSecret, 'secret_no'>,
): Promise<AgentSecret> {
  const secrets = transaction.tables<AgentTables>().insertInto('agent_secrets').values(secret);
  return await secrets.returningAll().executeTakeFirstOrThrow();
}

export async function changeSecret(
  transaction: Transaction,
  { secret_no }: Pick<AgentSecret, 'secret_no'>,
  change: Pick<AgentSecret, 'version' | 'sealed' | 'put_at' | 'put_by'>,
): Promise<void> {
  const secrets = transaction.tables<AgentTables>().updateTable('agent_secrets').set(change);
  await secrets.where('secret_no', '=', secret_no).execute();
}

export async function deleteSecret(
  transaction: Transaction,
  { secret_no }: Pick<AgentSecret, 'secret_no'>,
): Promise<void> {
  const secrets = transaction.tables<AgentTables>().deleteFrom('agent_secrets');
  await secrets.where('secret_no', '=', secret_no).execute();
}
