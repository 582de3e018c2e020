import type { AgentStateName } from '../../../src/platform/agents/enums.ts';
import type { AgentTables } from '../../../src/platform/agents/tables.ts';
import type { Database } from '../../../src/platform/database/database.ts';

/** Sets the state of an agent by hand. */
export async function setState(database: Database, agentId: string, state: AgentStateName): Promise<void> {
  await database.write(async (transaction) => {
    const agents = transaction.tables<AgentTables>().updateTable('agents').set({ state });
    await agents.where('agent_id', '=', agentId).execute();
  });
}
