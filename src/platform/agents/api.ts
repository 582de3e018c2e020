/** What other services may know of agents: which traps their vaults watch. */
export { decoyWatches } from './vault/decoys.ts';
