/** Door for other services: plant a trap as a file or in a vault, and report its use. */
export type { BaitTraps, FileRead, FileWatch, PreparedBait } from './bait.ts';
export { CREDENTIAL_TYPES } from './enums.ts';
export type { TrapOfVault, UseDecoy, VaultTraps, VaultUse } from './vault-traps.ts';
export { newTrapSchema } from './wire.ts';
