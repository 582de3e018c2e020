import type { ServiceModule } from '../module.ts';

export const administration = {
  name: 'administration',
  scopes: ['administration:read', 'administration:write'],
  streams: ['platform/'],
  load: async () => (await import('./open.ts')).openAdministration,
} as const satisfies ServiceModule;
