import { randomUUID } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, there } from '../errors.ts';
import { ownAct } from './administration.ts';
import { type Ceremonies, challengeIn, type MakingOptions, type PasskeyAnswer } from './ceremonies.ts';
import { Challenges, purposeOf } from './challenges.ts';
import type { AccountDeps } from './deps.ts';
import { endUnneededCodes } from './own-recovery-codes.ts';
import { deletePasskey, findPerson, insertPasskey, type PasskeyRow, passkeysOf, readPerson } from './person-rows.ts';
import { firstCodes } from './recovery-codes.ts';

/** Maximum number of passkeys, which also bounds the data on a page and in a browser. */
const MOST_PASSKEYS = 20;
const MISSING = 'no such passkey exists';

/** Passkey as shown to its owner. */
export type Passkey = Pick<PasskeyRow, (typeof SHOWN)[number]>;
const SHOWN = ['passkey_id', 'name', 'created_at', 'last_used_at'] as const;

/** Passkeys that people add to and remove from their account. */
export class Passkeys {
  readonly #deps: AccountDeps;
  readonly #ceremonies: Ceremonies | null;
  readonly #challenges: Challenges;

  /** @param ceremonies null if the platform's address does not allow passkeys. */
  constructor(deps: AccountDeps, ceremonies: Ceremonies | null) {
    this.#deps = deps;
    this.#ceremonies = ceremonies;
    this.#challenges = new Challenges(deps);
  }

  /** True if the platform's address allows passkeys. */
  get isOffered(): boolean {
    return this.#ceremonies !== null;
  }

  /** Lists passkeys, oldest first. */
  async list(personId: string): Promise<Passkey[]> {
    const { database } = this.#deps;
    return (await passkeysOf(database, await readPerson(database, personId))).map((row) => pick(row, SHOWN));
  }

  /** @throws DomainError `not_found`. */
  async find(personId: string, passkeyId: string): Promise<Passkey> {
    return there(
      (await this.list(personId)).find(({ passkey_id }) => passkey_id === passkeyId),
      MISSING,
    );
  }

  /** Returns options with which a session's browser creates a passkey. @throws DomainError as `add`. */
  async askToAdd(token: string): Promise<MakingOptions> {
    const { database, sessions } = this.#deps;
    const { personId } = await sessions.require(token);
    const person = await readPerson(database, personId);
    const existing = await passkeysOf(database, person);
    refuseMore(existing);
    return this.#offered().toMake(person, existing, this.#challenges.make(purposeOf('add', token)));
  }

  /**
   * Stores a passkey that the browser of a session created for `askToAdd`, ends the other sessions, and notifies the
   * person by mail.
   * @returns the recovery codes made with it; null if the person has some.
   * @throws DomainError `not_signed_in` if the answer is wrong; `conflict` if the passkey is already known, there are
   * too many, or the address does not allow passkeys.
   */
  async add(token: string, name: string, answer: PasskeyAnswer): Promise<string[] | null> {
    const { database, secrets, sessions, letters, administration } = this.#deps;
    const { personId: person_id } = await sessions.require(token);
    return database.write(async (transaction) => {
      const person = await findPerson(transaction, person_id);
      refuseMore(await passkeysOf(transaction, person));
      const made = await this.#made(transaction, token, answer);
      const passkey = { ...made, passkey_id: randomUUID(), person_id, name, last_used_at: null };
      if (!(await insertPasskey(transaction, passkey)))
        throw new DomainError('conflict', 'this passkey already belongs to an account');
      const codes = await firstCodes(transaction, secrets, person);
      await sessions.endOthers(transaction, person_id, token);
      await letters.send(transaction, { letter: 'second_factor_added', to: person.email });
      await administration.record(
        transaction,
        ownAct(person_id, 'second_factor.added', { kind: 'passkey', passkey_id: passkey.passkey_id }),
      );
      return codes;
    });
  }

  /** Removes one of the person's own passkeys, and notifies them by mail. @throws DomainError `not_found`. */
  async remove(personId: string, passkeyId: string): Promise<void> {
    const { database, letters, administration } = this.#deps;
    await database.write(async (transaction) => {
      const { email } = await findPerson(transaction, personId);
      if (!(await deletePasskey(transaction, personId, passkeyId))) throw new DomainError('not_found', MISSING);
      await endUnneededCodes(transaction, personId);
      await letters.send(transaction, { letter: 'second_factor_removed', to: email });
      await administration.record(
        transaction,
        ownAct(personId, 'second_factor.removed', { kind: 'passkey', passkey_id: passkeyId }),
      );
    });
  }

  async #made(transaction: Transaction, token: string, answer: PasskeyAnswer) {
    const challenge = challengeIn(answer);
    const isGood =
      challenge !== null && (await this.#challenges.spend(transaction, challenge, purposeOf('add', token)));
    const made = isGood ? await this.#offered().made(answer, challenge) : null;
    if (made === null)
      throw new DomainError(
        'not_signed_in',
        'the passkey was not created for this page; reload the page and try again',
      );
    const { id: credential_id, publicKey: public_key, counter, transports = [] } = made;
    const created_at = this.#deps.clock().toISOString();
    return { credential_id, public_key, counter, transports: JSON.stringify(transports), created_at };
  }

  /** @throws DomainError `conflict`. */
  #offered(): Ceremonies {
    if (this.#ceremonies === null)
      throw new DomainError('conflict', 'passkeys need an HTTPS address; the operator configures it as public_url');
    return this.#ceremonies;
  }
}

/** @throws DomainError `conflict`. */
function refuseMore(existing: readonly PasskeyRow[]): void {
  if (existing.length >= MOST_PASSKEYS)
    throw new DomainError('conflict', `you can have at most ${MOST_PASSKEYS} passkeys; remove one first`);
}
