/** Epoch in which a stream starts; a rotation starts the next one. */
export const FIRST_EPOCH = 1;

/** Marks of the entry after which another key seals the stream. Only the service writes such an entry. */
export const ROTATED = { action: 'key.rotated', resource_type: 'seal_key' } as const;

export function saysRotated({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === ROTATED.action && resource_type === ROTATED.resource_type;
}

/**
 * Returns a stream id without what readers overlook: the form of its characters, case, blanks and invisible characters.
 * Ids with the same result look alike.
 */
export function plainId(streamId: string): string {
  const visible = streamId.normalize('NFKC').replace(/[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, '');
  return visible.toUpperCase().toLowerCase().normalize('NFKC');
}

/** Marks of the entry at which the times of a stream go back. Only the service writes such an entry. */
export const CORRECTED = { action: 'clock.corrected', resource_type: 'clock' } as const;

export function saysCorrected({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === CORRECTED.action && resource_type === CORRECTED.resource_type;
}

/**
 * Returns the metadata of an entry that corrects the clock, in the form of RFC 8785.
 * @param now time of that entry. @param previous time of the entry before.
 */
export function correctionText(now: string, previous: string): string {
  return JSON.stringify({ now, previous });
}
