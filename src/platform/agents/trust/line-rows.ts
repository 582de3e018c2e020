import { type Selectable, sql } from 'kysely';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { ColumnKind, Columns, Reader, Transaction } from '../../database/database.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';
import type { TrustScore } from '../wire/trust.ts';
import type { TrustLine } from './ledger.ts';

type LineRow = Selectable<AgentTables['agent_trust_lines']>;

const COLUMNS: Columns & Record<keyof LineRow, ColumnKind> = {
  agent_no: 'integer',
  entry_no: 'integer',
  at: 'text',
  rule: 'text',
  points: 'integer',
  score_before: 'integer',
  score_after: 'integer',
  ceiling: 'integer',
  ceiling_because: 'text',
  action_id: 'text',
  detail: 'text',
};

/** A line, and the agent whose ledger it belongs to. */
export interface AgentLine {
  agent_no: number;
  line: TrustLine;
}

export function insertLines(transaction: Transaction, lines: readonly AgentLine[]): Promise<void> {
  return transaction.insertAll('agent_trust_lines', COLUMNS, lines.map(toRow));
}

function toRow({ agent_no, line }: AgentLine): LineRow {
  const { before: score_before, after: score_after, detail, ...rest } = line;
  return { agent_no, ...rest, score_before, score_after, detail: canonicalize(detail) };
}

function lineOf(row: LineRow): TrustLine {
  const { agent_no: _, score_before: before, score_after: after, detail, ...rest } = row;
  return { ...rest, before, after, detail: JSON.parse(detail) as { [name: string]: Json } };
}

/** Lines of a ledger, newest first. @param before the number of the line that the page stands before. */
export async function ledgerLinesOf(
  reader: Reader,
  { agent_no }: Pick<Agent, 'agent_no'>,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<TrustLine[]> {
  let lines = reader.tables<AgentTables>().selectFrom('agent_trust_lines').selectAll().where('agent_no', '=', agent_no);
  if (before !== undefined) lines = lines.where('entry_no', '<', before);
  return (await lines.orderBy('entry_no', 'desc').limit(limit).execute()).map(lineOf);
}

/** Counts each rule's lines and points: the points add up to the score. */
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
