import { ADMINISTRATION_STREAM, type Administration } from '../accounts/api.ts';
import type { AuditLog } from '../audit/api.ts';

/** Returns a record whose acts are entries of an audit stream, sealed and verified like any other. */
export function recordIn(log: AuditLog): Administration {
  return {
    async record(transaction, { actor, action, of: [resource_type, resource_id], more = {} }) {
      const entry = { actor: actor.name, action, resource_type, resource_id, metadata: more };
      await log.appendIn(transaction, ADMINISTRATION_STREAM, [entry]);
    },
  };
}
