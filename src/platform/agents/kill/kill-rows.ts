import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { kindsOf } from '../../database/table.ts';
import { rowFinder } from '../../rows.ts';
import type { Agent } from '../agent-rows.ts';
import type { KillStepName, StepResult } from '../enums.ts';
import { AGENT_TABLES, type AgentTables, KILL_TABLES } from '../tables.ts';

export type Kill = Selectable<AgentTables['agent_kills']>;
/** Step of a kill for one agent. */
export type StepRow = Selectable<AgentTables['agent_kill_steps']> & Pick<Agent, 'agent_id' | 'name'>;

export interface StepEnd {
  result: StepResult;
  /** Readable account of the effect, or the reason why there was none. */
  detail: string;
  /** Time at which public verification showed that the agent is not valid. */
  flippedAt?: Date;
}

/** Maximum number of agents in one kill; the number of a step is ordered by kind first, then by agent. */
const MOST_AGENTS = 100_000;

const PLAN = kindsOf(KILL_TABLES.agent_kill_steps, ['kill_no', 'number', 'agent_no', 'step', 'deadline_ms']);

/** @param agents in the order in which each kind of step runs for them, after the agents planned before. */
export async function planSteps(
  transaction: Transaction,
  { kill_no }: Pick<Kill, 'kill_no'>,
  steps: readonly { name: KillStepName; deadlineMs: number }[],
  agents: readonly Agent[],
): Promise<void> {
  const planned = transaction.tables<AgentTables>().selectFrom('agent_kill_steps').where('kill_no', '=', kill_no);
  const { before } = await planned
    .where('number', '<', MOST_AGENTS)
    .select(({ fn }) => fn.countAll<number>().as('before'))
    .executeTakeFirstOrThrow();
  const rows = steps.flatMap(({ name: step, deadlineMs: deadline_ms }, kind) =>
    agents.map(({ agent_no }, at) => ({
      kill_no,
      agent_no,
      step,
      deadline_ms,
      number: kind * MOST_AGENTS + Number(before) + at,
    })),
  );
  await transaction.insertAll('agent_kill_steps', PLAN, rows);
}

/**
 * Returns the first unfinished step of a kill; undefined if all have ended.
 * @param after number up to which all steps have ended, so that they are not read again.
 */
export function nextStep(
  reader: Reader,
  { kill_no }: Pick<Kill, 'kill_no'>,
  after: number,
): Promise<StepRow | undefined> {
  const left = stepRows(reader, [kill_no]).where('number', '>', after).where('ended_at', 'is', null);
  return left.limit(1).executeTakeFirst();
}

/** Returns the descendants of an agent that are not part of a kill, each after its parent. */
export async function unplannedBelow(
  reader: Reader,
  { kill_no, agent_id }: Pick<StepRow, 'kill_no' | 'agent_id'>,
): Promise<Agent[]> {
  const agents = reader.tables<AgentTables>().selectFrom('agents').selectAll().orderBy('agent_no');
  const unplanned = agents.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('agent_kill_steps as step')
          .select('step.number')
          .where('step.kill_no', '=', kill_no)
          .whereRef('step.agent_no', '=', 'agents.agent_no'),
      ),
    ),
  );
  const found: Agent[] = [];
  // Descendants of an agent that is not part of the kill are not part of it either.
  for (let parents = [agent_id]; parents.length > 0; ) {
    const children = await unplanned.where(reader.sql.isAmong('parent_agent_id', parents)).execute();
    found.push(...children);
    parents = children.map((child) => child.agent_id);
  }
  return found;
}

/** Returns the steps of kills in order. */
export function stepsOfKills(reader: Reader, killNos: readonly number[]): Promise<StepRow[]> {
  return stepRows(reader, killNos).execute();
}

function stepRows(reader: Reader, killNos: readonly number[]) {
  return reader
    .tables<AgentTables>()
    .selectFrom('agent_kill_steps')
    .innerJoin('agents', 'agents.agent_no', 'agent_kill_steps.agent_no')
    .selectAll('agent_kill_steps')
    .select(['agents.agent_id', 'agents.name'])
    .where('kill_no', 'in', killNos.length === 0 ? [-1] : [...killNos])
    .orderBy('kill_no')
    .orderBy('number');
}

/** @returns true if the step had not ended before. */
export async function endStep(
  transaction: Transaction,
  { kill_no, number }: Pick<StepRow, 'kill_no' | 'number'>,
  end: Pick<StepRow, 'started_at' | 'ended_at' | 'result' | 'detail'>,
): Promise<boolean> {
  const steps = transaction.tables<AgentTables>().updateTable('agent_kill_steps').set(end);
  const { numUpdatedRows } = await steps
    .where('kill_no', '=', kill_no)
    .where('number', '=', number)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** @throws DomainError `not_found`. */
export const findKill = rowFinder(AGENT_TABLES, 'agent_kills', 'kill_id', {
  missing: 'no use of the kill switch has this ID',
});

/** Returns the unfinished kills that no process is running. */
export function abandonedKills(reader: Reader, now: Date): Promise<Kill[]> {
  const kills = reader.tables<AgentTables>().selectFrom('agent_kills').selectAll().where('finished_at', 'is', null);
  return kills.where('claimed_until', '<=', now.toISOString()).orderBy('kill_no').execute();
}

/** Returns the unfinished kill that includes an agent; undefined if there is none. */
export function runningKillOf(reader: Reader, { agent_no }: Pick<Agent, 'agent_no'>): Promise<Kill | undefined> {
  const kills = reader.tables<AgentTables>().selectFrom('agent_kills').selectAll().where('finished_at', 'is', null);
  return kills
    .where('kill_no', 'in', (of) =>
      of.selectFrom('agent_kill_steps').select('kill_no').where('agent_no', '=', agent_no),
    )
    .executeTakeFirst();
}

/** Claims a kill that no process is running. @returns true if the claim succeeded. */
export async function claimKill(
  transaction: Transaction,
  { kill_no }: Pick<Kill, 'kill_no'>,
  { claimant, now, until }: { claimant: string; now: Date; until: string },
): Promise<boolean> {
  const kills = transaction.tables<AgentTables>().updateTable('agent_kills');
  const claimed = kills.set({ claimed_by: claimant, claimed_until: until });
  const { numUpdatedRows } = await claimed
    .where('kill_no', '=', kill_no)
    .where('finished_at', 'is', null)
    .where('claimed_until', '<=', now.toISOString())
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Changes a kill of a claimant. @returns true if the claimant still holds the kill. */
export async function changeKill(
  transaction: Transaction,
  { kill_no }: Pick<Kill, 'kill_no'>,
  claimant: string,
  change: Partial<Pick<Kill, 'claimed_until' | 'finished_at' | 'flipped_after_ms'>>,
): Promise<boolean> {
  const kills = transaction.tables<AgentTables>().updateTable('agent_kills').set(change);
  const own = kills.where('kill_no', '=', kill_no).where('claimed_by', '=', claimant);
  const { numUpdatedRows } = await own.executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
