/** Interface of the accounts for other services: acts of people, API keys that speak for one thing, and names of people. */
export { ADMINISTRATION_STREAM, type Administration, noteAct, personNamed } from './administration.ts';
export { type IssuedKey, issueKey, keyNames, revokeBoundKeys } from './api-keys.ts';
export { createKey, type NewKey } from './key.ts';
export { issueOnce } from './keys.ts';
export { type NameActor, namesOfActors, type People } from './people.ts';
