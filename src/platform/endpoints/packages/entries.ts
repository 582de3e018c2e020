import { sha256 } from '../../../core/digest.ts';
import type { OwnEntry } from '../../audit/api.ts';
import type { Actor } from '../../http/principal.ts';
import type { PackagedFile } from './package-files.ts';
import type { ReleaseIndex } from './release.ts';
import type { SignedArchive, SignedPackageRow } from './repository.ts';

type Somebody = Pick<Actor, 'name'>;

/** The entry for a signed list of packages that was read. */
export function indexEntry(
  actor: Somebody,
  {
    archive: { archive, release_date, release_sha256, signed_by },
    index,
    ...counts
  }: {
    archive: Pick<SignedArchive, 'archive' | 'release_date' | 'release_sha256' | 'signed_by'>;
    index: ReleaseIndex;
    listed: number;
    added: number;
  },
): OwnEntry {
  return {
    actor: actor.name,
    action: 'index.imported',
    resource_type: 'signed_archive',
    resource_id: release_sha256,
    metadata: {
      archive,
      release_date,
      release_sha256,
      signed_by: JSON.parse(signed_by),
      index: index.name,
      index_sha256: index.sha256,
      ...counts,
    },
  };
}

/** The entry for packages whose files are known, each list of files by its digest. */
export function openedEntry(
  actor: Somebody,
  opened: readonly { row: SignedPackageRow; files: readonly PackagedFile[] }[],
): OwnEntry {
  const packages = opened.map(({ row, files }) => ({
    name: row.name,
    version: row.version,
    architecture: row.architecture,
    sha256: row.sha256,
    files: files.length,
    files_sha256: digestOfFiles(files),
  }));
  return {
    actor: actor.name,
    action: 'packages.imported',
    resource_type: 'signed_packages',
    resource_id: sha256(packages.map((each) => each.sha256).join('\n')),
    metadata: { packages },
  };
}

/**
 * Hex SHA-256 over a line `SHA256 MODE UID GID PATH` for each file, the mode in octal, in the order of their paths'
 * UTF-16.
 */
export function digestOfFiles(files: readonly PackagedFile[]): string {
  const sorted = files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return sha256(
    sorted.map((file) => `${file.sha256} ${file.mode.toString(8)} ${file.uid} ${file.gid} ${file.path}\n`).join(''),
  );
}
