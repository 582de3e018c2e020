import { randomUUID } from 'node:crypto';
import type { AuditLog, OwnEntry } from '../audit/api.ts';
import type { Database, Transaction } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { DomainError, invalidField } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import type { DecoyKind, DecoyPlace } from './decoys/decoy.ts';
import { recordAct } from './entries.ts';
import { CREDENTIAL_TYPES, type CredentialType, type PlantedType } from './enums.ts';
import { changeTrap, insertTrap, type NewTrapRow, type Trap } from './repository.ts';
import type { MadeTrap } from './types/type.ts';
import { TYPES } from './types/types.ts';
import type { TrapVault } from './vault.ts';

/** Everything about a new trap but its credential. */
export type TrapFacts = Pick<
  NewTrapRow,
  'credential_type' | 'plant_location' | 'label' | 'origin' | 'decoy' | 'expires_at' | 'rotated_from'
>;

/** The tools of the service. */
export interface TrapServiceDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  vault: TrapVault;
}

/** @throws DomainError `invalid_request` for an end that is over: nobody would plant such a trap. */
export function refusePast(expiresAt: string | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now.toISOString())
    throw new DomainError(
      'invalid_request',
      `the trap would have expired before it is made: expires_at is ${expiresAt}`,
    );
}

/**
 * Stores a new trap, with the entry of the stream `traps` that says so.
 * @returns its row.
 * @throws DomainError as `refusePast`.
 */
export async function storeTrap(
  transaction: Transaction,
  { vault, log }: Pick<TrapServiceDeps, 'vault' | 'log'>,
  facts: TrapFacts,
  { made, actor, now }: { made: MadeTrap; actor: Actor; now: Date },
) {
  refusePast(facts.expires_at, now);
  const credential_id = randomUUID();
  const { credential, channels, knownAs: known_as, parts = [] } = made;
  const secret = vault.seal(credential_id, { credential, channels, known_as, parts });
  const { credential_type, plant_location, label, origin, rotated_from } = facts;
  const columns = [
    'credential_type',
    'plant_location',
    'label',
    'origin',
    'decoy',
    'expires_at',
    'rotated_from',
  ] as const;
  const row = { ...pick(facts, columns), credential_id, secret, created_at: now.toISOString() };
  const trap = await insertTrap(transaction, row);
  await vault.marks.add(transaction, trap.trap_no, made.marks);
  const action = rotated_from === null ? 'trap.made' : 'trap.rotated';
  const more = { credential_type, plant_location, label, origin, ...(rotated_from === null ? {} : { rotated_from }) };
  await recordAct(log, transaction, { actor, action, of: ['trap', credential_id], more });
  return trap;
}

/**
 * Changes a trap, with the entry of the stream `traps` that says so.
 * @returns its row, as it is since.
 */
export async function changeRecorded(
  transaction: Transaction,
  log: Pick<AuditLog, 'appendIn'>,
  trap: Trap,
  act: { actor: Pick<Actor, 'name'>; action: string; change: Partial<Trap>; more?: OwnEntry['metadata'] },
): Promise<Trap> {
  const { credential_id, credential_type, label } = trap;
  await changeTrap(transaction, trap, act.change);
  const more = { credential_type, label, ...(act.change as OwnEntry['metadata']), ...act.more };
  await recordAct(log, transaction, { actor: act.actor, action: act.action, of: ['trap', credential_id], more });
  return { ...trap, ...act.change };
}

/** Says if a trap of a type can be made here now. */
export interface TypeTruth {
  type: PlantedType;
  /** The decoys to which it may lead; the first one, where none is named. */
  decoys: readonly DecoyPlace[];
  /** The reason that it cannot be made; null if it can. */
  reason: string | null;
}

/** Every type. @param places the decoys that listen here. */
export function typesPossible(places: readonly DecoyPlace[]): TypeTruth[] {
  return CREDENTIAL_TYPES.map((type) => {
    const { decoy, needsDecoy, needsAnyDecoy } = TYPES[type];
    const decoys = places.filter(({ kind }) => kind === decoy);
    const isMissing = (needsDecoy && decoys.length === 0) || (needsAnyDecoy === true && places.length === 0);
    const one = needsAnyDecoy === true ? 'decoys' : `a decoy of the kind ${decoy}`;
    const reason = isMissing
      ? `It leads to ${one}, and none is configured: name one under decoys in the settings.`
      : null;
    return { type, decoys, reason };
  });
}

/**
 * The type of a trap that somebody plants. @throws DomainError `conflict` for one that lies in the vault of an agent.
 */
export function plantedType({ credential_type }: { credential_type: CredentialType }): PlantedType {
  const type = CREDENTIAL_TYPES.find((each) => each === credential_type);
  if (type !== undefined) return type;
  throw new DomainError('conflict', 'it lies in the vault of an agent: remove the decoy there, and add another one');
}

/** The decoy of a name, for a trap that leads to one of a kind. @throws DomainError `invalid_request`. */
export function namedPlace(places: readonly DecoyPlace[], name: string, kind: DecoyKind | null): DecoyPlace {
  const place = places.find((each) => each.name === name);
  if (place === undefined) throw invalidField('decoy', `none of the name "${name}" is configured`);
  if (place.kind !== kind)
    throw invalidField('decoy', `"${name}" is of the kind ${place.kind}, and such a trap leads to ${kind ?? 'none'}`);
  return place;
}
