/** What other services may know of endpoints: which one a caller reports for, and which traps it watches. */
export { baitWatches } from './bait/planting.ts';
export { endpointOf } from './binding.ts';
