import { type Selectable, sql } from 'kysely';
import { canonicalize } from '../../../core/json/canonical.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { kindsOf } from '../../database/table.ts';
import type { Agent } from '../agent-rows.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { TrustLine, TrustScore } from '../wire/trust.ts';

/** Returns all agents of the families of the given ones, locked until the transaction ends. Unknown ids are ignored. */
export async function lockFamilies(transaction: Transaction, agentIds: readonly string[]): Promise<Agent[]> {
  const agents = transaction.tables<AgentTables>().selectFrom('agents');
  const { isAmong, locked } = transaction.sql;
  const named = await agents.select('root_agent_id').distinct().where(isAmong('agent_id', agentIds)).execute();
  const roots = named.map(({ root_agent_id }) => root_agent_id);
  // Locked in one order, so that two transactions cannot deadlock.
  const inOrder = agents.select('agent_id').where(isAmong('agent_id', roots)).orderBy('agent_id');
  await inOrder.modifyEnd(locked).execute();
  const families = agents.selectAll().where(isAmong('root_agent_id', roots));
  // Ordered so that each agent comes after its parent.
  return families.orderBy('agent_no').execute();
}

const STANDING = [
  ...['agent_no', 'score', 'tier', 'ledger_length', 'trusted_since', 'composition_changed_at', 'attested_at'],
  ...['attested_day', 'attested_points', 'due_at', 'state', 'suspended_because', 'state_changed_at', 'actions'],
] as (keyof Agent)[];

export function writeStandings(transaction: Transaction, agents: readonly Agent[]): Promise<void> {
  const rows = agents.map((agent) => Object.fromEntries(STANDING.map((name) => [name, agent[name]])));
  return transaction.updateAll('agents', kindsOf(AGENT_TABLES.agents, STANDING), rows);
}

type LineRow = Selectable<AgentTables['agent_trust_lines']>;

const LINE = kindsOf(AGENT_TABLES.agent_trust_lines);

/** Line, and the agent whose ledger it belongs to. */
export interface AgentLine {
  agent_no: number;
  line: TrustLine;
}

export function insertLines(transaction: Transaction, lines: readonly AgentLine[]): Promise<void> {
  return transaction.insertAll('agent_trust_lines', LINE, lines.map(toRow));
}

function toRow({ agent_no, line }: AgentLine): LineRow {
  const { before: score_before, after: score_after, detail, ...rest } = line;
  return { agent_no, ...rest, score_before, score_after, detail: canonicalize(detail) };
}

function lineOf(row: LineRow): TrustLine {
  const { entry_no, at, rule, points, score_before: before, score_after: after, ceiling, ceiling_because } = row;
  const { action_id, detail } = row;
  const line = { entry_no, at, rule, points, before, after, ceiling, ceiling_because, action_id };
  return { ...line, detail: JSON.parse(detail) as TrustLine['detail'] };
}

/** Returns lines of a ledger, newest first. @param before number that all lines on the page are below. */
export async function ledgerLinesOf(
  reader: Reader,
  { agent_no }: Pick<Agent, 'agent_no'>,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<TrustLine[]> {
  let lines = reader.tables<AgentTables>().selectFrom('agent_trust_lines').selectAll().where('agent_no', '=', agent_no);
  if (before !== undefined) lines = lines.where('entry_no', '<', before);
  return (await lines.orderBy('entry_no', 'desc').limit(limit).execute()).map(lineOf);
}

/** Returns the number of lines and the points of each rule; the points add up to the score. */
export async function trustFactorsOf(
  reader: Reader,
  { agent_no }: Pick<Agent, 'agent_no'>,
): Promise<TrustScore['factors']> {
  const lines = reader.tables<AgentTables>().selectFrom('agent_trust_lines').where('agent_no', '=', agent_no);
  const sums = lines
    .groupBy('rule')
    .select(({ fn }) => [
      'rule',
      fn.countAll<number>().as('lines'),
      fn.sum<number>(sql`score_after - score_before`).as('points'),
      fn.min('entry_no').as('first'),
    ]);
  return (await sums.orderBy('first').execute()).map(({ rule, lines, points }) => ({ rule, lines, points }));
}
