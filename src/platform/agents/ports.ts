import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import type { Agent } from './agent-rows.ts';
import type { AgentEntry } from './entries.ts';
import type { TrustRuleName, TrustTier } from './enums.ts';

/** Something that the ledger of trust has a rule for. */
export interface TrustNote {
  rule: TrustRuleName;
  action_id?: string;
  detail?: { [name: string]: Json };
}

/** The result of a change of a score. */
export interface TrustChange {
  before: number;
  after: number;
  tier: TrustTier;
  /** Sentences for people. */
  reasons: string[];
  /** To be appended by whoever asked, last in the transaction. */
  entries: AgentEntry[];
}

/** The ledger of trust, as the other parts of the service use it. */
export interface TrustPort {
  /**
   * Locks the family of an agent and writes what the rule says, for its descendants, too. An agent whose score falls to
   * 20 or less is suspended by it.
   */
  note(transaction: Transaction, agentId: string, note: TrustNote): Promise<TrustChange>;
}

/** The issued identity, as an onboarding shows it. */
export interface IssuedIdentity {
  quantum_identity: {
    did: string;
    public_keys: { [name: string]: { [member: string]: string } };
    /** Kept nowhere. */
    private_keys_once: { [name: string]: string };
  };
  certificate: {
    pem: string;
    chain_pem: string;
    serial: string;
    not_after: string;
    pq: { pem: string; chain_pem: string; serial: string };
  };
  passport: { jti: string; jws: string; status_url: string };
}

/** The issuer of identities, as onboarding uses it. */
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
}

/** Vaults, as onboarding uses them. */
export interface VaultPort {
  /** The vault of an agent, made where it has none. */
  open(transaction: Transaction, agent: Agent): Promise<{ vault_id: string; status: 'open'; encryption: string }>;
}
