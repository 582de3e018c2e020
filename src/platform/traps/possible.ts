import { DomainError } from '../errors.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import { CREDENTIAL_TYPES, type CredentialType, type PlantedType } from './enums.ts';
import { TYPES } from './types/types.ts';

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
