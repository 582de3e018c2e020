import type { ServiceModule } from '../module.ts';
import { ACCOUNT_TABLES } from './tables.ts';

export const keys = {
  name: 'keys',
  scopes: {
    'keys:read': 'to list API keys',
    'keys:write': 'to create, rotate and revoke API keys',
  },
  refusals: { key_ended: 409, key_expired: 401, key_revoked: 401 },
  load: async () => (await import('./open.ts')).openKeys,
} as const satisfies ServiceModule;

export const people = {
  name: 'people',
  scopes: {
    'people:read': 'to list people',
    'people:write': 'to invite and disable people, and to change their roles',
  },
  tables: ACCOUNT_TABLES,
  refusals: { link_used: 410, not_signed_in: 401, sign_in_busy: 429, too_many_attempts: 429, weak_password: 422 },
  load: async () => (await import('./open.ts')).openPeople,
  loadCheck: async () => (await import('./check.ts')).checkAccounts,
} as const satisfies ServiceModule;
