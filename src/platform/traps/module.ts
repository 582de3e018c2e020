import type { ServiceModule } from '../module.ts';
import { TRAP_TABLES } from './tables.ts';

export const traps = {
  name: 'traps',
  // `traps:report` brings what others saw of traps, and reads nothing.
  scopes: ['traps:read', 'traps:write', 'traps:report'],
  streams: ['traps'],
  alerts: 'Traps',
  tables: TRAP_TABLES,
  load: async () => (await import('./open.ts')).openTraps,
} as const satisfies ServiceModule;
