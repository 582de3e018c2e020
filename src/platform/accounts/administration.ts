import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { SCOPES, type Scope } from '../scopes.ts';

/** The id of the person that an act names; null for a key or a command. */
export function personNamed(actor: string): string | null {
  return /^person:(.*)$/.exec(actor)?.[1] ?? null;
}

/** @throws DomainError `forbidden` where somebody would give what they have not got. */
export function refuseScopes({ scopes: own }: Actor, scopes: readonly Scope[]): void {
  const refused = scopes.find((scope) => !own.includes(scope));
  if (refused !== undefined)
    throw new DomainError('forbidden', `whoever asks has not got the scope ${refused}, and cannot give it`);
}

/** Somebody with the database in their hands. */
export function byCommand(command: string): Actor {
  return { name: `command:${command}`, scopes: SCOPES };
}

type ActName =
  | 'platform.initialised'
  | 'key.made'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.withdrawn'
  | 'set_up_link.made'
  | 'person.invited'
  | 'invitation.sent_again'
  | 'invitation.withdrawn'
  | 'person.joined'
  | 'person.role_changed'
  | 'person.disabled'
  | 'person.enabled'
  | 'person.signed_in'
  | 'sign_in.failing'
  | 'sessions.ended'
  | 'password.changed'
  | 'password.reset'
  | 'password.reset_link_made'
  | 'second_factor.added'
  | 'second_factor.removed'
  | 'passkey.counted_back'
  | 'message.replayed'
  | 'alert_channel.added'
  | 'alert_channel.removed'
  | 'agent_subscriber.added'
  | 'agent_subscriber.removed';

/**
 * Something that was done to who may do what. It names people by their ids: addresses and names stay out of what is
 * never erased.
 */
export interface Act {
  actor: Pick<Actor, 'name'>;
  action: ActName;
  /** The subject of the act. */
  of: readonly [
    type: 'api_key' | 'person' | 'link' | 'network' | 'message' | 'alert_channel' | 'agent_subscriber' | 'platform',
    id: string,
  ];
  more?: { [name: string]: Json };
}

/** Something that somebody did with their own account. */
export function ownAct(personId: string, action: ActName, more: { [name: string]: Json } = {}): Act {
  return { actor: { name: `person:${personId}` }, action, of: ['person', personId], more };
}

/** The record of administrative acts. */
export interface Administration {
  /** Records an act in the transaction of what was done; last in it. */
  record(transaction: Transaction, act: Act): Promise<void>;
}
