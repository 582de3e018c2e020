import { afterObjects } from './after-object.ts';

/**
 * Preload for a program: kills it with SIGKILL after an object whose name ends with this pattern enters the archive.
 */
afterObjects(process.env['KILLED_AFTER'], () => process.kill(process.pid, 'SIGKILL'));
