import type { People } from '../../accounts/api.ts';
import type { EndpointService } from '../service.ts';

/** The services behind the pages of endpoints: those that the routes of the API call. */
export interface EndpointPageParts {
  service: EndpointService;
  people: Pick<People, 'namesOf'>;
  clock: () => Date;
}

export const SEES_ENDPOINTS = { scope: 'endpoints:read' } as const;
export const CHANGES_ENDPOINTS = { scope: 'endpoints:write' } as const;
