import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { canonicalEmail } from '../mail/address.ts';
import { ownAct } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { endInvitations, type Invited } from './invitations.ts';
import { linkUsed, readLink, takeLink } from './links.ts';
import { refuseWeak } from './password.ts';
import { insertPerson, isAnybody, personByEmail } from './person-rows.ts';
import type { SessionBeginning } from './sessions.ts';
import { letterSubjects } from './throttle.ts';

/** Details of a person who gets an account. */
interface Joiner extends Pick<SessionBeginning, 'network' | 'browser'> {
  name: string;
  password: string;
}

/** Purposes of mailed links that create an account. */
export type InvitingPurpose = 'invite' | 'confirm';

/** New account, with a session. */
interface Joined {
  personId: string;
  session: string;
}

/** Ways to an account: one-time links, and the bootstrap variables. */
export class Joining {
  readonly #deps: AccountDeps;
  readonly #isOpen: boolean;

  /** @param isOpen true if anyone may sign up. */
  constructor(deps: AccountDeps, isOpen: boolean) {
    this.#deps = deps;
    this.#isOpen = isOpen;
  }

  /** Makes a link for the first owner. @returns the token. @throws DomainError `conflict` if there is an account. */
  setUpLink(actor: Actor): Promise<string> {
    const { database, links, clock, administration } = this.#deps;
    return database.write(async (transaction) => {
      if (await isAnybody(transaction))
        throw new DomainError('conflict', 'an account already exists; ask an owner for an invitation');
      const link_id = await links.make(transaction, 'set_up', {}, clock(), actor);
      await administration.record(transaction, { actor, action: 'set_up_link.made', of: ['link', link_id] });
      return links.token(link_id);
    });
  }

  /** @throws DomainError `link_used` if the link can no longer create an account. */
  async readSetUpLink(token: string): Promise<void> {
    const { database, clock } = this.#deps;
    await readLink(database, 'set_up', token, clock());
    if (await isAnybody(database)) throw linkUsed();
  }

  /** Creates the first owner. @throws DomainError `link_used`, also if there is an account; `weak_password`. */
  setUp(token: string, { email, ...joiner }: Joiner & { email: string }): Promise<Joined> {
    return this.#join({ email: canonicalEmail(email), role: 'owner' }, joiner, async (transaction) => {
      const { link_id } = await takeLink(transaction, 'set_up', token, this.#deps.clock());
      return { by: 'set_up', link_id };
    });
  }

  /**
   * Creates the first owner without a link, from the environment.
   * @param also runs in the same transaction.
   * @throws DomainError `link_used` if there is an account; `weak_password`.
   */
  bootstrap(
    { email, ...joiner }: Joiner & { email: string },
    also: (transaction: Transaction) => Promise<void>,
  ): Promise<Joined> {
    const owner = { email: canonicalEmail(email), role: 'owner' as const };
    return this.#join(owner, joiner, async () => ({ by: 'bootstrap' }), also);
  }

  /**
   * Sends a link to a person who signs up, or tells the owner of the address about the attempt. The work is the same in
   * both cases, so that accounts cannot be discovered.
   * @throws DomainError `forbidden` if signing up is closed; `too_many_attempts`.
   */
  async signUp(address: string, network: string): Promise<void> {
    const { database, throttle, links, letters, clock } = this.#deps;
    const email = canonicalEmail(address);
    if (!(await this.isOpen())) throw new DomainError('forbidden', 'sign-up is closed; ask an owner for an invitation');
    await database.write(async (transaction) => {
      await throttle.attempt(transaction, letterSubjects(email, network));
      const person = await personByEmail(transaction, email);
      const link_id = await links.make(transaction, 'confirm', { email, role: 'auditor' }, clock());
      const letter = person === undefined ? 'confirmation' : 'sign_up_tried';
      await letters.send(transaction, { letter, to: email, link_id });
    });
  }

  /** Reports whether anyone may sign up. The first account is created with the set-up link, for the owner. */
  async isOpen(): Promise<boolean> {
    return this.#isOpen && (await isAnybody(this.#deps.database));
  }

  /** Returns the person that a link creates an account for. @throws DomainError `link_used`. */
  async readInvitation(purpose: InvitingPurpose, token: string): Promise<Invited> {
    const { database, clock } = this.#deps;
    return (await readLink(database, purpose, token, clock())).content as unknown as Invited;
  }

  /** Creates the account of a link. @throws DomainError `link_used`, `weak_password`, `conflict`. */
  async accept(purpose: InvitingPurpose, token: string, joiner: Joiner): Promise<Joined> {
    const invited = await this.readInvitation(purpose, token);
    return this.#join(invited, joiner, async (transaction) => {
      const { link_id } = await takeLink(transaction, purpose, token, this.#deps.clock());
      return { by: purpose, link_id };
    });
  }

  /** @param take consumes the link. @returns the facts to be recorded. */
  async #join(
    { email, role }: Invited,
    { name, password, network, browser }: Joiner,
    take: (transaction: Transaction) => Promise<{ by: HowJoined; link_id?: string }>,
    also: (transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<Joined> {
    const { database, passwords, hashing, clock, sessions, administration } = this.#deps;
    refuseWeak(password, [email, name]);
    const hashed = await hashing.run({ lane: 'known', sender: `joining ${email}` }, () => passwords.hash(password));
    return database.write(async (transaction) => {
      const taken = await take(transaction);
      const personId = await insertPerson(transaction, { email, role, name, password: hashed }, clock());
      await endInvitations(transaction, email, clock());
      const session = await sessions.begin(transaction, personId, { isProved: false, network, browser });
      await administration.record(transaction, ownAct(personId, 'person.joined', { ...taken, role }));
      // Recording an act serializes transactions, so the second of two first owners finds the first one here.
      if (IS_FIRST.has(taken.by) && (await isAnybody(transaction, personId))) throw linkUsed();
      await also(transaction);
      return { personId, session };
    });
  }
}

type HowJoined = InvitingPurpose | 'set_up' | 'bootstrap';

/** Ways to an account that only create the first owner. */
const IS_FIRST: ReadonlySet<HowJoined> = new Set(['set_up', 'bootstrap']);
