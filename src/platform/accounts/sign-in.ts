import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { canonicalEmail } from '../mail/address.ts';
import { byPerson } from './administration.ts';
import type { AccountMeans } from './means.ts';
import type { PeopleTables } from './people-tables.ts';
import { lockPerson, type PersonRow, personByEmail } from './person-rows.ts';
import { sessionEnded } from './sessions.ts';
import { accountSubject, networkSubject } from './throttle.ts';
import { openTicket, sealTicket } from './tickets.ts';
import { totpStep } from './totp.ts';

export interface Credentials {
  password: string;
  /** Of the authenticator, where the person has one. */
  code?: string | undefined;
}

export interface SignInRequest extends Credentials {
  email: string;
  /** Where the request comes from, as `networkOf` says it. */
  network: string;
}

/** One sentence for every reason, so that nobody finds out who has an account. */
const REFUSED = 'the e-mail address, the password or the code is not right';

/** What was found out of who asks. */
interface Proof {
  transaction: Transaction;
  person: PersonRow;
  /** Whether they gave a second factor, too. */
  hasCode: boolean;
}

/** What is done for somebody who showed that it is them. */
type Work<T> = (proof: Proof) => Promise<T>;

interface Attempt {
  email: string;
  network: string;
  /** Whether what was given, besides the code, is right for this account, or for nobody: it takes as long. */
  isRight(known: PersonRow | undefined): Promise<boolean>;
  code: string | undefined;
}

interface Outcomes<T> {
  work: Work<T>;
  /** Where all is right but that no code was given; without it that is as wrong as anything else. */
  codeMissing?: (person: PersonRow) => T;
}

/** How people show that it is them. */
export class SignIn {
  readonly #means: AccountMeans;

  constructor(means: AccountMeans) {
    this.#means = means;
  }

  /**
   * Signs somebody in.
   * @returns the token of a new session.
   * @throws DomainError `not_signed_in` whatever is not right, `too_many_attempts`.
   */
  signIn({ email, network, ...given }: SignInRequest): Promise<string> {
    return this.prove(canonicalEmail(email), network, given, (proof) => this.#begin(proof, network));
  }

  /**
   * Signs somebody in by the password alone, or says that a code is needed too. Who has no account never gets so far.
   * @returns the token of a new session, or a ticket for `secondStep`.
   * @throws DomainError as `signIn`.
   */
  firstStep({
    email,
    network,
    password,
  }: Omit<SignInRequest, 'code'>): Promise<{ session: string } | { ticket: string }> {
    const attempt = { email: canonicalEmail(email), network, isRight: this.#hasPassword(password), code: undefined };
    return this.#attempt<{ session: string } | { ticket: string }>(attempt, {
      work: async (proof) => ({ session: await this.#begin(proof, network) }),
      codeMissing: (person) => ({ ticket: sealTicket(this.#means, person) }),
    });
  }

  /** Signs in who has a ticket and gives the code. @throws DomainError `not_signed_in`, `too_many_attempts`. */
  async secondStep({ ticket, network, code }: { ticket: string; network: string; code: string }): Promise<string> {
    const { email, password } = await openTicket(this.#means, ticket);
    const isRight = async (known: PersonRow | undefined) => known?.password === password;
    return this.#attempt({ email, network, isRight, code }, { work: (proof) => this.#begin(proof, network) });
  }

  /** Proves anew who is signed in, for what is asked for again. @throws DomainError as `signIn`. */
  async proveAgain(token: string, network: string, given: Credentials): Promise<void> {
    const { sessions } = this.#means;
    const session = await sessions.find(token);
    if (session === null) throw sessionEnded();
    await this.prove(session.email, network, given, ({ transaction }) => sessions.prove(transaction, token));
  }

  /**
   * Does something for somebody who shows that it is them. It takes as long where nobody has this address.
   * @throws DomainError as `signIn`.
   */
  prove<T>(email: string, network: string, { password, code }: Credentials, work: Work<T>): Promise<T> {
    return this.#attempt({ email, network, isRight: this.#hasPassword(password), code }, { work });
  }

  async #attempt<T>({ email, network, isRight, code }: Attempt, { work, codeMissing }: Outcomes<T>): Promise<T> {
    const { database, throttle } = this.#means;
    const [account, ...others] = [accountSubject(email), networkSubject(network)] as const;
    const { isBurst } = await database.write((transaction) => throttle.attempt(transaction, [account, ...others]));
    const known = await personByEmail(database, email);
    const isKnown = await isRight(known);
    const done = await database.write(async (transaction) => {
      const person = isKnown && known !== undefined ? await this.#stillThere(transaction, known) : null;
      const factor = person === null ? 'wrong' : await this.#takeCode(transaction, person, code);
      if (person !== null && factor === 'missing' && codeMissing !== undefined) {
        await throttle.suspend(transaction, [account, ...others]);
        return { result: codeMissing(person) };
      }
      if (person === null || factor === 'wrong' || factor === 'missing') {
        if (isBurst) await this.#recordBurst(transaction, known, network);
        return null;
      }
      await throttle.succeed(transaction, account, others);
      return { result: await work({ transaction, person, hasCode: factor === 'right' }) };
    });
    if (done === null) throw new DomainError('not_signed_in', REFUSED);
    return done.result;
  }

  #hasPassword(password: string): Attempt['isRight'] {
    return (known) => this.#means.passwords.matches(password, known?.password ?? null);
  }

  async #begin({ transaction, person: { person_id }, hasCode }: Proof, network: string): Promise<string> {
    const { sessions, administration } = this.#means;
    const token = await sessions.begin(transaction, person_id, hasCode);
    await administration.record(transaction, {
      ...{ actor: byPerson(person_id), action: 'person.signed_in', of: ['person', person_id] },
      more: { network, second_factor: hasCode },
    });
    return token;
  }

  /** The row as it is now: somebody may have been disabled, or changed the password, while this one was compared. */
  async #stillThere(transaction: Transaction, { person_id, password }: PersonRow): Promise<PersonRow | null> {
    const person = await lockPerson(transaction, person_id);
    return person === undefined || person.disabled_at !== null || person.password !== password ? null : person;
  }

  /** Takes a code, which is good once. */
  async #takeCode(
    transaction: Transaction,
    { person_id, totp_secret, totp_step }: PersonRow,
    code: string | undefined,
  ): Promise<'none' | 'right' | 'wrong' | 'missing'> {
    if (totp_secret === null) return 'none';
    if (code === undefined) return 'missing';
    const { secrets, clock } = this.#means;
    const step = totpStep(secrets.open(totp_secret, person_id), code, clock(), totp_step);
    if (step === null) return 'wrong';
    const people = transaction.tables<PeopleTables>().updateTable('people').set({ totp_step: step });
    await people.where('person_id', '=', person_id).execute();
    return 'right';
  }

  #recordBurst(transaction: Transaction, known: PersonRow | undefined, network: string): Promise<void> {
    return this.#means.administration.record(transaction, {
      ...{ actor: { name: 'nobody' }, action: 'sign_in.failing', of: ['network', network] },
      more: { person_id: known?.person_id ?? null },
    });
  }
}
