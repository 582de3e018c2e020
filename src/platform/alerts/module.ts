import type { ServiceModule } from '../module.ts';
import { ALERT_TABLES } from './tables.ts';

export const alerts = {
  name: 'alerts',
  scopes: {
    'alerts:read': 'who is notified of what the services find',
    'alerts:write': 'to choose who is notified',
  },
  tables: ALERT_TABLES,
  load: async () => (await import('./open.ts')).openAlerts,
} as const satisfies ServiceModule;
