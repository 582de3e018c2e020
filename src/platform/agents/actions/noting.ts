import type { Transaction } from '../../database/database.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps } from '../deps.ts';
import { noteGhost } from '../ghosts.ts';
import type { IssuerPort } from '../ports.ts';
import type { FamilyLedgers, LedgerChange } from '../trust/families.ts';
import { EARNS_NOTHING } from '../trust/reasons.ts';
import type { TrustWriter } from '../trust/writer.ts';
import type { Vaults } from '../vault/vaults.ts';
import { type JudgedAction, otherThanRegistered } from './judging.ts';
import type { ActionReport } from './report.ts';

export interface ActionDeps extends Pick<AgentServiceDeps, 'clock' | 'log' | 'alerts'> {
  trust: TrustWriter;
  issuer: Pick<IssuerPort, 'suspendPassport'>;
  vaults: Pick<Vaults, 'decoyTools' | 'trip'>;
}

/** Notes what an action is to its agent's ledger: a line for each violation, or a point for one that is attested. */
export async function noteJudged(
  transaction: Transaction,
  deps: ActionDeps,
  ledgers: FamilyLedgers,
  { agent, report, judged }: { agent: Agent; report: ActionReport; judged: JudgedAction },
): Promise<LedgerChange> {
  const { agent_id } = agent;
  const { action_id, violations, isAttested } = judged;
  const sum = nothingYet(agent);
  for (const { rule, message } of violations) {
    if (rule !== 'composition_changed') {
      add(sum, await ledgers.note(agent_id, { rule, action_id, detail: { message } }));
      continue;
    }
    const sighting = otherThanRegistered(agent, report.content);
    if (sighting === null) continue;
    const seen = { ...sighting, actor: report.actor, action_id };
    const ports = { trust: ledgers.port, issuer: deps.issuer };
    add(sum, { ...(await noteGhost(transaction, deps, ports, agent, seen)), lines: [] });
  }
  if (violations.length > 0) return sum;
  if (isAttested) add(sum, await ledgers.note(agent_id, { rule: 'attested_action', action_id }));
  else sum.reasons.push(EARNS_NOTHING.unattested);
  return sum;
}

/** Notes an action of an agent that may not act. One that is revoked loses nothing any more. */
export async function noteAttempt(ledgers: FamilyLedgers, agent: Agent, action_id: string): Promise<LedgerChange> {
  if (agent.state === 'revoked') return nothingYet(agent);
  return ledgers.note(agent.agent_id, { rule: 'attempt_while_suspended', action_id });
}

function nothingYet({ score, tier }: Agent): LedgerChange {
  return { before: score, after: score, tier, reasons: [], entries: [], lines: [] };
}

/** Adds up several notes of one action. */
function add(sum: LedgerChange, { after, tier, reasons, entries, lines }: LedgerChange): void {
  Object.assign(sum, { after, tier });
  sum.reasons.push(...reasons);
  sum.entries.push(...entries);
  sum.lines.push(...lines);
}
