/** Interface of the endpoints for other services: the one that a caller reports for, and the traps that they watch. */
export { baitWatches } from './bait/planting.ts';
export { endpointOf } from './host-rows.ts';
