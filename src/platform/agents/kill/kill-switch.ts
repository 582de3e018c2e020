import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import { pick } from '../../database/table.ts';
import { DomainError } from '../../errors.ts';
import type { PageQuery } from '../../http/fields.ts';
import { newestFirst } from '../../http/newest-first.ts';
import type { Actor } from '../../http/principal.ts';
import { keyedRequest, makeOnce } from '../../idempotency/keyed-results.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { rowFinder, rowInserter } from '../../rows.ts';
import { type Agent, descendantsOf, findAgent, lockAgent } from '../agent-rows.ts';
import { alertOfAgent } from '../alerting.ts';
import type { KillDeps } from '../deps.ts';
import { PLATFORM } from '../entries.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { KillInput, Reinstated, WireKill } from '../wire/kill.ts';
import { Carrying, claimUntil, recordIfPossible } from './carrying.ts';
import { abandonedKills, claimKill, findKill, type Kill, planSteps, type StepRow, stepsOfKills } from './kill-rows.ts';
import { reinstateAgent } from './reinstating.ts';
import { type KillStep, killSteps } from './steps.ts';
import { deliveriesOfKills } from './subscribers.ts';

/** Interval at which kills without a running process are searched for. */
const RESUME_MS = 2000;
const RESUME_AT_MOST_MS = 60_000;

/** Stops agents and all agents to which they delegate, and reports each step. */
export class KillSwitch {
  readonly #deps: KillDeps;
  readonly #steps: readonly KillStep[];
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(deps: KillDeps, steps: readonly KillStep[] = killSteps(deps)) {
    this.#deps = deps;
    this.#steps = steps;
  }

  /**
   * Stops an agent and its descendants. Each kind of step runs for all of them, children first, before the next kind. A
   * failed step does not prevent the others, and another process continues if this one dies.
   * @returns the receipt, after all steps have ended.
   * @throws DomainError `not_found`; `conflict` if a revoked agent is to be suspended.
   */
  async stop(actor: Actor, agentId: string, input: KillInput, idempotencyKey?: string): Promise<WireKill> {
    const { database, clock } = this.#deps;
    const claimant = randomUUID();
    const once = { keyed: keyedRequest(`agents/${agentId}/kill-switch`, idempotencyKey, input), now: clock() };
    const outcome = await database.write((transaction) =>
      makeOnce(
        transaction,
        once,
        () => this.#begin(transaction, actor, agentId, input, claimant),
        ({ kill_id }) => kill_id,
      ),
    );
    if ('earlier' in outcome) return this.find(outcome.earlier);
    await this.#carryOut(outcome.made, claimant);
    return this.find(outcome.made.kill_id);
  }

  /** @throws DomainError `not_found`. */
  async find(killId: string): Promise<WireKill> {
    const { database } = this.#deps;
    const [receipt] = await receiptsOf(database, [await findKill(database, killId)]);
    if (receipt === undefined) throw new Error('one kill became none');
    return receipt;
  }

  /**
   * Lists the uses of the kill switch that stopped an agent, alone or with others, newest first. @throws DomainError
   * `not_found`.
   */
  async list(agentId: string, { limit, cursor }: PageQuery): Promise<{ data: WireKill[]; next_cursor: string | null }> {
    const { database } = this.#deps;
    const { agent_no } = await findAgent(database, agentId);
    let kills = database.tables<AgentTables>().selectFrom('agent_kills').selectAll();
    kills = kills.where('kill_no', 'in', (of) =>
      of.selectFrom('agent_kill_steps').select('kill_no').where('agent_no', '=', agent_no),
    );
    const numbered = { list: 'kills', table: 'agent_kills', number: 'kill_no' } as const;
    const { page, next_cursor } = await newestFirst(kills, numbered, { limit, cursor });
    return { data: await receiptsOf(database, page), next_cursor };
  }

  /** Reinstates an agent: see `reinstateAgent`. */
  reinstate(actor: Actor, agentId: string, body: { reason: string }): Promise<Reinstated> {
    return reinstateAgent(this.#deps, actor, agentId, body);
  }

  /** Returns the job that continues kills whose process has died. */
  get job(): Job {
    return {
      name: 'agents/kill-switch',
      everyMs: RESUME_MS,
      atMostMs: RESUME_AT_MOST_MS,
      run: () => this.resumeAbandoned(),
    };
  }

  /** Starts running abandoned kills; `settled` resolves when they are done. */
  async resumeAbandoned(): Promise<void> {
    const { database, clock } = this.#deps;
    for (const kill of await abandonedKills(database, clock())) {
      const claimant = randomUUID();
      const until = claimUntil(clock(), this.#steps);
      const isOwn = await database.write(async (transaction) => {
        if (!(await claimKill(transaction, kill, { claimant, now: clock(), until }))) return false;
        await this.#record(transaction, [await agentRow(transaction, kill.agent_no)], 'kill.resumed', PLATFORM, kill);
        return true;
      });
      if (isOwn) this.#carryOut(kill, claimant).catch(() => {});
    }
  }

  /** Resolves when no step is running; remaining steps are run by another process, or after a restart. */
  async settled(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled([...this.#running]);
  }

  async #begin(
    transaction: Transaction,
    actor: Actor,
    agentId: string,
    input: KillInput,
    claimant: string,
  ): Promise<Kill> {
    const now = this.#deps.clock();
    const agent = await lockAgent(transaction, agentId);
    if (agent.state === 'revoked' && input.mode === 'suspend')
      throw new DomainError('conflict', 'the agent is permanently revoked, and cannot be suspended');
    const agents = [...(await descendantsOf(transaction, agent)).toReversed(), agent];
    const kill = await insertKill(transaction, {
      kill_id: randomUUID(),
      agent_no: agent.agent_no,
      ...input,
      started_by: actor.name,
      started_at: now.toISOString(),
      claimed_by: claimant,
      claimed_until: claimUntil(now, this.#steps),
    });
    await planSteps(transaction, kill, this.#steps, agents);
    const alert = alertOfAgent('agent.killed', { agent_id: agentId, what: kill.kill_id });
    await this.#deps.alerts.notify(transaction, alert);
    await this.#record(transaction, agents, 'kill.started', actor.name, kill);
    return kill;
  }

  #record(transaction: Transaction, agents: readonly Agent[], action: string, actor: string, kill: Kill) {
    const more = pick(kill, ['kill_id', 'mode', 'reason']);
    const of = ['kill', kill.kill_id] as const;
    const entries = agents.map(({ agent_id: agentId }) => ({ agentId, actor, action, of, more }));
    return recordIfPossible(this.#deps.log, transaction, entries);
  }

  #carryOut(kill: Kill, claimant: string): Promise<void> {
    const running = new Carrying(this.#deps, this.#steps, kill, claimant).toTheEnd(this.#ending.signal);
    this.#running.add(running);
    const forget = () => this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }
}

const agentRow = rowFinder(AGENT_TABLES, 'agents', 'agent_no');
const insertKill = rowInserter(AGENT_TABLES, 'agent_kills');

/** Returns the receipts of kills in order. */
async function receiptsOf(reader: Reader, kills: readonly Kill[]): Promise<WireKill[]> {
  const killNos = kills.map(({ kill_no }) => kill_no);
  const steps = Map.groupBy(await stepsOfKills(reader, killNos), ({ kill_no }) => kill_no);
  const deliveries = Map.groupBy(await deliveriesOfKills(reader, killNos), ({ kill_no }) => kill_no);
  const agentIds = await agentIdsOf(reader, kills);
  return kills.map((kill) => {
    const own = steps.get(kill.kill_no) ?? [];
    return {
      ...pick(kill, ['kill_id', 'mode', 'reason', 'started_by', 'started_at', 'finished_at']),
      agent_id: agentIds.get(kill.agent_no) ?? '',
      public_verification_flipped_after_ms: kill.flipped_after_ms,
      agents: agentsOf(own),
      deliveries: (deliveries.get(kill.kill_no) ?? []).map(({ kill_no: _, ...delivery }) => delivery),
      message: messageOf(kill.finished_at, own),
    };
  });
}

async function agentIdsOf(reader: Reader, kills: readonly Kill[]): Promise<Map<number, string>> {
  const nos = [...new Set(kills.map(({ agent_no }) => agent_no))];
  if (nos.length === 0) return new Map();
  const agents = reader.tables<AgentTables>().selectFrom('agents').select(['agent_no', 'agent_id']);
  const rows = await agents.where('agent_no', 'in', nos).execute();
  return new Map(rows.map(({ agent_no, agent_id }) => [agent_no, agent_id]));
}

/** Returns the agents in the order in which their steps run: children first. */
function agentsOf(steps: readonly StepRow[]): WireKill['agents'] {
  const byAgent = Map.groupBy(steps, ({ agent_id }) => agent_id);
  return [...byAgent].map(([agent_id, own]) => ({
    agent_id,
    name: own[0]?.name ?? '',
    steps: own.map((row) => pick(row, ['step', 'started_at', 'ended_at', 'deadline_ms', 'result', 'detail'])),
  }));
}

function messageOf(finishedAt: string | null, steps: readonly StepRow[]): string {
  const count = (wanted: StepRow['result']) => steps.filter(({ result }) => result === wanted).length;
  const [failed, left] = [count('failed'), count(null)];
  const parts = [
    finishedAt === null ? `${left} steps remain, and run even after a restart.` : '',
    failed > 0
      ? `${failed} steps failed: read the reasons, and use the kill switch again. Completed steps remain in effect.`
      : '',
    `${count('completed')} steps were completed.`,
    'Linked IAM apps were not disabled and vaults were not locked: neither is available.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
