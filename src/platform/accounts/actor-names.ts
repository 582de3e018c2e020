import { personNamed } from './administration.ts';
import type { People } from './people.ts';

/** Returns the name that people give an actor. */
export type NameActor = (actor: string) => string;

/**
 * Reads how people are called who did things; null stands for nobody. Whoever is no person, or not known any more, is
 * called as acts name them.
 */
export async function namesOfActors(
  people: Pick<People, 'namesOf'>,
  actors: readonly (string | null)[],
): Promise<NameActor> {
  const ids = actors.map((actor) => (actor === null ? null : personNamed(actor))).filter((id) => id !== null);
  const names = await people.namesOf([...new Set(ids)]);
  return (actor) => names.get(personNamed(actor) ?? '') ?? actor;
}
