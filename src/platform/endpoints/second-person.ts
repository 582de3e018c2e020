import { personNamed } from '../accounts/administration.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import type { Baseline } from './baseline-rows.ts';

/** @throws DomainError `forbidden` for whoever proposed it, and for who is no person: nobody knows whose key it is. */
export function refuseOwn({ name }: Actor, { made_by }: Pick<Baseline, 'made_by'>): void {
  if (personNamed(name) === null)
    throw new DomainError(
      'forbidden',
      'several people may approve baselines here, so one of them does, on the page: an API key does not say who',
    );
  if (name === made_by)
    throw new DomainError(
      'forbidden',
      'several people may approve baselines here: another one than who proposed it does',
    );
}
