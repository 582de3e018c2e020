/**
 * Interface of the endpoints for other services: the endpoint that a caller reports for, and the traps that endpoints
 * watch.
 */
export { baitWatches } from './bait/planting.ts';
export { endpointOf } from './host-rows.ts';
