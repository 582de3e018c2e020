import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { canonicalEmail } from '../mail/address.ts';
import { tokenDigest } from '../secrets.ts';
import { ownAct } from './administration.ts';
import { type ChallengePurpose, purposeOf } from './challenges.ts';
import type { AccountDeps } from './deps.ts';
import { findPerson, type PersonRow, personByEmail, readPerson } from './person-rows.ts';
import { codesLeft } from './recovery-codes.ts';
import type { FactorQuestion, GivenFactor, UsedFactor } from './second-factors.ts';
import { factorSubjects, passwordSubjects, type ThrottleSubject } from './throttle.ts';
import { openTicket, sealTicket } from './tickets.ts';

/** Password, and a second factor if the person has one. */
export interface Credentials extends GivenFactor {
  password: string;
}

interface SignInRequest extends Credentials {
  email: string;
  /** Network of the request, from `networkOf`. */
  network: string;
  /** Browser in words. */
  browser?: string | undefined;
  /** Cookie of a browser that signed in before, from `Devices`. */
  device?: string | undefined;
}

type FirstOutcome = { session: string } | { ticket: string };
type SecondStep = GivenFactor & Pick<SignInRequest, 'network' | 'browser' | 'device'> & { ticket: string };
type From = Pick<SignInRequest, 'network' | 'browser'>;

/** Same message for every reason, so that accounts cannot be discovered. */
const REFUSED = 'the e-mail address, the password or the second factor is wrong';

/** Verified identity of the person. */
interface Proof {
  transaction: Transaction;
  person: PersonRow;
  /** Second factor that was given; null if the person has none. */
  secondFactor: UsedFactor | null;
}

/** Act that requires a verified identity. */
type Work<T> = (proof: Proof) => Promise<T>;

interface Attempt {
  email: string;
  network: string;
  /** Counts to which a failure is added. */
  subjects: readonly ThrottleSubject[];
  /**
   * Reports whether the first factor is right. Takes equally long if there is no account.
   * @param isClean true if nothing failed before.
   */
  isRight(person: PersonRow | undefined, isClean: boolean): Promise<boolean>;
  factor: GivenFactor;
  /** Purpose of the challenge that a passkey answers. */
  purpose: ChallengePurpose;
}

/** Sender of a password. */
interface PasswordSender extends Pick<Attempt, 'email' | 'network'> {
  /** Device or session that is known; null for a stranger. */
  known: string | null;
}

interface Outcomes<T> {
  work: Work<T>;
  /** Handles a right first factor without a second one; by default, this is refused like any wrong factor. */
  factorMissing?: (person: PersonRow) => T;
}

/** Verifies people's identities. */
export class SignIn {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /**
   * Signs a person in.
   * @returns the token of a new session.
   * @throws DomainError `not_signed_in`, whatever the reason; `too_many_attempts`.
   */
  async signIn({ email: address, network, browser, device, password, ...factor }: SignInRequest): Promise<string> {
    const email = canonicalEmail(address);
    const known = this.#deviceOf(email, device);
    const attempt = { ...this.#byPassword({ email, network, known }, password), factor };
    return this.#attempt(attempt, { work: (proof) => this.#begin(proof, { network, browser }) });
  }

  /**
   * Signs a person in by password alone, or requests a second factor. Without an account, this step never succeeds.
   * @returns the token of a new session, or a ticket for `secondStep`.
   * @throws DomainError as `signIn`.
   */
  async firstStep(given: Omit<SignInRequest, keyof GivenFactor>): Promise<FirstOutcome> {
    const { network, browser, password } = given;
    const email = canonicalEmail(given.email);
    const attempt = this.#byPassword({ email, network, known: this.#deviceOf(email, given.device) }, password);
    return this.#attempt<FirstOutcome>(attempt, {
      work: async (proof) => ({ session: await this.#begin(proof, { network, browser }) }),
      factorMissing: (person) => ({ ticket: sealTicket(this.#deps, person) }),
    });
  }

  /** Returns the second factors for a ticket. @throws DomainError `not_signed_in` if the ticket has expired. */
  async askSecond(ticket: string): Promise<FactorQuestion> {
    const { database, secondFactors } = this.#deps;
    return secondFactors.ask(database, await openTicket(this.#deps, ticket), purposeOf('sign in', ticket));
  }

  /**
   * Signs in the holder of a ticket who gives a second factor. A passkey cannot be guessed and never has to wait.
   * @throws DomainError `not_signed_in`, `too_many_attempts`.
   */
  async secondStep({ ticket, network, browser, device, ...factor }: SecondStep): Promise<string> {
    const { email, password } = await openTicket(this.#deps, ticket);
    const isRight = async (person: PersonRow | undefined) => person?.password === password;
    const subjects = factor.passkey === undefined ? factorSubjects(email, this.#deviceOf(email, device)) : [];
    const attempt = { email, network, subjects, isRight, factor, purpose: purposeOf('sign in', ticket) };
    return this.#attempt(attempt, { work: (proof) => this.#begin(proof, { network, browser }) });
  }

  /**
   * Returns the second factors with which the signed-in person authenticates again. @throws DomainError
   * `not_signed_in`.
   */
  async askAgain(token: string): Promise<FactorQuestion> {
    const { database, secondFactors } = this.#deps;
    const { personId } = await this.#deps.sessions.require(token);
    return secondFactors.ask(database, await readPerson(database, personId), purposeOf('prove', token));
  }

  /** Authenticates the signed-in person again. @throws DomainError as `signIn`. */
  async proveAgain(token: string, network: string, given: Credentials): Promise<void> {
    const { sessions } = this.#deps;
    await this.prove(token, network, given, ({ transaction }) => sessions.prove(transaction, token));
  }

  /**
   * Runs `work` after the user in the session has authenticated again. Failures count for the session only.
   * @throws DomainError as `signIn`.
   */
  async prove<T>(token: string, network: string, given: Credentials, work: Work<T>): Promise<T> {
    const { email } = await this.#deps.sessions.require(token);
    const { password, ...factor } = given;
    const known = `session ${tokenDigest(token)}`;
    const by = this.#byPassword({ email, network, known }, password);
    const attempt = { ...by, factor, purpose: purposeOf('prove', token) };
    return this.#attempt(attempt, { work });
  }

  async #attempt<T>(attempt: Attempt, { work, factorMissing }: Outcomes<T>): Promise<T> {
    const { email, network, subjects } = attempt;
    const { database, throttle, secondFactors } = this.#deps;
    const { isBurst, isClean } = await database.write((transaction) => throttle.attempt(transaction, subjects));
    const known = await personByEmail(database, email);
    const isKnown = await this.#isRight(attempt, known, isClean);
    const done = await database.write(async (transaction) => {
      const person = isKnown && known !== undefined ? await this.#stillThere(transaction, known) : null;
      const { factor: given, purpose } = attempt;
      const factor = person === null ? 'wrong' : await secondFactors.take(transaction, person, given, purpose);
      if (person !== null && factor === 'missing' && factorMissing !== undefined) {
        await throttle.takeBack(transaction, subjects);
        return { result: factorMissing(person) };
      }
      if (person === null || factor === 'wrong' || factor === 'missing') {
        if (isBurst) await this.#recordBurst(transaction, known, network);
        return null;
      }
      await throttle.takeBack(transaction, subjects);
      const result = await work({ transaction, person, secondFactor: factor === 'none' ? null : factor });
      if (factor === 'recovery_code') await this.#recordRecovery(transaction, person, network);
      return { result };
    });
    if (done === null) throw new DomainError('not_signed_in', REFUSED);
    return done.result;
  }

  /** Reports whether the first factor is right; an attempt that is not even compared does not count. */
  async #isRight({ isRight, subjects }: Attempt, known: PersonRow | undefined, isClean: boolean): Promise<boolean> {
    const { database, throttle } = this.#deps;
    try {
      return await isRight(known, isClean);
    } catch (error) {
      await database.write((transaction) => throttle.takeBack(transaction, subjects));
      throw error;
    }
  }

  /**
   * Returns an attempt by password, which takes equally long without an account. Its purpose matches no challenge, so
   * no passkey is accepted.
   * @throws DomainError `sign_in_busy` if strangers cannot be served.
   */
  #byPassword({ email, network, known }: PasswordSender, password: string): Attempt {
    const { hashing, passwords } = this.#deps;
    const sender = known ?? network;
    hashing.refuseFull(known === null ? ['clean', 'suspect'] : ['known'], sender);
    const isRight = (person: PersonRow | undefined, isClean: boolean) => {
      const lane = known !== null ? 'known' : isClean ? 'clean' : 'suspect';
      return hashing.run({ lane, sender }, () => passwords.matches(password, person?.password ?? null));
    };
    const subjects = passwordSubjects(email, network, known);
    return { email, network, subjects, isRight, factor: {}, purpose: purposeOf('sign in', '') };
  }

  /** Returns the device of a cookie; null for a stranger. */
  #deviceOf(email: string, cookie: string | undefined): string | null {
    const id = this.#deps.devices.idIn(cookie, email);
    return id === null ? null : `device ${id}`;
  }

  async #begin({ transaction, person: { person_id }, secondFactor }: Proof, from: From): Promise<string> {
    const { sessions, administration } = this.#deps;
    const token = await sessions.begin(transaction, person_id, { ...from, isProved: secondFactor !== null });
    await administration.record(
      transaction,
      ownAct(person_id, 'person.signed_in', { network: from.network, second_factor: secondFactor }),
    );
    return token;
  }

  /** Returns the present row: the account may have been disabled, or its password changed, during the comparison. */
  async #stillThere(transaction: Transaction, { person_id, password }: PersonRow): Promise<PersonRow | null> {
    const person = await findPerson(transaction, person_id);
    return person.disabled_at !== null || person.password !== password ? null : person;
  }

  /** Records and mails the use of a recovery code. */
  async #recordRecovery(transaction: Transaction, { person_id, email }: PersonRow, network: string): Promise<void> {
    const { secrets, letters, administration } = this.#deps;
    const left = codesLeft(secrets, await findPerson(transaction, person_id));
    await letters.send(transaction, { letter: 'recovery_code_used', to: email });
    await administration.record(transaction, ownAct(person_id, 'recovery_code.used', { network, left }));
  }

  #recordBurst(transaction: Transaction, known: PersonRow | undefined, network: string): Promise<void> {
    return this.#deps.administration.record(transaction, {
      actor: { name: 'nobody' },
      action: 'sign_in.failing',
      of: ['network', network],
      more: { person_id: known?.person_id ?? null },
    });
  }
}
