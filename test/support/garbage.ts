import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Frees memory that nothing holds, so that what is measured is what is kept. */
export const collectGarbage = runInNewContext('gc') as () => void;
