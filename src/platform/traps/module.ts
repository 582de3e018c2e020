import type { ServiceModule } from '../module.ts';
import { TRAP_SETTINGS } from './settings.ts';
import { TRAP_TABLES } from './tables.ts';

export const traps = {
  name: 'traps',
  scopes: {
    'traps:read': 'to read traps, without their secrets, and detections',
    'traps:write': 'to create and revoke traps, and to acknowledge detections',
    'traps:report': 'to report events of traps from other sources',
  },
  streams: ['traps'],
  alerts: 'Traps',
  tables: TRAP_TABLES,
  settings: TRAP_SETTINGS,
  load: async () => (await import('./open.ts')).openTraps,
} as const satisfies ServiceModule;
