import type { Json } from '../../core/json/canonical.ts';
import type { Administration } from '../accounts/api.ts';
import type { Alerts } from '../alerts/api.ts';
import type { AuditLog } from '../audit/api.ts';
import type { Database, Reader, Transaction } from '../database/database.ts';
import type { Outbox } from '../jobs/outbox.ts';
import type { Dispatcher } from '../outgoing/dispatcher.ts';
import type { Agent } from './agent-rows.ts';
import type { AgentEntry } from './entries.ts';
import type { TrustRuleName } from './enums.ts';
import type { SecurityEvent } from './identity/tokens.ts';
import type { AskPublic } from './kill/asking.ts';
import type { TrustTimes } from './settings.ts';
import type { LoggedAction } from './wire/actions.ts';
import type { Onboarded } from './wire/agents.ts';

/** Dependencies of the service. */
export interface AgentServiceDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  administration: Administration;
  alerts: Pick<Alerts, 'notify'>;
  outbox: Pick<Outbox, 'add'>;
  /** Returns the public address of the platform, under which this service is at `/agents`. */
  publicUrl: () => string;
  /** Internal hosts that messages may be sent to. */
  outgoingHosts: readonly string[];
  trustTimes: TrustTimes;
}

/** Event that the trust ledger has a rule for. */
export interface TrustNote {
  rule: TrustRuleName;
  action_id?: string;
  detail?: { [name: string]: Json };
}

/** Result of a change of a score, with entries that the caller appends last in the transaction. */
export type TrustChange = LoggedAction['trust'] & { entries: AgentEntry[] };

/** Trust ledger, for the other parts of the service. */
export interface TrustPort {
  /**
   * Locks the family of an agent and applies the rule, including its effects on descendants. An agent whose score falls
   * to 20 or less is suspended.
   */
  note(transaction: Transaction, agentId: string, note: TrustNote): Promise<TrustChange>;
}

/** Issued identity, as shown by an onboarding; its private keys are not stored. */
export type IssuedIdentity = Pick<Onboarded, 'quantum_identity' | 'certificate' | 'passport'>;

/** Issuer of identities, for the other parts of the service. */
export interface IssuerPort {
  /**
   * Issues keys, certificates and a passport for an agent, and stores the public parts as its newest identity. Earlier
   * identities are superseded, and their certificates revoked.
   * @param key_id of the API key issued with them.
   */
  issue(transaction: Transaction, agent: Agent, key_id: string): Promise<IssuedIdentity>;
  /**
   * Suspends the passport of an agent's newest identity if it is valid. @returns its jti; null if no passport was
   * valid.
   */
  suspendPassport(transaction: Transaction, agent: Agent): Promise<string | null>;
  /** @returns a Security Event Token in compact form, sent as `application/secevent+jwt` (RFC 8935). */
  signSecurityEvent(reader: Reader, event: SecurityEvent & { agentId: string }): Promise<string>;
}

/** Dependencies of the kill switch. */
export interface KillDeps
  extends Pick<AgentServiceDeps, 'database' | 'clock' | 'log' | 'administration' | 'alerts' | 'outbox'> {
  trust: TrustPort;
  issuer: Pick<IssuerPort, 'signSecurityEvent'>;
  /** Sender of tokens. */
  dispatcher: Pick<Dispatcher, 'send'>;
  askPublic: AskPublic;
}
