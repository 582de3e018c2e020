import type { Administration } from '../accounts/api.ts';
import type { AuditLog } from '../audit/api.ts';

/** The stream that has all administrative acts. */
export const ADMINISTRATION_STREAM = 'platform/administration';

/** Acts are entries of a stream of the audit service, sealed and verified like any other. */
export function recordIn(log: AuditLog): Administration {
  return {
    async record(transaction, { actor, action, of: [resource_type, resource_id], more = {} }) {
      const entry = { actor: actor.name, action, resource_type, resource_id, metadata: more };
      await log.appendIn(transaction, ADMINISTRATION_STREAM, [entry]);
    },
  };
}
