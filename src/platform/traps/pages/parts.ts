import type { People } from '../../accounts/api.ts';
import type { TrapService } from '../service.ts';

/** Services behind the pages of traps, which are those of the API's routes. */
export interface TrapPageParts {
  service: TrapService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const MAY_SEE = { scope: 'traps:read' } as const;
export const MAY_ACT = { scope: 'traps:write' } as const;
