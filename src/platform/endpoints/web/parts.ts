import type { People } from '../../accounts/people.ts';
import type { EndpointService } from '../service.ts';

/** What the pages of endpoints are made with: the same services that the routes of the API call. */
export interface EndpointPageParts {
  service: EndpointService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

/** Rows of a list on its own page, and beside others. */
export const LIST_ROWS = 25;
export const SHORT_ROWS = 10;

export const MAY_SEE = { scope: 'endpoints:read' } as const;
export const MAY_ACT = { scope: 'endpoints:write' } as const;
