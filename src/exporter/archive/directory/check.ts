import { link, readFile, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { attempt, type Check, doubtful, ok } from '../../check.ts';
import { storeFailure } from './failure.ts';
import { nearestFolder, syncFolder } from './folder.ts';
import { closeIncoming, openIncoming } from './incoming.ts';

const GIBIBYTE = 2 ** 30;
const TEXT = 'Written by evidence doctor. It is not evidence.\n';

/**
 * Checks that a folder can store evidence. All trial files are removed.
 * @param path of the archive, which may not exist yet.
 */
export async function checkDirectory(path: string): Promise<Check[]> {
  const place = await nearestFolder(path);
  return [await attempt('write', () => checkWriting(path, place)), await attempt('space', () => checkSpace(place))];
}

/** Tries the steps by which an object is archived. */
async function checkWriting(path: string, place: string): Promise<Check> {
  try {
    const incoming = await openIncoming(place);
    const second = `${incoming.path}-link`;
    try {
      await incoming.handle.writeFile(TEXT);
      await incoming.handle.sync();
      await link(incoming.path, second);
      await syncFolder(dirname(incoming.path));
      if ((await readFile(second, 'utf8')) !== TEXT) throw new Error('the disk returned different content');
    } finally {
      await incoming.handle.close();
      await unlink(second).catch(() => undefined);
      await unlink(incoming.path);
    }
  } catch (error) {
    throw storeFailure(error, `write to ${join(place, '.')}`);
  } finally {
    await closeIncoming(place).catch(() => undefined);
  }
  const where = place === path ? path : `${path}, which the first export creates`;
  return ok('write', `${where}: written, synced to disk, linked and read back; the test file was deleted`);
}

async function checkSpace(place: string): Promise<Check> {
  const { bavail, bsize } = await statfs(place).catch((error: unknown) => {
    throw new EvidenceError('archive', `the free space on the disk of ${place} cannot be determined`, { cause: error });
  });
  const free = bavail * bsize;
  const says = `${(free / GIBIBYTE).toFixed(1)} GiB free`;
  if (free >= GIBIBYTE) return ok('space', says);
  return doubtful('space', `only ${says} on the disk of ${place}`, 'Free space, or name an archive on another disk.');
}
