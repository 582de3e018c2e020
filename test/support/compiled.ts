import { join } from 'node:path';
import { useOwnFolder } from './setup.ts';

/** Threads and programs that the tests start compile the same code: once, for all of them. */
export default function keepCompiled(): void {
  process.env['NODE_COMPILE_CACHE'] = join(useOwnFolder(), 'compiled');
}
