/** Next steps about a service that is not as it was expected. */
export const SERVICE_CHANGED = {
  nextStep: 'The service changed since its contract was pinned: run `evidence probe` again and compare the two files.',
};
export const OTHER_SERVICE = {
  nextStep: 'This service speaks another contract than the default one: run `evidence probe` to find it out.',
};
/** Other streams of the service fit the default contract. */
export const ODD_STREAM = {
  nextStep:
    'Ask the operator of the service about this stream: others fit the contract. What was archived before stays.',
};
/** No list of streams, the first thing that is asked for, is at the address. */
export const NO_SERVICE_THERE = {
  nextStep:
    'Check the address of the audit service (source.audit_url): its path is probably missing or wrong. It may end with /audit, as in http://127.0.0.1:8181/audit.',
};
