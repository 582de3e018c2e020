import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import { updatePerson } from './person-rows.ts';

/** Audit stream of all administrative acts. */
export const ADMINISTRATION_STREAM = 'platform/administration';

/** Returns the id of the person that an act names; null for a key or a command. */
export function personNamed(actor: string): string | null {
  return /^person:(.*)$/.exec(actor)?.[1] ?? null;
}

/** @throws DomainError `forbidden` if a scope is missing from the actor, who cannot grant it. */
export function refuseScopes({ scopes: own }: Actor, scopes: readonly Scope[]): void {
  const refused = scopes.find((scope) => !own.includes(scope));
  if (refused !== undefined)
    throw new DomainError('forbidden', `you do not have the scope ${refused}, so you cannot grant it`);
}

/** Returns the actor of a command, whose caller has access to the database and therefore all scopes. */
export function byCommand(command: string): Actor {
  return { name: `command:${command}`, scopes: SCOPES };
}

type ActName =
  | 'platform.initialised'
  | 'key.made'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.withdrawn'
  | 'row.refused'
  | 'set_up_link.made'
  | 'person.invited'
  | 'invitation.sent_again'
  | 'invitation.withdrawn'
  | 'person.joined'
  | 'sign_up.confirmed'
  | 'sign_up.approved'
  | 'sign_up.declined'
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
  | 'heads.accepted'
  | 'recovery_codes.made'
  | 'recovery_code.used'
  | 'clock.accepted'
  | 'message.replayed'
  | 'alert_channel.added'
  | 'alert_channel.removed'
  | 'agent_subscriber.added'
  | 'agent_subscriber.removed';

/** Acts that change the row of the person whom they are about. */
export const CHANGES_PERSON: ReadonlySet<string> = new Set<ActName>([
  'person.joined',
  'sign_up.approved',
  'person.role_changed',
  'person.disabled',
  'person.enabled',
  'password.changed',
  'password.reset',
  'second_factor.added',
  'second_factor.removed',
  'recovery_codes.made',
  'recovery_code.used',
]);

/**
 * Act that changes who may do what. Acts refer to people by id, because they are never erased and must not contain
 * addresses or names.
 */
export interface Act {
  actor: Pick<Actor, 'name'>;
  action: ActName;
  /** Subject of the act. */
  of: readonly [
    type:
      | 'api_key'
      | 'person'
      | 'link'
      | 'sign_up'
      | 'network'
      | 'message'
      | 'alert_channel'
      | 'agent_subscriber'
      | 'platform',
    id: string,
  ];
  more?: { [name: string]: Json };
}

/** Returns an act of a person on their own account. */
export function ownAct(personId: string, action: ActName, more: { [name: string]: Json } = {}): Act {
  return { actor: { name: `person:${personId}` }, action, of: ['person', personId], more };
}

/** Notes an act in the row of the person that it changed, so that no earlier state of the row fits the acts. */
export async function noteAct(transaction: Transaction, { action, of: [type, person_id] }: Act, act: number) {
  if (type === 'person' && CHANGES_PERSON.has(action)) await updatePerson(transaction, { person_id }, { act });
}

/** Record of administrative acts. */
export interface Administration {
  /** Records an act in the transaction that performs it. Call this last in the transaction. */
  record(transaction: Transaction, act: Act): Promise<void>;
}
