/** The epoch that a stream begins in; a rotation begins the next one. */
export const FIRST_EPOCH = 1;

/** The entry that says that the next one is sealed under another key. The service alone writes one. */
export const ROTATED = { action: 'key.rotated', resource_type: 'seal_key' } as const;

export function saysRotated({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === ROTATED.action && resource_type === ROTATED.resource_type;
}
