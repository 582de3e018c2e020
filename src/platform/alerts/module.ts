import type { ServiceModule } from '../module.ts';
import { ALERT_TABLES } from './tables.ts';

export const alerts = {
  name: 'alerts',
  scopes: ['alerts:read', 'alerts:write'],
  tables: ALERT_TABLES,
  load: async () => (await import('./open.ts')).openAlerts,
} as const satisfies ServiceModule;
