import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import { takeLink } from './links.ts';
import { hashPassword, isPassword, LONGEST_PASSWORD, SHORTEST_PASSWORD } from './password.ts';
import type { LinkPurpose, PeopleTables, Role } from './people-tables.ts';
import type { SecretBox } from './secrets.ts';
import { Sessions } from './sessions.ts';
import { Throttle } from './throttle.ts';
import { totpStep } from './totp.ts';

export interface NewPerson {
  email: string;
  name: string;
  role: Role;
  password: string;
}

export interface SignIn {
  email: string;
  password: string;
  /** Of the authenticator, where the person has one. */
  code?: string | undefined;
  /** Where the request comes from. */
  address: string;
}

export interface PeopleMeans {
  database: Database;
  secrets: SecretBox;
  clock: () => Date;
  /** For tests: what a password costs. */
  hash?: (password: string) => Promise<string>;
}

/** One sentence for every reason, so that nobody finds out who has an account. */
const REFUSED = 'the e-mail address, the password or the code is not right';

/** Who may come in, and how they show that it is them. */
export class People {
  readonly #means: PeopleMeans;
  readonly #throttle: Throttle;
  readonly sessions: Sessions;

  constructor(means: PeopleMeans) {
    this.#means = means;
    this.#throttle = new Throttle(means.database, means.clock);
    this.sessions = new Sessions(means.database, means.clock);
  }

  /** Whether nobody has an account yet: only then the set-up link and the variables of the bootstrap are taken. */
  async isNobody(): Promise<boolean> {
    const people = this.#means.database.tables<PeopleTables>().selectFrom('people');
    return (await people.select('person_id').limit(1).execute()).length === 0;
  }

  /**
   * Makes an account by a link that was made for it, which is good once.
   * @throws DomainError `link_used`, `weak_password`, `conflict` for an address that has an account.
   */
  async join(purpose: LinkPurpose, token: string, { email, name, role, password }: NewPerson): Promise<string> {
    refuseWeak(password, [email, name]);
    const { database, clock, hash = hashPassword } = this.#means;
    const hashed = await hash(password);
    return database.write(async (transaction) => {
      await takeLink(transaction, purpose, token, clock());
      const person_id = randomUUID();
      const row = {
        ...{ person_id, email: canonicalEmail(email), name, role, password: hashed },
        ...{ totp_secret: null, totp_step: 0, created_at: clock().toISOString(), disabled_at: null },
      };
      const made = await transaction
        .tables<PeopleTables>()
        .insertInto('people')
        .values(row)
        .onConflict((conflict) => conflict.column('email').doNothing())
        .returning('person_id')
        .executeTakeFirst();
      if (made === undefined) throw new DomainError('conflict', 'this e-mail address has an account already');
      return person_id;
    });
  }

  /**
   * Signs somebody in.
   * @returns the token of a new session.
   * @throws DomainError `not_signed_in` whatever is not right, `too_many_attempts`.
   */
  async signIn({ email, password, code, address }: SignIn): Promise<string> {
    const subjects = [`email ${canonicalEmail(email)}`, `address ${address}`];
    await this.#throttle.check(subjects);
    const person = await this.#byEmail(email);
    const isRight = await isPassword(password, person?.password ?? null);
    const token = await this.#means.database.write(async (transaction) => {
      if (person === undefined || !isRight || person.disabled_at !== null) return null;
      const factor = await this.#takeCode(transaction, person, code);
      return factor === 'wrong' ? null : this.sessions.begin(transaction, person.person_id, factor === 'right');
    });
    if (token === null) {
      await this.#throttle.fail(subjects);
      throw new DomainError('not_signed_in', REFUSED);
    }
    await this.#throttle.succeed(subjects.slice(0, 1));
    return token;
  }

  /** Keeps a second factor once its first code is right. @throws DomainError `not_signed_in` when it is not. */
  async addSecondFactor(personId: string, secret: Uint8Array, code: string): Promise<void> {
    const { database, secrets, clock } = this.#means;
    const step = totpStep(secret, code, clock(), 0);
    if (step === null) throw new DomainError('not_signed_in', 'the code is not right; look at the clock of the device');
    const sealed = secrets.seal(secret, personId);
    await database.write((transaction) =>
      transaction
        .tables<PeopleTables>()
        .updateTable('people')
        .set({ totp_secret: sealed, totp_step: step })
        .where('person_id', '=', personId)
        .execute(),
    );
  }

  /** Proves anew who is signed in, for what is asked for again. @throws DomainError as `signIn`. */
  async proveAgain(token: string, { password, code }: Pick<SignIn, 'password' | 'code'>): Promise<void> {
    const session = await this.sessions.find(token);
    if (session === null) throw new DomainError('not_signed_in', 'the session has ended; sign in again');
    const subjects = [`email ${session.email}`];
    await this.#throttle.check(subjects);
    const person = await this.#byEmail(session.email);
    const isRight = await isPassword(password, person?.password ?? null);
    const isProved = await this.#means.database.write(
      async (transaction) =>
        person !== undefined && isRight && (await this.#takeCode(transaction, person, code)) !== 'wrong',
    );
    if (!isProved) {
      await this.#throttle.fail(subjects);
      throw new DomainError('not_signed_in', REFUSED);
    }
    await this.sessions.prove(token);
  }

  /** Lets somebody in no more, and ends their sessions. The last owner stays. @throws DomainError `conflict`, `not_found`. */
  async disable(personId: string): Promise<void> {
    const { database, clock } = this.#means;
    await database.write(async (transaction) => {
      const tables = transaction.tables<PeopleTables>();
      const able = await tables
        .selectFrom('people')
        .select(['person_id', 'role'])
        .where('disabled_at', 'is', null)
        .orderBy('person_id')
        .modifyEnd(transaction.words.locked)
        .execute();
      const person = able.find(({ person_id }) => person_id === personId);
      if (person === undefined) throw new DomainError('not_found', 'there is nobody of this id who may come in');
      if (person.role === 'owner' && able.filter(({ role }) => role === 'owner').length === 1)
        throw new DomainError('conflict', 'this is the last owner, and somebody has to be one');
      const gone = tables.updateTable('people').set({ disabled_at: clock().toISOString() });
      await gone.where('person_id', '=', personId).execute();
      await this.sessions.endAll(transaction, personId);
    });
  }

  #byEmail(email: string): Promise<PeopleTables['people'] | undefined> {
    const people = this.#means.database.tables<PeopleTables>().selectFrom('people').selectAll();
    return people.where('email', '=', canonicalEmail(email)).executeTakeFirst();
  }

  /** Takes a code, which is good once. */
  async #takeCode(
    transaction: Transaction,
    { person_id, totp_secret, totp_step }: PeopleTables['people'],
    code: string | undefined,
  ): Promise<'none' | 'right' | 'wrong'> {
    if (totp_secret === null) return 'none';
    const { secrets, clock } = this.#means;
    const step = totpStep(secrets.open(totp_secret, person_id), code ?? '', clock(), totp_step);
    if (step === null) return 'wrong';
    const { numUpdatedRows } = await transaction
      .tables<PeopleTables>()
      .updateTable('people')
      .set({ totp_step: step })
      .where('person_id', '=', person_id)
      // Of two who send one code at once one is taken.
      .where('totp_step', '<', step)
      .executeTakeFirstOrThrow();
    return numUpdatedRows === 1n ? 'right' : 'wrong';
  }
}

function canonicalEmail(email: string): string {
  return email.normalize('NFC').trim().toLowerCase();
}

/** @throws DomainError `weak_password` with what is wrong. */
function refuseWeak(password: string, own: readonly string[]): void {
  const { length } = [...password];
  const lower = password.toLowerCase();
  const isOwn = own.some((word) => word !== '' && lower.includes(word.toLowerCase()));
  if (length < SHORTEST_PASSWORD || length > LONGEST_PASSWORD || isOwn || new Set(lower).size < 5)
    throw new DomainError(
      'weak_password',
      `a password has ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters, at least five different ones, and neither your name nor your address in it`,
    );
}
