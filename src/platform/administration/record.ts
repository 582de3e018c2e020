import { ADMINISTRATION_STREAM, type Administration, noteAct } from '../accounts/api.ts';
import type { AuditLog } from '../audit/api.ts';

/** Returns a record whose acts are entries of an audit stream, sealed and verified like any other. */
export function recordIn(log: AuditLog): Administration {
  return {
    async record(transaction, act) {
      const {
        actor,
        action,
        of: [resource_type, resource_id],
        more = {},
      } = act;
      const entry = { actor: actor.name, action, resource_type, resource_id, metadata: more };
      const [place] = await log.appendIn(transaction, ADMINISTRATION_STREAM, [entry]);
      if (place !== undefined) await noteAct(transaction, act, place.sequence);
    },
  };
}
