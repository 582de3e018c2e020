import type { Transaction } from '../../database/database.ts';
import type { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { Issuer } from '../identity/issuer.ts';
import type { TrustPort } from '../ports.ts';
import type { AskPublic } from './asking.ts';

/** The tools of the kill switch. */
export interface KillDeps
  extends Pick<AgentServiceDeps, 'database' | 'clock' | 'log' | 'administration' | 'alerts' | 'outbox'> {
  trust: TrustPort;
  issuer: Pick<Issuer, 'signSecurityEvent'>;
  /** The way out, for tokens. */
  dispatcher: Pick<Dispatcher, 'send'>;
  /** Ends what an agent has taken out of its vault, as far as the vault knows. */
  endLeases(
    transaction: Transaction,
    agent: Agent,
    end: { because: string; now: Date },
  ): Promise<{ ended: number; handed_out: readonly string[] }>;
  askPublic: AskPublic;
}
