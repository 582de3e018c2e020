/** Epoch in which a stream starts; a rotation starts the next one. */
export const FIRST_EPOCH = 1;

/** Marks of the entry after which another key seals the stream. Only the service writes such an entry. */
export const ROTATED = { action: 'key.rotated', resource_type: 'seal_key' } as const;

export function saysRotated({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === ROTATED.action && resource_type === ROTATED.resource_type;
}
