import type { DecoyPlace } from '../decoys/decoy.ts';
import type { TrapInput } from './type.ts';

/** The decoy of a type that is made with one only. */
export function neededDecoy({ decoy }: TrapInput): DecoyPlace {
  if (decoy === null) throw new Error('a type that needs a decoy was made without one');
  return decoy;
}
