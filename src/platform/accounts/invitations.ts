import type { z } from 'zod';
import type { Transaction } from '../database/database.ts';
import { there } from '../errors.ts';
import type { PageQuery } from '../http/fields.ts';
import { sortedPage } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeIdOnce } from '../idempotency/keyed-results.ts';
import { canonicalEmail } from '../mail/address.ts';
import { refuseScopes } from './administration.ts';
import type { AccountDeps } from './deps.ts';
import { PEOPLE_ROLES } from './enums.ts';
import { changeLink, endLinks, type OpenLink, openLink, selectOpen, toOpen } from './links.ts';
import { emailTaken, personByEmail } from './person-rows.ts';
import { scopesOfRole } from './roles.ts';
import type { invitationSchema, openInvitationSchema } from './wire.ts';

/** Address and role of an invited person. */
export type Invited = z.infer<typeof invitationSchema>;

/** Open invitation that has not expired. */
export type OpenInvitation = z.infer<typeof openInvitationSchema>;

/** Invitations. An invitation is a link whose token is only in its letter. */
export class Invitations {
  readonly #deps: AccountDeps;

  constructor(deps: AccountDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a link that creates an account with a role, once per idempotency key.
   * @throws DomainError `conflict` if the address has an account; `forbidden` for a role with more rights than the
   * actor.
   */
  async invite(actor: Actor, { email: address, role }: Invited, idempotencyKey?: string): Promise<{ link_id: string }> {
    const { clock, links, letters, administration } = this.#deps;
    const email = canonicalEmail(address);
    const keyed = keyedRequest('people', idempotencyKey, { email, role });
    refuseScopes(actor, scopesOfRole(role));
    const link_id = await makeIdOnce(this.#deps, keyed, async (transaction) => {
      if ((await personByEmail(transaction, email)) !== undefined) throw emailTaken();
      const linkId = await links.make(transaction, 'invite', { email, role }, clock(), actor);
      await letters.send(transaction, { letter: 'invitation', to: email, link_id: linkId });
      const act = { actor, action: 'person.invited', of: ['link', linkId], more: { role } } as const;
      await administration.record(transaction, act);
      return linkId;
    });
    return { link_id };
  }

  /** Lists open invitations in the order of their expiry. */
  async list(query: PageQuery) {
    const links = selectOpen(this.#deps.database, 'invite', this.#deps.clock());
    const by = { expires_at: 'string', link_id: 'string' } as const;
    const { page, next_cursor } = await sortedPage(links, { list: 'invitations', by, direction: 'asc' }, query);
    return { data: page.map(toOpen).map(toInvitation), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(linkId: string): Promise<OpenInvitation> {
    return present(await openLink(this.#deps.database, 'invite', linkId, this.#deps.clock()));
  }

  /**
   * Withdraws an invitation; a letter that is still queued is not sent. @returns the invitation as it was. @throws
   * DomainError `not_found`.
   */
  withdraw(actor: Actor, linkId: string): Promise<OpenInvitation> {
    return this.#change(actor, linkId, 'end', async () => {});
  }

  /**
   * Mails the same link again, valid for another day.
   * @throws DomainError `not_found`; `forbidden` for a role with more rights than the actor.
   */
  sendAgain(actor: Actor, linkId: string): Promise<OpenInvitation> {
    return this.#change(actor, linkId, 'extend', async (transaction, { email: to, role }) => {
      refuseScopes(actor, scopesOfRole(role));
      await this.#deps.letters.send(transaction, { letter: 'invitation', to, link_id: linkId });
    });
  }

  #change(
    actor: Actor,
    linkId: string,
    change: 'end' | 'extend',
    also: (transaction: Transaction, invitation: OpenInvitation) => Promise<void>,
  ): Promise<OpenInvitation> {
    const { database, clock, administration } = this.#deps;
    return database.write(async (transaction) => {
      const invitation = present(await changeLink(transaction, 'invite', linkId, change, clock()));
      await also(transaction, invitation);
      const { role } = invitation;
      const act = { actor, action: ACTIONS[change], of: ['link', linkId], more: { role } } as const;
      await administration.record(transaction, act);
      return invitation;
    });
  }
}

const ACTIONS = { end: 'invitation.withdrawn', extend: 'invitation.sent_again' } as const;

/** Ends the invitations of an address that now has an account. */
export async function endInvitations(transaction: Transaction, email: string, now: Date): Promise<void> {
  for (const role of PEOPLE_ROLES) await endLinks(transaction, 'invite', { email, role }, now);
}

function toInvitation({ link_id, content, made_by, expires_at }: OpenLink): OpenInvitation {
  const { email, role } = content as unknown as Invited;
  return { link_id, email, role, invited_by: made_by, expires_at };
}

/** @throws DomainError `not_found`. */
function present(link: OpenLink | null): OpenInvitation {
  return toInvitation(there(link, 'no open invitation has this ID; it was accepted or withdrawn, or has expired'));
}
