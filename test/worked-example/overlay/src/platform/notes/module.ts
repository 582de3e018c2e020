import type { ServiceModule } from '../module.ts';
import { NOTE_TABLES } from './tables.ts';

export const notes = {
  name: 'notes',
  scopes: {
    'notes:read': 'notes',
    'notes:write': 'to leave and remove notes',
  },
  tables: NOTE_TABLES,
  load: async () => (await import('./open.ts')).openNotes,
} as const satisfies ServiceModule;
