/** What other services may do with traps: have one planted as a file or in a vault, and tell that it was used. */
export type { BaitTraps, FileRead, FileWatch, PreparedBait } from './bait.ts';
export { newTrapSchema } from './requests.ts';
export type { TrapOfVault, UseDecoy, VaultTraps, VaultUse } from './vault-traps.ts';
export { CREDENTIAL_TYPES } from './words.ts';
