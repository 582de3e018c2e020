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

/** The details of somebody who gets an account. */
interface Joiner extends Pick<SessionBeginning, 'network' | 'browser'> {
  name: string;
  password: string;
}

/** A link that makes an account by its mail. */
export type InvitingPurpose = 'invite' | 'confirm';

/** An account that was made, and a session of it. */
interface Joined {
  personId: string;
  session: string;
}

/** The ways to an account. Each of them is a link, which is good once, or the variables of the bootstrap. */
export class Joining {
  readonly #deps: AccountDeps;
  readonly #isOpen: boolean;

  /** @param isOpen whether anybody may sign up. */
  constructor(deps: AccountDeps, isOpen: boolean) {
    this.#deps = deps;
    this.#isOpen = isOpen;
  }

  /** A link for the first owner. @returns its token. @throws DomainError `conflict` when somebody has an account. */
  setUpLink(actor: Actor): Promise<string> {
    const { database, links, clock, administration } = this.#deps;
    return database.write(async (transaction) => {
      if (await isAnybody(transaction))
        throw new DomainError('conflict', 'somebody has an account already; let an owner invite you');
      const link_id = await links.make(transaction, 'set_up', {}, clock(), actor);
      await administration.record(transaction, { actor, action: 'set_up_link.made', of: ['link', link_id] });
      return links.token(link_id);
    });
  }

  /** @throws DomainError `link_used` when the link makes no account any more. */
  async readSetUpLink(token: string): Promise<void> {
    const { database, clock } = this.#deps;
    await readLink(database, 'set_up', token, clock());
    if (await isAnybody(database)) throw linkUsed();
  }

  /** Makes the first owner. @throws DomainError `link_used`, also when somebody has an account; `weak_password`. */
  setUp(token: string, { email, ...joiner }: Joiner & { email: string }): Promise<Joined> {
    return this.#join({ email: canonicalEmail(email), role: 'owner' }, joiner, async (transaction) => {
      const { link_id } = await takeLink(transaction, 'set_up', token, this.#deps.clock());
      return { by: 'set_up', link_id };
    });
  }

  /**
   * Makes the first owner without a link, as the environment says.
   * @param also is done in the same transaction.
   * @throws DomainError `link_used` when somebody has an account; `weak_password`.
   */
  bootstrap(
    { email, ...joiner }: Joiner & { email: string },
    also: (transaction: Transaction) => Promise<void>,
  ): Promise<Joined> {
    const owner = { email: canonicalEmail(email), role: 'owner' as const };
    return this.#join(owner, joiner, async () => ({ by: 'bootstrap' }), also);
  }

  /**
   * Sends somebody who asks for an account a link to it, or says to the owner of the address that somebody asked.
   * Shows nowhere if the address has an account: the same is done.
   * @throws DomainError `forbidden` when nobody may sign up; `too_many_attempts`.
   */
  async signUp(address: string, network: string): Promise<void> {
    const { database, throttle, links, letters, clock } = this.#deps;
    const email = canonicalEmail(address);
    if (!(await this.isOpen())) throw new DomainError('forbidden', 'nobody can sign up here; ask for an invitation');
    await database.write(async (transaction) => {
      await throttle.attempt(transaction, letterSubjects(email, network));
      const person = await personByEmail(transaction, email);
      const link_id = await links.make(transaction, 'confirm', { email, role: 'auditor' }, clock());
      const letter = person === undefined ? 'confirmation' : 'sign_up_tried';
      await letters.send(transaction, { letter, to: email, link_id });
    });
  }

  /** True if anybody may sign up. The first account is its owner's, by the set-up link. */
  async isOpen(): Promise<boolean> {
    return this.#isOpen && (await isAnybody(this.#deps.database));
  }

  /** Whom a link makes an account for. @throws DomainError `link_used`. */
  async readInvitation(purpose: InvitingPurpose, token: string): Promise<Invited> {
    const { database, clock } = this.#deps;
    return (await readLink(database, purpose, token, clock())).content as unknown as Invited;
  }

  /** Makes the account that a link is for. @throws DomainError `link_used`, `weak_password`, `conflict`. */
  async accept(purpose: InvitingPurpose, token: string, joiner: Joiner): Promise<Joined> {
    const invited = await this.readInvitation(purpose, token);
    return this.#join(invited, joiner, async (transaction) => {
      const { link_id } = await takeLink(transaction, purpose, token, this.#deps.clock());
      return { by: purpose, link_id };
    });
  }

  /** @param take takes what lets them in. @returns what is recorded of it. */
  async #join(
    { email, role }: Invited,
    { name, password, network, browser }: Joiner,
    take: (transaction: Transaction) => Promise<{ by: HowJoined; link_id?: string }>,
    also: (transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<Joined> {
    const { database, passwords, clock, sessions, administration } = this.#deps;
    refuseWeak(password, [email, name]);
    const hashed = await passwords.hash(password);
    return database.write(async (transaction) => {
      const taken = await take(transaction);
      const personId = await insertPerson(transaction, { email, role, name, password: hashed }, clock());
      await endInvitations(transaction, email, clock());
      const session = await sessions.begin(transaction, personId, { isProved: false, network, browser });
      await administration.record(transaction, ownAct(personId, 'person.joined', { ...taken, role }));
      // One at a time records an act: of two who would both be the first, the other one is there by now.
      if (IS_FIRST.has(taken.by) && (await isAnybody(transaction, personId))) throw linkUsed();
      await also(transaction);
      return { personId, session };
    });
  }
}

type HowJoined = InvitingPurpose | 'set_up' | 'bootstrap';

/** They make the first owner, and nobody else. */
const IS_FIRST: ReadonlySet<HowJoined> = new Set(['set_up', 'bootstrap']);
