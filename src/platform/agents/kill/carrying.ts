import { messageOf } from '../../../core/errors.ts';
import type { AuditLog } from '../../audit/api.ts';
import type { Transaction } from '../../database/database.ts';
import { within, writeWithin } from '../../database/within.ts';
import { DomainError } from '../../errors.ts';
import type { KillDeps } from '../deps.ts';
import { type AgentEntry, writeEntries } from '../entries.ts';
import { FlipWatch } from './asking.ts';
import {
  changeKill,
  endStep,
  type Kill,
  nextStep,
  planSteps,
  type StepEnd,
  type StepRow,
  stepsOfKills,
  unplannedBelow,
} from './kill-rows.ts';
import type { KillStep } from './steps.ts';

/** Time limit for an attempt to record the end of a step. */
const WRITING_MS = 2000;
/** Time of a claim beyond the deadline of a step: two attempts to record its end. */
const CLAIM_MS = 2 * WRITING_MS + 1000;

/** Returns the end of the claim on a kill whose next step may be any of these. */
export function claimUntil(now: Date, steps: readonly KillStep[]): string {
  const longestMs = Math.max(...steps.map(({ deadlineMs }) => deadlineMs));
  return new Date(now.getTime() + longestMs + CLAIM_MS).toISOString();
}

/** Error if another process has taken over the kill. */
class TakenOver extends Error {}
/** Error if the step has already ended, because an attempt that was given up succeeded. */
class EndedBefore extends Error {}

/** Runs a kill, from its first unfinished step to its last. */
export class Carrying {
  readonly #deps: KillDeps;
  readonly #steps: readonly KillStep[];
  readonly #kill: Kill;
  readonly #claimant: string;
  readonly #watch: FlipWatch;

  constructor(deps: KillDeps, steps: readonly KillStep[], kill: Kill, claimant: string) {
    this.#deps = deps;
    this.#steps = steps;
    this.#kill = kill;
    this.#claimant = claimant;
    this.#watch = new FlipWatch(deps.askPublic, deps.clock);
  }

  /**
   * Returns without an error if another process has taken over the kill. @param signal stops after the current step.
   */
  async toTheEnd(signal: AbortSignal): Promise<void> {
    const { database } = this.#deps;
    try {
      for (let done = -1; ; ) {
        const row = await nextStep(database, this.#kill, done);
        if (row === undefined) return await this.#finish();
        if (signal.aborted) return await this.#release();
        await this.#carryOut(row);
        done = row.number;
        if (row.step === 'agent_state') this.#watch.begin(row.agent_id);
      }
    } catch (error) {
      if (!(error instanceof TakenOver)) throw error;
    } finally {
      this.#watch.stop();
    }
  }

  /** Always records how the step ended, even if it threw. */
  async #carryOut(row: StepRow): Promise<void> {
    const started = this.#deps.clock();
    try {
      await this.#attempt(row, started);
    } catch (error) {
      if (error instanceof TakenOver) throw error;
      if (!(error instanceof EndedBefore)) await this.#fail(row, started, sentence(messageOf(error)));
    }
  }

  async #attempt(row: StepRow, started: Date): Promise<void> {
    const step = this.#steps.find(({ name }) => name === row.step);
    if (step === undefined) throw new Error('this version does not know the step');
    const subject = { kill: this.#kill, agentId: row.agent_id, watch: this.#watch };
    if ('act' in step) {
      await writeWithin(this.#deps.database, row.deadline_ms, async (transaction) => {
        const end = await step.act(transaction, subject);
        if (row.step === 'agent_state') await this.#planNewChildren(transaction, row);
        await this.#end(transaction, row, started, end);
      });
      return;
    }
    const end = await within(row.deadline_ms, () => step.look(subject));
    await this.#write(row, started, end);
  }

  /**
   * Adds steps for agents that were registered under this agent after the kill started and before the agent was
   * stopped.
   */
  async #planNewChildren(transaction: Transaction, row: StepRow): Promise<void> {
    const added = await unplannedBelow(transaction, row);
    if (added.length > 0) await planSteps(transaction, row, this.#steps, added.toReversed());
  }

  /** Records a failed step, without its entry if writing the entry is what fails. */
  async #fail(row: StepRow, started: Date, detail: string): Promise<void> {
    const end: StepEnd = { result: 'failed', detail };
    try {
      await this.#write(row, started, end);
    } catch (error) {
      if (error instanceof TakenOver) throw error;
      if (error instanceof EndedBefore) return;
      await writeWithin(this.#deps.database, WRITING_MS, (transaction) =>
        this.#note(transaction, row, started, without(end, messageOf(error))),
      );
    }
  }

  #write(row: StepRow, started: Date, end: StepEnd): Promise<void> {
    return writeWithin(this.#deps.database, WRITING_MS, (transaction) => this.#end(transaction, row, started, end));
  }

  /**
   * Records the end of a step. No other transaction waits for the step's row, so it may be changed after locking the
   * head of the stream.
   */
  async #end(transaction: Transaction, row: StepRow, started: Date, end: StepEnd): Promise<void> {
    const { kill_id, mode, started_by: actor } = this.#kill;
    const { agent_id: agentId, step, deadline_ms } = row;
    const { result, detail } = end;
    const more = { kill_id, mode, step, result, detail, deadline_ms, started_at: started.toISOString() };
    const entry: AgentEntry = { agentId, actor, action: 'kill.step', of: ['kill', kill_id], more };
    const [refusal] = await recordIfPossible(this.#deps.log, transaction, [entry]);
    return this.#note(transaction, row, started, refusal === undefined ? end : without(end, refusal));
  }

  async #note(transaction: Transaction, row: StepRow, started: Date, end: StepEnd): Promise<void> {
    const { result, detail, flippedAt } = end;
    const now = this.#deps.clock();
    const isOfKilled = row.agent_no === this.#kill.agent_no;
    const flipped_after_ms = flippedAt && flippedAt.getTime() - Date.parse(this.#kill.started_at);
    const isOwn = await changeKill(transaction, this.#kill, this.#claimant, {
      claimed_until: claimUntil(now, this.#steps),
      ...(isOfKilled && flipped_after_ms !== undefined ? { flipped_after_ms } : {}),
    });
    if (!isOwn) throw new TakenOver();
    const ended = { started_at: started.toISOString(), ended_at: now.toISOString(), result, detail };
    if (!(await endStep(transaction, row, ended))) throw new EndedBefore();
  }

  async #finish(): Promise<void> {
    const { database, clock } = this.#deps;
    await database.write(async (transaction) => {
      const steps = await stepsOfKills(transaction, [this.#kill.kill_no]);
      const change = { finished_at: clock().toISOString() };
      if (!(await changeKill(transaction, this.#kill, this.#claimant, change))) throw new TakenOver();
      await recordIfPossible(this.#deps.log, transaction, this.#finishedEntries(steps));
    });
  }

  #finishedEntries(steps: readonly StepRow[]): AgentEntry[] {
    const { kill_id, mode, started_by: actor } = this.#kill;
    const count = (of: readonly StepRow[], wanted: string) => of.filter(({ result }) => result === wanted).length;
    return Object.values(Object.groupBy(steps, ({ agent_id }) => agent_id)).flatMap((own = []) => {
      const [first] = own;
      if (first === undefined) return [];
      const counts = { completed: count(own, 'completed'), failed: count(own, 'failed') };
      const more = { kill_id, mode, ...counts, not_available: count(own, 'not_available') };
      return [{ agentId: first.agent_id, actor, action: 'kill.finished', of: ['kill', kill_id] as const, more }];
    });
  }

  /** Releases the kill, so that another process can continue at once. */
  async #release(): Promise<void> {
    const { database, clock } = this.#deps;
    await database.write((transaction) =>
      changeKill(transaction, this.#kill, this.#claimant, { claimed_until: clock().toISOString() }),
    );
  }
}

function without({ detail, ...end }: StepEnd, refusal: string): StepEnd {
  return { ...end, detail: `${detail} No entry could be written: ${sentence(refusal)}` };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Appends entries, except those whose stream accepts none, because an agent must be stopped in any case.
 * @returns the reasons for the entries that were not appended.
 */
export async function recordIfPossible(
  log: Pick<AuditLog, 'appendAllIn'>,
  transaction: Transaction,
  entries: readonly AgentEntry[],
): Promise<string[]> {
  try {
    await writeEntries(log, transaction, entries);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (entries.length === 1) return [messageOf(error)];
  }
  const refused: string[] = [];
  for (const entry of entries) refused.push(...(await recordIfPossible(log, transaction, [entry])));
  return refused;
}
