import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { byPerson } from './administration.ts';
import { canonicalEmail } from './email.ts';
import type { AccountMeans } from './means.ts';
import type { PeopleTables } from './people-tables.ts';
import { lockPerson, type PersonRow, personByEmail } from './person-rows.ts';
import { sessionEnded } from './sessions.ts';
import { accountSubject, networkSubject } from './throttle.ts';
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
    const { sessions, administration } = this.#means;
    return this.prove(canonicalEmail(email), network, given, async ({ transaction, person, hasCode }) => {
      const { person_id } = person;
      const token = await sessions.begin(transaction, person_id, hasCode);
      await administration.record(transaction, {
        ...{ actor: byPerson(person_id), action: 'person.signed_in', of: ['person', person_id] },
        more: { network, second_factor: hasCode },
      });
      return token;
    });
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
  async prove<T>(
    email: string,
    network: string,
    { password, code }: Credentials,
    work: (proof: Proof) => Promise<T>,
  ): Promise<T> {
    const { database, throttle, passwords } = this.#means;
    const [account, ...others] = [accountSubject(email), networkSubject(network)] as const;
    const { isBurst } = await database.write((transaction) => throttle.attempt(transaction, [account, ...others]));
    const known = await personByEmail(database, email);
    const isRight = await passwords.matches(password, known?.password ?? null);
    const done = await database.write(async (transaction) => {
      const person = isRight && known !== undefined ? await this.#stillThere(transaction, known) : null;
      const factor = person === null ? 'wrong' : await this.#takeCode(transaction, person, code);
      if (person === null || factor === 'wrong') {
        if (isBurst) await this.#recordBurst(transaction, known, network);
        return null;
      }
      await throttle.succeed(transaction, account, others);
      return { result: await work({ transaction, person, hasCode: factor === 'right' }) };
    });
    if (done === null) throw new DomainError('not_signed_in', REFUSED);
    return done.result;
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
  ): Promise<'none' | 'right' | 'wrong'> {
    if (totp_secret === null) return 'none';
    const { secrets, clock } = this.#means;
    const step = totpStep(secrets.open(totp_secret, person_id), code ?? '', clock(), totp_step);
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
