import type { People } from '../../accounts/api.ts';
import type { EndpointService } from '../service.ts';

/** Services behind the pages of endpoints, which are those of the API's routes. */
export interface EndpointPageParts {
  service: EndpointService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const SEES_ENDPOINTS = { scope: 'endpoints:read' } as const;
export const CHANGES_ENDPOINTS = { scope: 'endpoints:write' } as const;
