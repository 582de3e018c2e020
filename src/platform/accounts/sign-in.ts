import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { canonicalEmail } from '../mail/address.ts';
import { tokenDigest } from '../secrets.ts';
import { ownAct } from './administration.ts';
import { type ChallengePurpose, purposeOf } from './challenges.ts';
import type { AccountDeps } from './deps.ts';
import { findPerson, type PersonRow, personByEmail, personById, readPerson } from './person-rows.ts';
import type { FactorQuestion, GivenFactor, SecondFactor } from './second-factors.ts';
import { accountSubject, networkSubject } from './throttle.ts';

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
}

type FirstOutcome = { session: string } | { ticket: string };
type SecondStep = GivenFactor & Pick<SignInRequest, 'network' | 'browser'> & { ticket: string };
type From = Pick<SignInRequest, 'network' | 'browser'>;

/** Same message for every reason, so that accounts cannot be discovered. */
const REFUSED = 'the e-mail address, the password or the second factor is wrong';

/** Verified identity of the person. */
interface Proof {
  transaction: Transaction;
  person: PersonRow;
  /** Second factor that was given; null if the person has none. */
  secondFactor: SecondFactor | null;
}

/** Act that requires a verified identity. */
type Work<T> = (proof: Proof) => Promise<T>;

interface Attempt {
  email: string;
  network: string;
  /** Reports whether the first factor is right. Takes equally long if there is no account. */
  isRight(known: PersonRow | undefined): Promise<boolean>;
  factor: GivenFactor;
  /** Purpose of the challenge that a passkey answers. */
  purpose: ChallengePurpose;
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
  signIn({ email: address, network, browser, password, ...factor }: SignInRequest): Promise<string> {
    const attempt = { ...this.#byPassword(canonicalEmail(address), network, password), factor };
    return this.#attempt(attempt, { work: (proof) => this.#begin(proof, { network, browser }) });
  }

  /**
   * Signs a person in by password alone, or requests a second factor. Without an account, this step never succeeds.
   * @returns the token of a new session, or a ticket for `secondStep`.
   * @throws DomainError as `signIn`.
   */
  firstStep({ email, network, browser, password }: Omit<SignInRequest, keyof GivenFactor>): Promise<FirstOutcome> {
    const attempt = this.#byPassword(canonicalEmail(email), network, password);
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
   * Signs in the holder of a ticket who gives a second factor. @throws DomainError `not_signed_in`,
   * `too_many_attempts`.
   */
  async secondStep({ ticket, network, browser, ...factor }: SecondStep): Promise<string> {
    const { email, password } = await openTicket(this.#deps, ticket);
    const isRight = async (known: PersonRow | undefined) => known?.password === password;
    const attempt = { email, network, isRight, factor, purpose: purposeOf('sign in', ticket) };
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

  /** Runs `work` after the user in the session has authenticated again. @throws DomainError as `signIn`. */
  async prove<T>(token: string, network: string, given: Credentials, work: Work<T>): Promise<T> {
    const { email } = await this.#deps.sessions.require(token);
    const { password, ...factor } = given;
    const attempt = { ...this.#byPassword(email, network, password), factor, purpose: purposeOf('prove', token) };
    return this.#attempt(attempt, { work });
  }

  async #attempt<T>(attempt: Attempt, { work, factorMissing }: Outcomes<T>): Promise<T> {
    const { email, network, isRight } = attempt;
    const { database, throttle, secondFactors } = this.#deps;
    const [account, ...others] = [accountSubject(email), networkSubject(network)] as const;
    const { isBurst } = await database.write((transaction) => throttle.attempt(transaction, [account, ...others]));
    const known = await personByEmail(database, email);
    const isKnown = await isRight(known);
    const done = await database.write(async (transaction) => {
      const person = isKnown && known !== undefined ? await this.#stillThere(transaction, known) : null;
      const { factor: given, purpose } = attempt;
      const factor = person === null ? 'wrong' : await secondFactors.take(transaction, person, given, purpose);
      if (person !== null && factor === 'missing' && factorMissing !== undefined) {
        await throttle.suspend(transaction, [account, ...others]);
        return { result: factorMissing(person) };
      }
      if (person === null || factor === 'wrong' || factor === 'missing') {
        if (isBurst) await this.#recordBurst(transaction, known, network);
        return null;
      }
      await throttle.succeed(transaction, account, others);
      return { result: await work({ transaction, person, secondFactor: factor === 'none' ? null : factor }) };
    });
    if (done === null) throw new DomainError('not_signed_in', REFUSED);
    return done.result;
  }

  /**
   * Returns an attempt by password, which takes equally long without an account. Its purpose matches no challenge, so
   * no passkey is accepted.
   */
  #byPassword(email: string, network: string, password: string): Attempt {
    const isRight = (known: PersonRow | undefined) => this.#deps.passwords.matches(password, known?.password ?? null);
    return { email, network, isRight, factor: {}, purpose: purposeOf('sign in', '') };
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

  #recordBurst(transaction: Transaction, known: PersonRow | undefined, network: string): Promise<void> {
    return this.#deps.administration.record(transaction, {
      actor: { name: 'nobody' },
      action: 'sign_in.failing',
      of: ['network', network],
      more: { person_id: known?.person_id ?? null },
    });
  }
}

/** Validity of a ticket, during which the person finds the code. */
const LIFETIME_MS = 5 * 60 * 1000;

/** Context of the ticket's seal. */
const OWNER = 'sign-in ticket';

interface Ticket {
  person_id: string;
  /** Digest of the stored password hash; changing the password invalidates the ticket. */
  password: string;
  until: string;
}

type Deps = Pick<AccountDeps, 'secrets' | 'clock' | 'database'>;

/** Returns a sealed ticket, with which the platform later recognizes that the password was right. */
function sealTicket({ secrets, clock }: Deps, { person_id, password }: PersonRow): string {
  const until = new Date(clock().getTime() + LIFETIME_MS).toISOString();
  const ticket: Ticket = { person_id, password: tokenDigest(password), until };
  return secrets.seal(Buffer.from(JSON.stringify(ticket)), OWNER).toString('base64url');
}

/** Returns the person of a ticket. @throws DomainError `not_signed_in` if the ticket is invalid or has expired. */
async function openTicket(deps: Deps, text: string): Promise<PersonRow> {
  const ticket = read(deps, text);
  const person = ticket === null ? undefined : await personById(deps.database, ticket.person_id);
  if (ticket === null || person === undefined || tokenDigest(person.password) !== ticket.password)
    throw new DomainError('not_signed_in', 'the sign-in has expired; start again with your password');
  return person;
}

function read({ secrets, clock }: Deps, text: string): Ticket | null {
  try {
    const ticket = JSON.parse(secrets.open(Buffer.from(text, 'base64url'), OWNER).toString()) as Ticket;
    return ticket.until > clock().toISOString() ? ticket : null;
  } catch {
    return null;
  }
}
