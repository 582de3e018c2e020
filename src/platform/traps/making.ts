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

/** Facts about a new trap except its credential. */
export type TrapFacts = Pick<
  NewTrapRow,
  'credential_type' | 'plant_location' | 'label' | 'origin' | 'decoy' | 'expires_at' | 'rotated_from'
>;

/** Dependencies of the service. */
export interface TrapServiceDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  vault: TrapVault;
}

/** @throws DomainError `invalid_request` if the expiry is in the past. */
export function refusePast(expiresAt: string | null, now: Date): void {
  if (expiresAt !== null && expiresAt <= now.toISOString())
    throw new DomainError('invalid_request', `expires_at is in the past: ${expiresAt}`);
}

/**
 * Stores a new trap, with its entry in the stream `traps`.
 * @returns the row.
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
 * Changes a trap, with an entry in the stream `traps`.
 * @returns the changed row.
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

/** States whether a trap of a type can be made here now. */
export interface TypeTruth {
  type: PlantedType;
  /** Decoys to which the trap may lead; the first one is the default. */
  decoys: readonly DecoyPlace[];
  /** Reason why the trap cannot be made; null if it can. */
  reason: string | null;
}

/** Returns the state of every type. @param places the decoys that listen here. */
export function typesPossible(places: readonly DecoyPlace[]): TypeTruth[] {
  return CREDENTIAL_TYPES.map((type) => {
    const { decoy, needsDecoy, needsAnyDecoy } = TYPES[type];
    const decoys = places.filter(({ kind }) => kind === decoy);
    const isMissing = (needsDecoy && decoys.length === 0) || (needsAnyDecoy === true && places.length === 0);
    const one = needsAnyDecoy === true ? 'a decoy' : `a decoy of kind ${decoy}`;
    const reason = isMissing ? `Requires ${one}, but none is configured: add one under decoys in the settings.` : null;
    return { type, decoys, reason };
  });
}

/** Returns the type of a planted trap. @throws DomainError `conflict` for a trap in the vault of an agent. */
export function plantedType({ credential_type }: { credential_type: CredentialType }): PlantedType {
  const type = CREDENTIAL_TYPES.find((each) => each === credential_type);
  if (type !== undefined) return type;
  throw new DomainError(
    'conflict',
    'the trap is in the vault of an agent: remove the decoy there, and add another one',
  );
}

/** Returns the decoy with a name, for a trap that needs a kind of decoy. @throws DomainError `invalid_request`. */
export function namedPlace(places: readonly DecoyPlace[], name: string, kind: DecoyKind | null): DecoyPlace {
  const place = places.find((each) => each.name === name);
  if (place === undefined) throw invalidField('decoy', `no decoy named "${name}" is configured`);
  if (place.kind !== kind)
    throw invalidField(
      'decoy',
      `"${name}" is a decoy of kind ${place.kind}, but this trap requires kind ${kind ?? 'none'}`,
    );
  return place;
}
