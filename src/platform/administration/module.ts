import type { ServiceModule } from '../module.ts';

export const administration = {
  name: 'administration',
  scopes: {
    'administration:read': 'what was done, and what could not be delivered',
    'administration:write': 'to have it delivered again',
  },
  streams: ['platform/'],
  load: async () => (await import('./open.ts')).openAdministration,
} as const satisfies ServiceModule;
