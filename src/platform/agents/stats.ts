import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { AGENT_STATES, TIER_NAMES } from './enums.ts';
import type { AgentTables } from './tables.ts';
import type { AgentStats } from './wire/stats.ts';

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

/** Counts the last day alone: the whole time would take longer as actions grow. */
async function actionCounts(database: Database, dayAgo: string) {
  const actions = database.tables<AgentTables>().selectFrom('agent_actions');
  const { last } = await actions.select(sql<string | null>`MAX(received_at)`.as('last')).executeTakeFirstOrThrow();
  const lately = actions.where('received_at', '>', dayAgo).select(COUNT.as('count'));
  const all = await lately.executeTakeFirstOrThrow();
  // As it stands, so that the index of violations alone is taken.
  const violations = await lately.where(sql<boolean>`decision = 'violation'`).executeTakeFirstOrThrow();
  return {
    last_action_at: last,
    actions_24h: Number(all.count),
    violations_24h: Number(violations.count),
  };
}

function countsOf<Name extends string>(names: readonly Name[], countOf: (name: Name) => number): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, countOf(name)])) as Record<Name, number>;
}
