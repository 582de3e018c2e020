import type { ServiceModule } from '../module.ts';
import { PACKAGE_TABLES } from './packages/tables.ts';
import { ENDPOINT_TABLES } from './tables.ts';

export const endpoints = {
  name: 'endpoints',
  scopes: {
    'endpoints:read': 'to read endpoints, events and baselines, and to verify endpoints',
    'endpoints:write': 'to enroll endpoints, decide on baselines and acknowledge events',
    'endpoints:report': 'to report as the endpoint that it is bound to; enrollment creates such keys',
  },
  streams: ['endpoints/'],
  alerts: 'Endpoints',
  tables: { ...ENDPOINT_TABLES, ...PACKAGE_TABLES },
  refusals: {
    key_changed: 409,
    lines_needed: 409,
    no_key: 409,
    part_out_of_order: 409,
    report_fork: 409,
    report_gap: 409,
    report_repeated: 409,
    report_signature: 403,
    root_differs: 422,
    snapshot_restored: 409,
  },
  load: async () => (await import('./open.ts')).openEndpoints,
} as const satisfies ServiceModule;
