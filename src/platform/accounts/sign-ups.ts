import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { InTheWay, type Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, there } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { sortedPage } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { rowFinder } from '../rows.ts';
import { refuseScopes } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { SIGN_UP_ROLE } from './enums.ts';
import { endInvitations } from './invitations.ts';
import { emailTaken, insertPerson, ownersOf, personByEmail } from './person-rows.ts';
import { scopesOfRole } from './roles.ts';
import { sealedSignUps } from './sealed-rows.ts';
import { ACCOUNT_TABLES, type AccountTables } from './tables.ts';
import type { signUpSchema } from './wire.ts';

/** Maximum number of people who wait, and the time after which a sign-up is forgotten. */
const MOST_WAITING = 1000;
const FORGOTTEN_MS = 30 * 24 * 60 * 60 * 1000;

const MISSING = 'nobody waits under this ID; the sign-up was approved or declined, or is older than 30 days';

type SignUpRow = AccountTables['sign_ups'];

/** Person who confirmed an address and waits for an owner. There is no account, so that nothing can be done with it. */
export type SignUp = z.infer<typeof signUpSchema>;

/** People who signed up and wait for approval. */
export class SignUps {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /** Lists those who wait, the longest first. */
  async list(query: PageQuery) {
    const rows = this.#deps.database.tables<AccountTables>().selectFrom('sign_ups').selectAll();
    const by = { requested_at: 'string', sign_up_id: 'string' } as const;
    const { page, next_cursor } = await sortedPage(rows, { list: 'sign_ups', by, direction: 'asc' }, query);
    return { data: page.map(toSignUp), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(signUpId: string): Promise<SignUp> {
    return toSignUp(await readSignUp(this.#deps.database, signUpId));
  }

  /**
   * Creates the account, and notifies the person. @returns its id. @throws DomainError `not_found`; `row_changed`;
   * `forbidden` if the actor has fewer rights than the account.
   */
  approve(actor: Actor, signUpId: string): Promise<string> {
    const { clock, administration } = this.#deps;
    refuseScopes(actor, scopesOfRole(SIGN_UP_ROLE));
    return this.#end(signUpId, 'sign_up_approved', async (transaction, row) => {
      const { email, name, password } = sealedSignUps.whole(transaction, row);
      const person = { email, name, password, role: SIGN_UP_ROLE };
      const personId = await insertPerson(transaction, person, clock());
      await endInvitations(transaction, email, clock());
      const more = { role: SIGN_UP_ROLE, sign_up_id: signUpId };
      await administration.record(transaction, { actor, action: 'sign_up.approved', of: ['person', personId], more });
      return personId;
    });
  }

  /** Removes a sign-up, and notifies the person. @returns the sign-up as it was. @throws DomainError `not_found`. */
  decline(actor: Actor, signUpId: string): Promise<SignUp> {
    return this.#end(signUpId, 'sign_up_declined', async (transaction, row) => {
      const act = { actor, action: 'sign_up.declined', of: ['sign_up', signUpId] } as const;
      await this.#deps.administration.record(transaction, act);
      return toSignUp(row);
    });
  }

  /** Ends a sign-up. If two requests do so at once, one succeeds. */
  #end<T>(
    signUpId: string,
    letter: 'sign_up_approved' | 'sign_up_declined',
    work: (transaction: Transaction, row: SignUpRow) => Promise<T>,
  ): Promise<T> {
    return this.#deps.database.write(async (transaction) => {
      const waiting = transaction.tables<AccountTables>().deleteFrom('sign_ups').where('sign_up_id', '=', signUpId);
      const row = there(await waiting.returningAll().executeTakeFirst(), MISSING);
      await this.#deps.letters.send(transaction, { letter, to: row.email });
      return work(transaction, row);
    });
  }
}

const readSignUp = rowFinder(ACCOUNT_TABLES, 'sign_ups', 'sign_up_id', { missing: MISSING });

/**
 * Stores a person who confirmed an address, and notifies the owners, once while the person waits.
 * @throws DomainError `conflict` if the address has an account, or too many people wait; `row_changed`. InTheWay if
 * another process stored the person in the meantime.
 */
export async function waitForApproval(
  transaction: Transaction,
  person: Pick<SignUpRow, 'email' | 'name' | 'password'>,
  { clock, letters, administration }: Pick<AccountDeps, 'clock' | 'letters' | 'administration'>,
): Promise<void> {
  if ((await personByEmail(transaction, person.email)) !== undefined) throw emailTaken();
  const sign_ups = transaction.tables<AccountTables>();
  const { email, name, password } = person;
  const earlier = await sign_ups.selectFrom('sign_ups').selectAll().where('email', '=', email).executeTakeFirst();
  if (earlier !== undefined) return sealedSignUps.change(transaction, earlier, { name, password });
  const all = await sign_ups.selectFrom('sign_ups').select('sign_up_id').limit(MOST_WAITING).execute();
  if (all.length === MOST_WAITING)
    throw new DomainError('conflict', 'too many people wait for approval; ask an owner for an invitation');
  const sign_up_id = randomUUID();
  const row = { ...person, sign_up_id, requested_at: clock().toISOString() };
  const stored = await sign_ups
    .insertInto('sign_ups')
    .values(sealedSignUps.sealed(transaction, row))
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('sign_up_id')
    .executeTakeFirst();
  if (stored === undefined) throw new InTheWay('the same person signed up meanwhile');
  for (const to of await ownersOf(transaction)) await letters.send(transaction, { letter: 'sign_up_waiting', to });
  const act = { actor: { name: 'nobody' }, action: 'sign_up.confirmed', of: ['sign_up', sign_up_id] } as const;
  await administration.record(transaction, act);
}

/** Deletes the sign-up of an address that now has an account. */
export async function endSignUp(transaction: Transaction, email: string): Promise<void> {
  await transaction.tables<AccountTables>().deleteFrom('sign_ups').where('email', '=', email).execute();
}

/** Deletes sign-ups that nobody approved. */
export async function forgetSignUps(transaction: Transaction, now: Date): Promise<void> {
  const old = new Date(now.getTime() - FORGOTTEN_MS).toISOString();
  await transaction.tables<AccountTables>().deleteFrom('sign_ups').where('requested_at', '<', old).execute();
}

function toSignUp(row: SignUpRow): SignUp {
  return pick(row, ['sign_up_id', 'email', 'name', 'requested_at']);
}
