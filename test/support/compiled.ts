import { join } from 'node:path';
import { useOwnFolder } from './setup.ts';

/** Shares compiled code between the threads and programs that tests start. */
export default function keepCompiled(): void {
  process.env['NODE_COMPILE_CACHE'] = join(useOwnFolder(), 'compiled');
}
