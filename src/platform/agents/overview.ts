import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { AGENT_STATES, type KillMode, type SuspensionCause, TIER_NAMES } from './enums.ts';
import type { AgentTables } from './tables.ts';
import type { AgentStats } from './wire/agents.ts';

const DAY_MS = 24 * 60 * 60_000;
const COUNT = sql<number>`COUNT(*)`;

/** Counts all agents by state. */
export async function readAgentStats(database: Database, now: Date): Promise<AgentStats> {
  const tables = database.tables<AgentTables>();
  const dayAgo = new Date(now.getTime() - DAY_MS).toISOString();
  const agents = await tables
    .selectFrom('agents')
    .select(['state', 'tier', COUNT.as('count'), sql<string>`MIN(state_changed_at)`.as('since')])
    .select(({ fn }) => fn.sum<number>('actions').as('actions'))
    .groupBy(['state', 'tier'])
    .execute();
  const passports = await tables
    .selectFrom('agent_identities')
    .select([COUNT.as('count'), sql<string | null>`MIN(status_changed_at)`.as('since')])
    .where('passport_status', '=', 'suspended')
    .executeTakeFirstOrThrow();
  const kills = await tables
    .selectFrom('agent_kills')
    .select(COUNT.as('count'))
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow();
  const sum = (rows: readonly { count: number }[]) => rows.reduce((total, { count }) => total + Number(count), 0);
  const suspended = agents.filter(({ state }) => state === 'suspended');
  return {
    agents: sum(agents),
    actions: agents.reduce((total, { actions }) => total + Number(actions), 0),
    states: countsOf(AGENT_STATES, (state) => sum(agents.filter((row) => row.state === state))),
    tiers: countsOf(TIER_NAMES, (tier) => sum(agents.filter((row) => row.tier === tier && row.state !== 'revoked'))),
    suspended_passports: Number(passports.count),
    unfinished_kills: Number(kills.count),
    ...(await actionCounts(database, dayAgo)),
    wrong_since: [...suspended.map(({ since }) => since), passports.since ?? []].flat().toSorted()[0] ?? null,
  };
}

/** Counts the last day only: counting all actions would take longer as they grow. */
async function actionCounts(database: Database, dayAgo: string) {
  const actions = database.tables<AgentTables>().selectFrom('agent_actions');
  const { last } = await actions.select(sql<string | null>`MAX(received_at)`.as('last')).executeTakeFirstOrThrow();
  const lately = actions.where('received_at', '>', dayAgo).select(COUNT.as('count'));
  const all = await lately.executeTakeFirstOrThrow();
  // Literal SQL, so that only the index of violations is used.
  const violations = await lately.where(sql<boolean>`decision = 'violation'`).executeTakeFirstOrThrow();
  return { last_action_at: last, actions_24h: Number(all.count), violations_24h: Number(violations.count) };
}

function countsOf<Name extends string>(names: readonly Name[], countOf: (name: Name) => number): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, countOf(name)])) as Record<Name, number>;
}

/** Event that everyone who supervises agents has to know. */
export type AgentIncident = { agent_id: string; name: string; at: string } & (
  | { kind: 'violation'; action_id: string; reasons: readonly string[] }
  | { kind: 'kill'; kill_id: string; mode: KillMode }
  | { kind: 'suspended'; because: SuspensionCause }
  | { kind: 'composition_changed' }
);

/** Latest events of all agents. */
export class Lately {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns violations, uses of the kill switch, and agents that are suspended or changed now, newest first. */
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
    // Literal SQL, so that only the index of violations is used.
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

/** Returns the suspensions that were automatic. */
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
