import { afterObjects } from './after-object.ts';
import { fillDisk } from './full-disk.ts';

/** To be loaded before a program: a disk is full once an object whose name ends as this pattern has come into the archive. */
const { FULL_AFTER: ending, FULL_DISK: disk } = process.env;
if (disk !== undefined) afterObjects(ending, () => fillDisk(disk));
