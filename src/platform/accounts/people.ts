import { sql } from 'kysely';
import type { z } from 'zod';
import type { Reader, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, there } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { sortedPage } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { canonicalEmail } from '../mail/address.ts';
import type { Scope } from '../scopes.ts';
import { personNamed, refuseScopes } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { PEOPLE_ROLES, type Role } from './enums.ts';
import {
  deletePasskeysOf,
  findPerson,
  isAnybody,
  type PersonRow,
  personByEmail,
  readPerson,
  updatePerson,
} from './person-rows.ts';
import { scopesOfRole } from './roles.ts';
import { factorsOf } from './second-factors.ts';
import type { AccountTables } from './tables.ts';
import type { personSchema } from './wire.ts';

/** Person without secrets. */
export type Person = z.infer<typeof personSchema>;

/** People with an account, and their roles. */
export class People {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /** Reports whether there is no account yet, which is required for the set-up link and the bootstrap variables. */
  async isNobody(): Promise<boolean> {
    return !(await isAnybody(this.#deps.database));
  }

  /** Counts the people who may sign in and have a scope. */
  async countWith(reader: Reader, scope: Scope): Promise<number> {
    const roles = PEOPLE_ROLES.filter((role) => scopesOfRole(role).includes(scope));
    const people = reader.tables<AccountTables>().selectFrom('people').where('disabled_at', 'is', null);
    const having = people.where('role', 'in', roles).select(sql<number>`COUNT(*)`.as('count'));
    return Number((await having.executeTakeFirstOrThrow()).count);
  }

  /** Lists people in the order of their addresses. */
  async list(query: PageQuery) {
    const { database } = this.#deps;
    const people = database.tables<AccountTables>().selectFrom('people').selectAll();
    const sorting = { list: 'people', by: { email: 'string' }, direction: 'asc' } as const;
    const { page, next_cursor } = await sortedPage(people, sorting, query);
    return { data: page.map(toPerson), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async byEmail(address: string): Promise<Person> {
    const { database } = this.#deps;
    const person = await personByEmail(database, canonicalEmail(address));
    return toPerson(there(person, 'nobody has this e-mail address'));
  }

  /** @throws DomainError `not_found`. */
  async find(personId: string): Promise<Person> {
    return toPerson(await readPerson(this.#deps.database, personId));
  }

  /** Returns the names of people by their ids. */
  async namesOf(personIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { database } = this.#deps;
    const people = database.tables<AccountTables>().selectFrom('people').select(['person_id', 'name']);
    const rows = await people.where(database.sql.isAmong('person_id', personIds)).execute();
    return new Map(rows.map(({ person_id, name }) => [person_id, name]));
  }

  /**
   * @throws DomainError `not_found`; `forbidden` for a role with more rights than the actor; `conflict` for the last
   * owner.
   */
  changeRole(actor: Actor, personId: string, role: Role): Promise<Person> {
    return this.#change(personId, async (transaction, person) => {
      refuseScopes(actor, scopesOfRole(role));
      if (person.role === role) return {};
      await refuseLastOwner(transaction, person);
      const more = { from: person.role, to: role };
      return { change: { role }, act: { actor, action: 'person.role_changed', more } };
    });
  }

  /** Disables an account, and ends its sessions. @throws DomainError `not_found`; `conflict` for the last owner. */
  disable(actor: Actor, personId: string): Promise<Person> {
    const { clock, sessions } = this.#deps;
    return this.#change(personId, async (transaction, person) => {
      if (person.disabled_at !== null) return {};
      await refuseLastOwner(transaction, person);
      await sessions.endAll(transaction, personId);
      return { change: { disabled_at: clock().toISOString() }, act: { actor, action: 'person.disabled' } };
    });
  }

  /**
   * Enables an account again. @throws DomainError `not_found`; `forbidden` for a role with more rights than the actor.
   */
  enable(actor: Actor, personId: string): Promise<Person> {
    return this.#change(personId, async (_transaction, person) => {
      refuseScopes(actor, scopesOfRole(person.role));
      if (person.disabled_at === null) return {};
      return { change: { disabled_at: null }, act: { actor, action: 'person.enabled' } };
    });
  }

  /**
   * Removes all second factors of a person who lost them, and notifies the person.
   * @throws DomainError `not_found`; `forbidden` for a role with more rights than the actor.
   */
  removeSecondFactor(actor: Actor, personId: string): Promise<Person> {
    return this.#change(personId, async (transaction, person) => {
      refuseScopes(actor, scopesOfRole(person.role));
      if (factorsOf(person).length === 0) return {};
      await deletePasskeysOf(transaction, personId);
      await this.#deps.letters.send(transaction, { letter: 'second_factor_removed', to: person.email });
      return {
        change: { totp_secret: null, recovery_codes: null, passkeys: 0 },
        act: { actor, action: 'second_factor.removed', more: { kind: 'all' } },
      };
    });
  }

  /** Changes a person; changes and records nothing if `decide` returns no change. */
  #change(
    personId: string,
    decide: (transaction: Transaction, person: PersonRow) => Promise<Decision | Record<string, never>>,
  ): Promise<Person> {
    const { database, administration } = this.#deps;
    return database.write(async (transaction) => {
      const person = await findPerson(transaction, personId);
      const { change, act } = await decide(transaction, person);
      if (change === undefined || act === undefined) return toPerson(person);
      await updatePerson(transaction, { person_id: personId }, change);
      await administration.record(transaction, { ...act, of: ['person', personId] });
      return toPerson({ ...person, ...change });
    });
  }
}

interface Decision {
  change: Partial<PersonRow>;
  act: Omit<Parameters<AccountDeps['administration']['record']>[1], 'of'>;
}

function toPerson(row: PersonRow): Person {
  return {
    ...pick(row, ['person_id', 'email', 'name', 'role', 'created_at', 'disabled_at']),
    second_factor: factorsOf(row).length > 0,
  };
}

/** Refuses to remove the last owner. @throws DomainError `conflict`. */
async function refuseLastOwner(transaction: Transaction, { person_id, role, disabled_at }: PersonRow): Promise<void> {
  if (role !== 'owner' || disabled_at !== null) return;
  const owners = await transaction
    .tables<AccountTables>()
    .selectFrom('people')
    .select('person_id')
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .orderBy('person_id')
    .modifyEnd(transaction.sql.locked)
    .execute();
  if (!owners.some((owner) => owner.person_id !== person_id))
    throw new DomainError('conflict', 'this is the last owner; the platform needs at least one');
}

/** Returns the readable name of an actor. */
export type NameActor = (actor: string) => string;

/**
 * Reads the names of people among actors; null stands for no actor. Other actors, and people who are no longer known,
 * keep the name in the act.
 */
export async function namesOfActors(
  people: Pick<People, 'namesOf'>,
  actors: readonly (string | null)[],
): Promise<NameActor> {
  const ids = actors.map((actor) => (actor === null ? null : personNamed(actor))).filter((id) => id !== null);
  const names = await people.namesOf([...new Set(ids)]);
  return (actor) => names.get(personNamed(actor) ?? '') ?? actor;
}
