import type { Transaction } from '../../database/database.ts';
import type { TrustChange, TrustNote, TrustPort } from '../ports.ts';
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
