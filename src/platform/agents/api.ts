/** Interface of the agents for other services: the traps that vaults watch. */
export { decoyWatches } from './vault/decoys.ts';
