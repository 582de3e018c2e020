import type { Reader } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { canonicalEmail } from '../mail/address.ts';
import { ownAct } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { endLinks, type Link, linkUsed, readLink, takeLink } from './links.ts';
import { endUnneededCodes } from './own-recovery-codes.ts';
import { refuseWeak } from './password.ts';
import { findPerson, type PersonRow, personByEmail, personById, updatePerson } from './person-rows.ts';
import { firstCodes } from './recovery-codes.ts';
import type { Credentials, SignIn } from './sign-in.ts';
import { letterSubjects } from './throttle.ts';
import { totpStep } from './totp.ts';

/** Changes to passwords and authenticators. */
export class CredentialChanges {
  readonly #deps: AccountDeps;
  readonly #signIn: SignIn;

  constructor(deps: AccountDeps, signIn: SignIn) {
    this.#deps = deps;
    this.#signIn = signIn;
  }

  /**
   * Changes the password of the signed-in person, and ends their other sessions and their links for a new password.
   * @throws DomainError `weak_password`; as `SignIn.signIn` for the old password and the code.
   */
  async changePassword(token: string, network: string, given: Credentials & { next: string }): Promise<void> {
    const { sessions, passwords, hashing } = this.#deps;
    const { email: known, personId, name } = await sessions.require(token);
    refuseWeak(given.next, [known, name]);
    const sender = `person ${personId}`;
    const password = await hashing.run({ lane: 'known', sender }, () => passwords.hash(given.next));
    await this.#signIn.prove(token, network, given, async ({ transaction, person: { person_id, email } }) => {
      const { administration, letters, clock } = this.#deps;
      await updatePerson(transaction, { person_id }, { password });
      await sessions.endOthers(transaction, person_id, token);
      await endLinks(transaction, 'reset', { person_id }, clock());
      await letters.send(transaction, { letter: 'password_changed', to: email });
      await administration.record(transaction, ownAct(person_id, 'password.changed'));
    });
  }

  /**
   * Sends a link for a new password to an address, if it has an account. The work is the same in both cases, so that
   * accounts cannot be discovered.
   * @throws DomainError `too_many_attempts`.
   */
  async forgot(address: string, network: string): Promise<void> {
    const { database, throttle, links, letters, clock } = this.#deps;
    const email = canonicalEmail(address);
    await database.write(async (transaction) => {
      await throttle.attempt(transaction, letterSubjects(email, network));
      const person = await personByEmail(transaction, email);
      const able = person?.disabled_at === null ? person.person_id : null;
      const link_id = await links.make(transaction, 'reset', { person_id: able }, clock());
      await letters.send(transaction, { letter: able === null ? 'none' : 'reset', to: email, link_id });
    });
  }

  /**
   * Makes a link for a new password that an operator hands over. @returns the token. @throws DomainError `not_found`.
   */
  resetLink(actor: Actor, address: string): Promise<string> {
    const { database, links, clock, administration } = this.#deps;
    return database.write(async (transaction) => {
      const person = await personByEmail(transaction, canonicalEmail(address));
      if (person === undefined || person.disabled_at !== null)
        throw new DomainError('not_found', 'no enabled account has this e-mail address');
      const { person_id } = person;
      const link_id = await links.make(transaction, 'reset', { person_id }, clock(), actor);
      const act = { actor, action: 'password.reset_link_made', of: ['person', person_id], more: { link_id } } as const;
      await administration.record(transaction, act);
      return links.token(link_id);
    });
  }

  /** Returns the address of the person whose password a link sets. @throws DomainError `link_used`. */
  async readResetLink(token: string): Promise<{ email: string }> {
    const { database, clock } = this.#deps;
    const { email } = await personOf(database, await readLink(database, 'reset', token, clock()));
    return { email };
  }

  /**
   * Sets a new password with a link, and ends all sessions.
   * @returns the cookie of a device that is known, so that guesses at the password do not pause who has the link.
   * @throws DomainError `link_used`, `weak_password`.
   */
  async reset(token: string, next: string): Promise<string> {
    const { database, passwords, hashing, sessions, letters, administration, clock } = this.#deps;
    const {
      person_id: personId,
      email,
      name,
    } = await personOf(database, await readLink(database, 'reset', token, clock()));
    refuseWeak(next, [email, name]);
    const sender = `person ${personId}`;
    const password = await hashing.run({ lane: 'known', sender }, () => passwords.hash(next));
    await database.write(async (transaction) => {
      const link = await takeLink(transaction, 'reset', token, clock());
      const { person_id, email: to } = await personOf(transaction, link);
      await updatePerson(transaction, { person_id }, { password });
      await sessions.endAll(transaction, person_id);
      await endLinks(transaction, 'reset', link.content, clock());
      await letters.send(transaction, { letter: 'password_changed', to });
      await administration.record(transaction, ownAct(person_id, 'password.reset', { link_id: link.link_id }));
    });
    return this.#deps.devices.cookie(email);
  }

  /**
   * Stores an authenticator if its first code is right, ends the other sessions, and notifies the person by mail.
   * @returns the recovery codes made with it; null if the person has some.
   * @throws DomainError `not_signed_in` if the code is wrong, `conflict` if there is already one.
   */
  async addAuthenticator(token: string, secret: Uint8Array, code: string): Promise<string[] | null> {
    const { database, secrets, sessions, letters, administration, clock } = this.#deps;
    const { personId } = await sessions.require(token);
    const totp_step = totpStep(secret, code, clock(), 0);
    if (totp_step === null) throw new DomainError('not_signed_in', 'the code is wrong; check the clock of the device');
    const totp_secret = secrets.seal(secret, personId);
    return database.write(async (transaction) => {
      const person = await findPerson(transaction, personId);
      if (person.totp_secret !== null)
        throw new DomainError('conflict', 'you already have an authenticator; remove it first');
      await updatePerson(transaction, { person_id: personId }, { totp_secret, totp_step });
      const codes = await firstCodes(transaction, secrets, person);
      await sessions.endOthers(transaction, personId, token);
      await letters.send(transaction, { letter: 'second_factor_added', to: person.email });
      await administration.record(transaction, ownAct(personId, 'second_factor.added', { kind: 'authenticator' }));
      return codes;
    });
  }

  /** Removes the person's own authenticator, if there is one, and notifies them by mail. */
  async removeAuthenticator(personId: string): Promise<void> {
    const { database, letters, administration } = this.#deps;
    await database.write(async (transaction) => {
      const { email, totp_secret } = await findPerson(transaction, personId);
      if (totp_secret === null) return;
      await updatePerson(transaction, { person_id: personId }, { totp_secret: null });
      await endUnneededCodes(transaction, personId);
      await letters.send(transaction, { letter: 'second_factor_removed', to: email });
      await administration.record(transaction, ownAct(personId, 'second_factor.removed', { kind: 'authenticator' }));
    });
  }
}

/**
 * Returns the person that a link for a new password is for. @throws DomainError `link_used` if that person may not sign
 * in.
 */
async function personOf(reader: Reader, { content }: Link): Promise<PersonRow> {
  const { person_id } = content as { person_id: string | null };
  const person = await personById(reader, person_id ?? '');
  if (person === undefined || person.disabled_at !== null) throw linkUsed();
  return person;
}
