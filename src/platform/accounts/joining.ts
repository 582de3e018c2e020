import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { canonicalEmail } from '../mail/address.ts';
import { ownAct } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { SIGN_UP_ROLE } from './enums.ts';
import { endInvitations, type Invited } from './invitations.ts';
import { linkUsed, readLink, takeLink } from './links.ts';
import { refuseWeak } from './password.ts';
import { insertPerson, isAnybody, personByEmail } from './person-rows.ts';
import type { SessionBeginning } from './sessions.ts';
import { refuseOtherDomain, type SignUpPolicy } from './sign-up-policy.ts';
import { endSignUp, waitForApproval } from './sign-ups.ts';
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
  readonly #policy: SignUpPolicy;

  constructor(deps: AccountDeps, policy: SignUpPolicy) {
    this.#deps = deps;
    this.#policy = policy;
  }

  get policy(): SignUpPolicy {
    return this.#policy;
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
   * @throws DomainError `forbidden` if the address may not sign up; `too_many_attempts`.
   */
  async signUp(address: string, network: string): Promise<void> {
    const { database, throttle, links, letters, clock } = this.#deps;
    const email = canonicalEmail(address);
    await this.#refuseSignUp(email);
    await database.write(async (transaction) => {
      await throttle.attempt(transaction, letterSubjects(email, network));
      const person = await personByEmail(transaction, email);
      const link_id = await links.make(transaction, 'confirm', { email, role: SIGN_UP_ROLE }, clock());
      const letter = person === undefined ? 'confirmation' : 'sign_up_tried';
      await letters.send(transaction, { letter, to: email, link_id });
    });
  }

  /** Reports whether people may sign up. The first account is created with the set-up link, for the owner. */
  async isOpen(): Promise<boolean> {
    return this.#policy.mode !== 'closed' && (await isAnybody(this.#deps.database));
  }

  /** Returns the person that a link creates an account for. @throws DomainError `link_used`. */
  async readInvitation(purpose: InvitingPurpose, token: string): Promise<Invited> {
    const { database, clock } = this.#deps;
    return (await readLink(database, purpose, token, clock())).content as unknown as Invited;
  }

  /** Creates the account of an invitation. @throws DomainError `link_used`, `weak_password`, `conflict`. */
  async accept(token: string, joiner: Joiner): Promise<Joined> {
    return this.#acceptAs('invite', token, joiner);
  }

  /**
   * Creates the account of a person who signed up.
   * @returns null if the person now waits for approval.
   * @throws DomainError as `accept`; `forbidden` if the address may no longer sign up.
   */
  async confirm(token: string, joiner: Joiner): Promise<Joined | null> {
    const { email } = await this.readInvitation('confirm', token);
    await this.#refuseSignUp(email);
    if (this.#policy.mode === 'open') return this.#acceptAs('confirm', token, joiner);
    const { database, clock } = this.#deps;
    const { name } = joiner;
    const password = await this.#hashed(email, joiner);
    await database.write(async (transaction) => {
      await takeLink(transaction, 'confirm', token, clock());
      await waitForApproval(transaction, { email, name, password }, this.#deps);
    });
    return null;
  }

  async #acceptAs(purpose: InvitingPurpose, token: string, joiner: Joiner): Promise<Joined> {
    const invited = await this.readInvitation(purpose, token);
    return this.#join(invited, joiner, async (transaction) => {
      const { link_id } = await takeLink(transaction, purpose, token, this.#deps.clock());
      return { by: purpose, link_id };
    });
  }

  /** @throws DomainError `forbidden`. */
  async #refuseSignUp(email: string): Promise<void> {
    if (!(await this.isOpen())) throw new DomainError('forbidden', 'sign-up is closed; ask an owner for an invitation');
    refuseOtherDomain(this.#policy, email);
  }

  /** @throws DomainError `weak_password`, `sign_in_busy`. */
  #hashed(email: string, { name, password }: Joiner): Promise<string> {
    const { passwords, hashing } = this.#deps;
    refuseWeak(password, [email, name]);
    return hashing.run({ lane: 'known', sender: `joining ${email}` }, () => passwords.hash(password));
  }

  /** @param take consumes the link. @returns the facts to be recorded. */
  async #join(
    { email, role }: Invited,
    joiner: Joiner,
    take: (transaction: Transaction) => Promise<{ by: HowJoined; link_id?: string }>,
    also: (transaction: Transaction) => Promise<void> = async () => {},
  ): Promise<Joined> {
    const { database, clock, sessions, administration } = this.#deps;
    const { name, network, browser } = joiner;
    const password = await this.#hashed(email, joiner);
    return database.write(async (transaction) => {
      const taken = await take(transaction);
      const personId = await insertPerson(transaction, { email, role, name, password }, clock());
      await endInvitations(transaction, email, clock());
      await endSignUp(transaction, email);
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
