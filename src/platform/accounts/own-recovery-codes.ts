import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { ownAct } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { findPerson, readPerson, updatePerson } from './person-rows.ts';
import { codesLeft, storeNewCodes } from './recovery-codes.ts';
import { factorsOf } from './second-factors.ts';

/** One-time codes that replace a lost second factor. */
export class RecoveryCodes {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /** Returns the number of codes that were not used. */
  async left(personId: string): Promise<number> {
    return codesLeft(this.#deps.secrets, await readPerson(this.#deps.database, personId));
  }

  /**
   * Makes new codes, which replace all earlier ones, and notifies the person by mail.
   * @returns the codes, which are not shown again.
   * @throws DomainError `conflict` without a second factor.
   */
  async renew(personId: string): Promise<string[]> {
    const { database, secrets, letters, administration } = this.#deps;
    return database.write(async (transaction) => {
      const person = await findPerson(transaction, personId);
      if (factorsOf(person).length === 0)
        throw new DomainError('conflict', 'recovery codes replace a second factor; add a second factor first');
      const codes = await storeNewCodes(transaction, secrets, person);
      await letters.send(transaction, { letter: 'recovery_codes_made', to: person.email });
      const act = ownAct(personId, 'recovery_codes.made', { count: codes.length });
      await administration.record(transaction, act);
      return codes;
    });
  }
}

/** Deletes the codes of a person without a second factor. @param personId of a row that is locked. */
export async function endUnneededCodes(transaction: Transaction, personId: string): Promise<void> {
  const person = await findPerson(transaction, personId);
  if (factorsOf(person).length > 0) return;
  await updatePerson(transaction, person, { recovery_codes: null });
}
