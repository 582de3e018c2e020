import type { ServiceModule } from '../module.ts';

export const administration = {
  name: 'administration',
  scopes: {
    'administration:read': 'to read administrative acts and failed deliveries',
    'administration:write': 'to repeat failed deliveries',
  },
  streams: ['platform/'],
  load: async () => (await import('./open.ts')).openAdministration,
} as const satisfies ServiceModule;
