import { invalidField } from '../errors.ts';
import type { DecoyKind, DecoyPlace } from './decoys/decoy.ts';

/** The decoy of a name, for a trap that leads to one of a kind. @throws DomainError `invalid_request`. */
export function namedPlace(places: readonly DecoyPlace[], name: string, kind: DecoyKind | null): DecoyPlace {
  const place = places.find((each) => each.name === name);
  if (place === undefined) throw invalidField('decoy', `none of the name "${name}" is configured`);
  if (place.kind !== kind)
    throw invalidField('decoy', `"${name}" is of the kind ${place.kind}, and such a trap leads to ${kind ?? 'none'}`);
  return place;
}
