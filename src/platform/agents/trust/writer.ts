import type { Transaction } from '../../database/database.ts';
import type { Job } from '../../jobs/scheduler.ts';
import type { AgentServiceDeps, TrustChange, TrustNote, TrustPort } from '../deps.ts';
import { writeEntries } from '../entries.ts';
import type { AgentTables } from '../tables.ts';
import { FamilyLedgers, type TrustDeps } from './families.ts';

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
