import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Job } from '../../jobs/scheduler.ts';
import type { Agent } from '../agent-rows.ts';
import { alertOfAgent } from '../alerting.ts';
import type { AgentServiceDeps, IssuerPort, TrustChange, TrustNote, TrustPort } from '../deps.ts';
import { type AgentEntry, PLATFORM, writeEntries } from '../entries.ts';
import { type SuspensionCause, tierOf } from '../enums.ts';
import type { AgentTables } from '../tables.ts';
import type { TrustLine } from '../wire/trust.ts';
import { stepOf, type TrustStep } from './ledger.ts';
import { SUSPENDED_AT } from './rules.ts';
import { type AgentLine, insertLines, lockFamilies, writeStandings } from './trust-rows.ts';

interface TrustDeps extends Pick<AgentServiceDeps, 'clock' | 'alerts' | 'trustTimes'> {
  issuer: Pick<IssuerPort, 'suspendPassport'>;
}

/** The result of a note. Its entries are of the consequences; the lines of the agent itself stand apart. */
export interface LedgerChange extends TrustChange {
  lines: TrustLine[];
}

/**
 * The ledgers of whole families, which are this transaction's until it ends. Notes change them here; `write` has the
 * database know it.
 */
export class FamilyLedgers {
  readonly #transaction: Transaction;
  readonly #deps: TrustDeps;
  readonly #now: Date;
  readonly #agents: ReadonlyMap<string, Agent>;
  readonly #changed = new Set<Agent>();
  readonly #lines: AgentLine[] = [];

  private constructor(transaction: Transaction, deps: TrustDeps, agents: readonly Agent[]) {
    this.#transaction = transaction;
    this.#deps = deps;
    this.#now = deps.clock();
    this.#agents = new Map(agents.map((agent) => [agent.agent_id, agent]));
  }

  /** Locks the families of these agents, in one order: once in a transaction. Ids of no agent are left out. */
  static async begin(transaction: Transaction, deps: TrustDeps, agentIds: readonly string[]): Promise<FamilyLedgers> {
    return new FamilyLedgers(transaction, deps, await lockFamilies(transaction, agentIds));
  }

  /** An agent as it stands after the notes so far; undefined where there is none of this id. */
  agent(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  /** The same for whoever notes one thing and appends what comes of it: its own lines are among the entries. */
  get port(): TrustPort {
    return {
      note: async (_transaction, agentId, note) => {
        const { lines, entries, ...change } = await this.note(agentId, note);
        return { ...change, entries: [...lines.map((line) => lineEntry(agentId, line)), ...entries] };
      },
    };
  }

  /**
   * Notes one thing of one agent, and what follows from it for its family.
   * @throws DomainError `not_found`; `conflict` for `reinstated` below a parent that is not active.
   */
  async note(agentId: string, note: TrustNote): Promise<LedgerChange> {
    const agent = this.#need(agentId);
    if (note.rule === 'reinstated') this.#refuseBelowParent(agent);
    const before = agent.score;
    const { line, reasons } = this.#step(agent, note);
    const entries = line === null ? [] : await this.#follow(agent, 'auto');
    return { before, after: agent.score, tier: agent.tier, reasons, lines: line === null ? [] : [line], entries };
  }

  /** Counts an action of an agent that is recorded. */
  countAction(agent: Agent): void {
    this.#change(agent, { actions: agent.actions + 1 });
  }

  /** Has the database know all notes. */
  async write(): Promise<void> {
    await insertLines(this.#transaction, this.#lines.splice(0));
    await writeStandings(this.#transaction, [...this.#changed]);
    this.#changed.clear();
  }

  #step(agent: Agent, note: TrustNote): TrustStep {
    const { trustTimes: times } = this.#deps;
    const parentScore = this.#parentOf(agent)?.score ?? null;
    const step = stepOf(agent, note, { now: this.#now, times, parentScore });
    if (step.line !== null) this.#lines.push({ agent_no: agent.agent_no, line: step.line });
    this.#change(agent, step.standing);
    return step;
  }

  /** Suspends an agent that fell so far, and holds those that it delegates to. @returns entries of all of it. */
  async #follow(agent: Agent, because: SuspensionCause): Promise<AgentEntry[]> {
    const entries: AgentEntry[] = [];
    if (agent.score <= SUSPENDED_AT && ['active', 'registered'].includes(agent.state))
      entries.push(...(await this.#suspend(agent, because)));
    for (const child of this.#agents.values()) {
      if (child.parent_agent_id !== agent.agent_id || child.score <= agent.score) continue;
      const held = this.#step(child, { rule: 'held_by_parent', detail: { parent_agent_id: agent.agent_id } });
      if (held.line === null) continue;
      entries.push(lineEntry(child.agent_id, held.line), ...(await this.#follow(child, 'parent')));
    }
    return entries;
  }

  async #suspend(agent: Agent, suspended_because: SuspensionCause): Promise<AgentEntry[]> {
    const state_changed_at = this.#now.toISOString();
    this.#change(agent, { state: 'suspended', suspended_because, state_changed_at, due_at: null });
    const passport = await this.#deps.issuer.suspendPassport(this.#transaction, agent);
    if (suspended_because === 'auto') {
      const what = String(agent.ledger_length);
      const alert = alertOfAgent('agent.auto_suspended', { agent_id: agent.agent_id, what });
      await this.#deps.alerts.notify(this.#transaction, alert);
    }
    return suspendedEntries(agent, passport);
  }

  #refuseBelowParent(agent: Agent): void {
    const parent = this.#parentOf(agent);
    if (parent === undefined || (parent.state === 'active' && parent.score > SUSPENDED_AT)) return;
    const { agent_id, state } = parent;
    throw new DomainError('conflict', `the agent that delegates to it is ${state}: reinstate agent ${agent_id} first`);
  }

  #parentOf({ parent_agent_id }: Agent): Agent | undefined {
    return parent_agent_id === null ? undefined : this.#need(parent_agent_id);
  }

  #need(agentId: string): Agent {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw new DomainError('not_found', 'there is no agent of this id');
    return agent;
  }

  #change(agent: Agent, change: Partial<Agent>): void {
    Object.assign(agent, change);
    this.#changed.add(agent);
  }
}

/** The entry for a score that changed, or would have. */
function lineEntry(agentId: string, line: TrustLine): AgentEntry {
  return { agentId, actor: PLATFORM, action: 'trust.changed', of: ['trust', agentId], more: lineToEntry(line) };
}

/** A line as entries have it. */
export function lineToEntry(line: TrustLine) {
  return { ...line, tier: tierOf(line.after) };
}

/** @param passport its jti; null where none was valid. */
function suspendedEntries(agent: Agent, passport: string | null): AgentEntry[] {
  const { agent_id: agentId, suspended_because: because, score } = agent;
  const entry = { agentId, actor: PLATFORM };
  const suspended: AgentEntry = {
    ...entry,
    action: 'agent.suspended',
    of: ['agent', agentId],
    more: { because, score },
  };
  if (passport === null) return [suspended];
  return [suspended, { ...entry, action: 'passport.suspended', of: ['passport', passport], more: { because } }];
}

/** The one place that notes every effect on an agent's trust. */
export class TrustWriter implements TrustPort {
  readonly #deps: TrustDeps;

  constructor(deps: Omit<TrustDeps, 'issuer'>, issuer: TrustDeps['issuer']) {
    this.#deps = { ...deps, issuer };
  }

  /** See `TrustPort`. @throws DomainError as `FamilyLedgers.note`. */
  async note(transaction: Transaction, agentId: string, note: TrustNote): Promise<TrustChange> {
    const ledgers = await this.begin(transaction, [agentId]);
    const change = await ledgers.port.note(transaction, agentId, note);
    await ledgers.write();
    return change;
  }

  /** Locks the families of several agents, in one order: once in a transaction. */
  begin(transaction: Transaction, agentIds: readonly string[]): Promise<FamilyLedgers> {
    return FamilyLedgers.begin(transaction, this.#deps, agentIds);
  }
}

const EVERY_MS = 10 * 60_000;
/** Agents that are looked at in one go. */
const AT_ONCE = 200;

/** The effect of time on trust: agents that were idle for too long fall to the floor of their tier. */
export function trustJob(deps: Pick<AgentServiceDeps, 'database' | 'clock' | 'log'>, trust: TrustWriter): Job {
  return {
    name: 'agents/trust',
    everyMs: EVERY_MS,
    atMostMs: EVERY_MS,
    async run() {
      while ((await decaySome(deps, trust)) === AT_ONCE);
    },
  };
}

async function decaySome(
  { database, clock, log }: Pick<AgentServiceDeps, 'database' | 'clock' | 'log'>,
  trust: TrustWriter,
): Promise<number> {
  const now = clock().toISOString();
  const agents = database.tables<AgentTables>().selectFrom('agents').select('agent_id');
  const due = await agents.where('due_at', '<=', now).orderBy('due_at').limit(AT_ONCE).execute();
  for (const { agent_id } of due)
    await database.write(async (transaction) => {
      const ledgers = await trust.begin(transaction, [agent_id]);
      const { due_at = null } = ledgers.agent(agent_id) ?? {};
      // It did something meanwhile.
      if (due_at === null || due_at > now) return;
      const { entries } = await ledgers.port.note(transaction, agent_id, { rule: 'idle' });
      await ledgers.write();
      await writeEntries(log, transaction, entries);
    });
  return due.length;
}
