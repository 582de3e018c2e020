import { type Dirent, existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EvidenceError, messageOf } from '../../../core/errors.ts';

/** Parts of an archive to read. */
interface Sources {
  releases: ReleaseSource[];
  packages: PackageSource[];
}

export interface ReleaseSource {
  /** Path of the InRelease. */
  path: string;
  /** Returns the file of an index, in any compression; null if there is none. */
  indexFile(name: string): string | null;
}

export interface PackageSource {
  /** Path of a .deb file. */
  path: string;
  /** True if the file was specified explicitly, so that skipping it is a failure. */
  isNamed: boolean;
}

/** Extensions of an index; apt may store an index in another compression than the archive. */
const ENDINGS = ['', '.xz', '.gz', '.zst', '.lz4', '.bz2', '.lzma'];

/** Folder of apt's unfinished downloads. */
const UNFINISHED = 'partial';

/**
 * Finds InRelease files and packages: apt's lists (`HOST_dists_SUITE_InRelease`), a mirror (`dists/SUITE/InRelease`),
 * and .deb files anywhere below a folder. Does not follow links.
 * @throws EvidenceError `not-found`, `usage`.
 */
export async function findSources(paths: readonly string[]): Promise<Sources> {
  const sources: Sources = { releases: [], packages: [] };
  for (const path of paths) {
    const there = await stat(path).catch((error) => {
      throw new EvidenceError('not-found', `${path} cannot be read: ${messageOf(error)}`);
    });
    if (there.isDirectory()) await addFolder(sources, path);
    else if (path.endsWith('.deb')) sources.packages.push({ path, isNamed: true });
    else throw new EvidenceError('usage', `${path} is neither a folder nor a .deb file`);
  }
  if (sources.releases.length + sources.packages.length === 0)
    throw new EvidenceError('not-found', `there is no InRelease or .deb file in ${paths.join(', ')}`, {
      nextStep:
        'Specify the folders of apt, /var/lib/apt/lists and /var/cache/apt/archives, or the folder of a mirror, which contains dists and pool.',
    });
  return sources;
}

async function addFolder(sources: Sources, root: string): Promise<void> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter(isWanted).sort(byPath)) {
    const path = join(entry.parentPath, entry.name);
    if (entry.name.endsWith('.deb')) sources.packages.push({ path, isNamed: false });
    else sources.releases.push({ path, indexFile: indexFilesBeside(path) });
  }
}

function isWanted(entry: Dirent): boolean {
  if (!entry.isFile() || basename(entry.parentPath) === UNFINISHED) return false;
  return entry.name.endsWith('.deb') || entry.name === 'InRelease' || entry.name.endsWith('_InRelease');
}

function byPath(one: Dirent, other: Dirent): number {
  const [a, b] = [join(one.parentPath, one.name), join(other.parentPath, other.name)];
  return a < b ? -1 : Number(a > b);
}

function indexFilesBeside(path: string): ReleaseSource['indexFile'] {
  const name = basename(path);
  // apt writes the slashes of a path as underscores.
  const fileOf =
    name === 'InRelease'
      ? (index: string) => join(dirname(path), index)
      : (index: string) => path.slice(0, -'InRelease'.length) + index.replaceAll('/', '_');
  return (index) => ENDINGS.map((ending) => fileOf(index) + ending).find((file) => existsSync(file)) ?? null;
}
