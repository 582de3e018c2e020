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

/** The tools of the service. */
export interface AgentServiceDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  administration: Administration;
  alerts: Pick<Alerts, 'notify'>;
  outbox: Pick<Outbox, 'add'>;
  /** The public address of the platform: this service is `/agents` there. */
  publicUrl: () => string;
  /** Hosts of the inside to which something may be sent. */
  outgoingHosts: readonly string[];
  trustTimes: TrustTimes;
}

/** Something that the ledger of trust has a rule for. */
export interface TrustNote {
  rule: TrustRuleName;
  action_id?: string;
  detail?: { [name: string]: Json };
}

/** The result of a change of a score, with entries that whoever asked appends, last in the transaction. */
export type TrustChange = LoggedAction['trust'] & { entries: AgentEntry[] };

/** The ledger of trust, as the other parts of the service use it. */
export interface TrustPort {
  /**
   * Locks the family of an agent and writes what the rule says, for its descendants, too. An agent whose score falls to
   * 20 or less is suspended by it.
   */
  note(transaction: Transaction, agentId: string, note: TrustNote): Promise<TrustChange>;
}

/** The issued identity, as an onboarding shows it; its private keys are kept nowhere. */
export type IssuedIdentity = Pick<Onboarded, 'quantum_identity' | 'certificate' | 'passport'>;

/** The issuer of identities, as the other parts of the service use it. */
export interface IssuerPort {
  /**
   * Makes keys, certificates and a passport for an agent, and stores what is public of them as its newest identity.
   * Those of before are superseded, and their certificates revoked.
   * @param key_id of the API key that comes with them.
   */
  issue(transaction: Transaction, agent: Agent, key_id: string): Promise<IssuedIdentity>;
  /**
   * Suspends the passport of an agent's newest identity where it is valid. @returns its jti; null where none was valid.
   */
  suspendPassport(transaction: Transaction, agent: Agent): Promise<string | null>;
  /** @returns a Security Event Token in its compact form: `application/secevent+jwt` of RFC 8935. */
  signSecurityEvent(reader: Reader, event: SecurityEvent & { agentId: string }): Promise<string>;
}

/** The tools of the kill switch. */
export interface KillDeps
  extends Pick<AgentServiceDeps, 'database' | 'clock' | 'log' | 'administration' | 'alerts' | 'outbox'> {
  trust: TrustPort;
  issuer: Pick<IssuerPort, 'signSecurityEvent'>;
  /** The way out, for tokens. */
  dispatcher: Pick<Dispatcher, 'send'>;
  askPublic: AskPublic;
}
