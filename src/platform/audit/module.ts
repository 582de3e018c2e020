import type { ServiceModule } from '../module.ts';
import { AUDIT_TABLES } from './tables.ts';

export const audit = {
  name: 'audit',
  // `audit:export` generates packages, and adds nothing to a stream.
  scopes: ['audit:read', 'audit:write', 'audit:export'],
  tables: AUDIT_TABLES,
  refusals: { clock_behind: 503, package_damaged: 409, stream_damaged: 409 },
  load: async () => (await import('./open.ts')).openAudit,
} as const satisfies ServiceModule;
