import { afterObjects } from './after-object.ts';
import { fillDisk } from './full-disk.ts';

/** Preload for a program: fills a disk after an object whose name ends with this pattern enters the archive. */
const { FULL_AFTER: ending, FULL_DISK: disk } = process.env;
if (disk !== undefined) afterObjects(ending, () => fillDisk(disk));
