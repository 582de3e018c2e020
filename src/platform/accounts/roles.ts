import type { Principal } from '../http/principal.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import type { Role } from './enums.ts';
import type { Session } from './sessions.ts';

/** owner: all; operator: all but to change who may come in; auditor: reads, and verifies. */
const HAS: Record<Role, (scope: Scope) => boolean> = {
  owner: () => true,
  operator: (scope) => !scope.startsWith('people:'),
  auditor: (scope) => scope.endsWith(':read'),
};

/** Returns what somebody of a role may do. */
export function scopesOfRole(role: Role): Scope[] {
  return SCOPES.filter(HAS[role]);
}

/** Returns the person who is signed in, as routes know people. */
export function principalOfSession({ personId, name, role }: Session): Principal {
  return { kind: 'person', id: personId, name, scopes: scopesOfRole(role) };
}
