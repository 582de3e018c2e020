/** What to do about drift. */
export const SERVICE_CHANGED = {
  nextStep: 'The service changed since its contract was pinned: run `evidence probe` again and compare the two files.',
};
export const OTHER_SERVICE = {
  nextStep: 'This service speaks another contract than the default one: run `evidence probe` to find it out.',
};
