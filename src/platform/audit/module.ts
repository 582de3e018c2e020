import type { ServiceModule } from '../module.ts';
import { AUDIT_TABLES } from './tables.ts';

export const audit = {
  name: 'audit',
  scopes: {
    'audit:read': 'to read streams, entries and packages, and to verify',
    'audit:write': 'to append entries and anchor checkpoints',
    'audit:export': 'to generate packages',
  },
  tables: AUDIT_TABLES,
  refusals: { clock_ahead: 503, package_damaged: 409, stream_damaged: 409, stream_resembles: 409 },
  load: async () => (await import('./open.ts')).openAudit,
  loadCheck: async () => (await import('./check.ts')).checkAudit,
} as const satisfies ServiceModule;
