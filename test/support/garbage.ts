import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage, so that measurements show only memory in use. */
export const collectGarbage = runInNewContext('gc') as () => void;
