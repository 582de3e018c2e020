import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { KillMode, SuspensionCause } from './enums.ts';
import type { AgentTables } from './tables.ts';

/** An event that everyone who watches over agents has to know. */
export type AgentIncident = { agent_id: string; name: string; at: string } & (
  | { kind: 'violation'; action_id: string; reasons: readonly string[] }
  | { kind: 'kill'; kill_id: string; mode: KillMode }
  | { kind: 'suspended'; because: SuspensionCause }
  | { kind: 'composition_changed' }
);

/** The latest events of all agents. */
export class Lately {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Violations, uses of the kill switch, and agents that are suspended or changed now; the newest first. */
  async list(limit: number): Promise<AgentIncident[]> {
    const read = [violations, kills, suspensions, changes].map((each) => each(this.#database, limit));
    const incidents = (await Promise.all(read)).flat();
    return incidents.toSorted((one, other) => (one.at < other.at ? 1 : -1)).slice(0, limit);
  }
}

async function violations(database: Database, limit: number): Promise<AgentIncident[]> {
  const rows = await database
    .tables<AgentTables>()
    .selectFrom('agent_actions')
    .innerJoin('agents', 'agents.agent_no', 'agent_actions.agent_no')
    .select(['agent_id', 'name', 'received_at as at', 'action_id', 'reasons'])
    // As it stands, so that the index of violations alone is taken.
    .where(sql<boolean>`agent_actions.decision = 'violation'`)
    .orderBy('action_no', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ reasons, ...row }) => ({ kind: 'violation', ...row, reasons: JSON.parse(reasons) }));
}

async function kills(database: Database, limit: number): Promise<AgentIncident[]> {
  const rows = await database
    .tables<AgentTables>()
    .selectFrom('agent_kills')
    .innerJoin('agents', 'agents.agent_no', 'agent_kills.agent_no')
    .select(['agent_id', 'name', 'started_at as at', 'kill_id', 'mode'])
    .orderBy('kill_no', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ kind: 'kill', ...row }));
}

/** Those that nobody suspended by hand. */
async function suspensions(database: Database, limit: number): Promise<AgentIncident[]> {
  const rows = await database
    .tables<AgentTables>()
    .selectFrom('agents')
    .select(['agent_id', 'name', 'state_changed_at as at', 'suspended_because'])
    .where('state', '=', 'suspended')
    .where('suspended_because', 'in', ['auto', 'parent'])
    .orderBy('state_changed_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ suspended_because, ...row }) => ({
    kind: 'suspended',
    ...row,
    because: suspended_because ?? 'auto',
  }));
}

async function changes(database: Database, limit: number): Promise<AgentIncident[]> {
  const rows = await database
    .tables<AgentTables>()
    .selectFrom('agents')
    .select(['agent_id', 'name', 'composition_changed_at as at'])
    .where('composition_changed_at', 'is not', null)
    .where('state', '!=', 'revoked')
    .orderBy('composition_changed_at', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ at, ...row }) => ({ kind: 'composition_changed', ...row, at: at ?? '' }));
}
