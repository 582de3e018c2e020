import { DomainError } from '../errors.ts';
import type { Principal } from '../http/principal.ts';

const PREFIX = 'endpoint:';

/** The binding of a key that reports for an endpoint. */
export function boundTo(endpointId: string): string {
  return `${PREFIX}${endpointId}`;
}

/** The endpoint that a caller reports for. @throws DomainError `forbidden` for one who reports for none. */
export function endpointOf({ boundTo: bound }: Pick<Principal, 'boundTo'>): string {
  if (bound === undefined || bound === null || !bound.startsWith(PREFIX))
    throw new DomainError(
      'forbidden',
      'this is for the sensor on an endpoint, with the token that enrolment showed: this API key is bound to no endpoint',
    );
  return bound.slice(PREFIX.length);
}
