import type { Selectable } from 'kysely';
import { canonicalize, type Json } from '../../../core/json/canonical.ts';
import type { ColumnKind, Columns, Transaction } from '../../database/database.ts';
import type { TrustLine } from './ledger.ts';
import type { AgentTrustLineTable } from './schema.ts';

type LineRow = Selectable<AgentTrustLineTable>;

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

export function lineOf(row: LineRow): TrustLine {
  const { agent_no: _, score_before: before, score_after: after, detail, ...rest } = row;
  return { ...rest, before, after, detail: JSON.parse(detail) as { [name: string]: Json } };
}
