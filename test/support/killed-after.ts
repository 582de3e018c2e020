import { afterObjects } from './after-object.ts';

/** To be loaded before a program: it dies as by `kill -9` once an object whose name ends as this pattern has come into the archive. */
afterObjects(process.env['KILLED_AFTER'], () => process.kill(process.pid, 'SIGKILL'));
