import type { ServiceModule } from '../module.ts';
import { ALERT_TABLES } from './tables.ts';

export const alerts = {
  name: 'alerts',
  scopes: {
    'alerts:read': 'to list alert channels',
    'alerts:write': 'to add, test and remove alert channels',
  },
  tables: ALERT_TABLES,
  load: async () => (await import('./open.ts')).openAlerts,
  loadCheck: async () => (await import('./check.ts')).checkAlerts,
} as const satisfies ServiceModule;
