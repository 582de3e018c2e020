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

/** Result of a note. The entries cover the consequences; the agent's own lines are separate. */
export interface LedgerChange extends TrustChange {
  lines: TrustLine[];
}

/** Ledgers of whole families, locked until the transaction ends. Notes change them in memory; `write` stores them. */
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

  /** Locks the families of these agents in one order. Call this once in a transaction. Unknown ids are ignored. */
  static async begin(transaction: Transaction, deps: TrustDeps, agentIds: readonly string[]): Promise<FamilyLedgers> {
    return new FamilyLedgers(transaction, deps, await lockFamilies(transaction, agentIds));
  }

  /** Returns an agent with the notes so far applied; undefined if the id is unknown. */
  agent(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  /** Returns a port for callers that note a single event and append the result: its own lines are among the entries. */
  get port(): TrustPort {
    return {
      note: async (_transaction, agentId, note) => {
        const { lines, entries, ...change } = await this.note(agentId, note);
        return { ...change, entries: [...lines.map((line) => lineEntry(agentId, line)), ...entries] };
      },
    };
  }

  /**
   * Notes an event of an agent, and its consequences for the family.
   * @throws DomainError `not_found`; `conflict` for `reinstated` under a parent that is not active.
   */
  async note(agentId: string, note: TrustNote): Promise<LedgerChange> {
    const agent = this.#need(agentId);
    if (note.rule === 'reinstated') this.#refuseBelowParent(agent);
    const before = agent.score;
    const { line, reasons } = this.#step(agent, note);
    const entries = line === null ? [] : await this.#follow(agent, 'auto');
    return { before, after: agent.score, tier: agent.tier, reasons, lines: line === null ? [] : [line], entries };
  }

  /** Counts a recorded action of an agent. */
  countAction(agent: Agent): void {
    this.#change(agent, { actions: agent.actions + 1 });
  }

  /** Stores all notes. */
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

  /**
   * Suspends an agent whose score fell too low, and caps the agents to which it delegates. @returns the entries of all
   * changes.
   */
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
    throw new DomainError('conflict', `the agent that delegates to it is ${state}; reinstate agent ${agent_id} first`);
  }

  #parentOf({ parent_agent_id }: Agent): Agent | undefined {
    return parent_agent_id === null ? undefined : this.#need(parent_agent_id);
  }

  #need(agentId: string): Agent {
    const agent = this.#agents.get(agentId);
    if (agent === undefined) throw new DomainError('not_found', 'no agent has this ID');
    return agent;
  }

  #change(agent: Agent, change: Partial<Agent>): void {
    Object.assign(agent, change);
    this.#changed.add(agent);
  }
}

/** Returns the entry for a line of the ledger. */
function lineEntry(agentId: string, line: TrustLine): AgentEntry {
  return { agentId, actor: PLATFORM, action: 'trust.changed', of: ['trust', agentId], more: lineToEntry(line) };
}

/** Converts a line for entries. */
export function lineToEntry(line: TrustLine) {
  return { ...line, tier: tierOf(line.after) };
}

/** @param passport jti of the suspended passport; null if none was valid. */
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

/** Writer of all changes to an agent's trust. */
export class TrustWriter implements TrustPort {
  readonly #deps: TrustDeps;

  constructor(deps: Omit<TrustDeps, 'issuer'>, issuer: TrustDeps['issuer']) {
    this.#deps = { ...deps, issuer };
  }

  /** Notes an event: see `TrustPort`. @throws DomainError as `FamilyLedgers.note`. */
  async note(transaction: Transaction, agentId: string, note: TrustNote): Promise<TrustChange> {
    const ledgers = await this.begin(transaction, [agentId]);
    const change = await ledgers.port.note(transaction, agentId, note);
    await ledgers.write();
    return change;
  }

  /** Locks the families of several agents in one order. Call this once in a transaction. */
  begin(transaction: Transaction, agentIds: readonly string[]): Promise<FamilyLedgers> {
    return FamilyLedgers.begin(transaction, this.#deps, agentIds);
  }
}

const EVERY_MS = 10 * 60_000;
/** Maximum number of agents that are examined at once. */
const AT_ONCE = 200;

/** Returns the job that lowers the score of agents that were idle for too long to the floor of their tier. */
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
      // The agent has acted in the meantime.
      if (due_at === null || due_at > now) return;
      const { entries } = await ledgers.port.note(transaction, agent_id, { rule: 'idle' });
      await ledgers.write();
      await writeEntries(log, transaction, entries);
    });
  return due.length;
}
