import type { Principal } from '../http/principal.ts';
import { SCOPES, type Scope } from '../scopes.ts';
import type { Role } from './enums.ts';
import type { Session } from './sessions.ts';

/** Scopes by role. owner: all; operator: all but changing who may sign in; auditor: reading and verifying. */
const HAS: Record<Role, (scope: Scope) => boolean> = {
  owner: () => true,
  operator: (scope) => !scope.startsWith('people:'),
  auditor: (scope) => scope.endsWith(':read'),
};

export function scopesOfRole(role: Role): Scope[] {
  return SCOPES.filter(HAS[role]);
}

/** Returns the signed-in person as a principal. */
export function principalOfSession({ personId, name, role }: Session): Principal {
  return { kind: 'person', id: personId, name, scopes: scopesOfRole(role) };
}
