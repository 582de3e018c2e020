/** What other services may know of endpoints: which one a caller reports for. */
export { endpointOf } from './binding.ts';
