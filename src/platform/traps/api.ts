/** What other services may do with traps: have one planted as a file, and tell that it was read. */
export type { BaitTraps, FileRead, FileWatch, PreparedBait } from './bait.ts';
export { newTrapSchema } from './requests.ts';
export { CREDENTIAL_TYPES } from './words.ts';
