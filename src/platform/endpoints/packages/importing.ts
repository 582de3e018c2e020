import { isSystemError, messageOf } from '../../../core/errors.ts';
import type { AuditLog } from '../../audit/api.ts';
import type { Database } from '../../database/database.ts';
import type { Actor } from '../../http/principal.ts';
import { indexEntry, openedEntry, PACKAGES_STREAM } from './entries.ts';
import { readInRelease, refuseUnlessKeyring, type SignedText } from './in-release.ts';
import { digestOfFile, filesOfPackage, type SignedDigest } from './package-files.ts';
import { ArchiveRefusal } from './programs.ts';
import { type Release, type ReleaseIndex, readIndexFile, readRelease } from './release.ts';
import {
  archiveOf,
  insertFiles,
  insertIndex,
  insertPackages,
  isIndexKnown,
  type PackagedFile,
  packageOf,
  packagesNamed,
  type SignedPackageRow,
} from './repository.ts';
import { findSources, type PackageSource, type ReleaseSource } from './sources.ts';

export interface ImportDeps {
  database: Database;
  clock: () => Date;
  log: AuditLog;
  actor: Pick<Actor, 'name'>;
}

export interface ImportOptions {
  /** Folders and .deb files to import. */
  paths: readonly string[];
  /** File with the public keys that may sign. */
  keyring: string;
}

/** Result of an import. */
export interface ImportOutcome {
  archives: ImportedArchive[];
  /** Number of packages whose files are now known, and of those whose files were known before. */
  opened: number;
  known: number;
  files: number;
  /** Packages in folders that no signed index lists. */
  unlisted: string[];
  refused: { path: string; reason: string }[];
}

export interface ImportedArchive {
  path: string;
  archive: string;
  signedBy: readonly string[];
  /** Numbers of package lists: read now, read before, and missing. */
  indexes: { read: number; known: number; missing: number };
  /** Number of packages that were not listed before. */
  packages: number;
}

/** Opened package that is not recorded yet. */
interface Opened {
  row: SignedPackageRow;
  files: PackagedFile[];
}

/** Maximum number of packages in one transaction, and approximate maximum number of files. */
const PACKAGES_AT_ONCE = 50;
const FILES_AT_ONCE = 20_000;

/**
 * Imports the files of signed packages. Valid packages are kept; refused ones are skipped and reported.
 * @throws EvidenceError if the import cannot start.
 */
export async function importPackages(deps: ImportDeps, { paths, keyring }: ImportOptions): Promise<ImportOutcome> {
  await refuseUnlessKeyring(keyring);
  const sources = await findSources(paths);
  const work = new PackageImport(deps);
  for (const release of sources.releases) await work.orRefuse(release.path, () => work.addRelease(release, keyring));
  for (const source of sources.packages) await work.orRefuse(source.path, () => work.addPackage(source));
  await work.writeOpened();
  return work.outcome;
}

class PackageImport {
  readonly outcome: ImportOutcome = { archives: [], opened: 0, known: 0, files: 0, unlisted: [], refused: [] };
  readonly #deps: ImportDeps;
  #opened: Opened[] = [];

  constructor(deps: ImportDeps) {
    this.#deps = deps;
  }

  async orRefuse(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ArchiveRefusal) && !isSystemError(error)) throw error;
      const reason = error instanceof ArchiveRefusal ? error.message : `cannot be read: ${messageOf(error)}`;
      this.outcome.refused.push({ path, reason });
    }
  }

  async addRelease({ path, indexFile }: ReleaseSource, keyring: string): Promise<void> {
    const signed = await readInRelease(path, keyring);
    const release = readRelease(signed.text);
    const indexes = { read: 0, known: 0, missing: 0 };
    const imported = { path, archive: release.archive, signedBy: signed.signedBy, indexes, packages: 0 };
    for (const index of release.indexes.filter(({ size }) => size > 0)) {
      const file = indexFile(index.name);
      if (file === null) indexes.missing += 1;
      else if (await isIndexKnown(this.#deps.database, index.sha256)) indexes.known += 1;
      else
        await this.orRefuse(file, async () => {
          imported.packages += await this.#addIndex(file, index, { signed, release });
          indexes.read += 1;
        });
    }
    this.outcome.archives.push(imported);
  }

  /** @returns the number of packages that were not listed before. */
  async #addIndex(
    file: string,
    index: ReleaseIndex,
    { signed, release }: { signed: SignedText; release: Release },
  ): Promise<number> {
    const { database, clock, log, actor } = this.#deps;
    const packages = await readIndexFile(file, index);
    const component = index.name.split('/').slice(0, -2).join('/');
    const archive = {
      archive: release.archive,
      release_date: release.date,
      release_sha256: signed.sha256,
      signed_by: JSON.stringify(signed.signedBy),
    };
    return await database.write(async (transaction) => {
      const archiveNo = await archiveOf(transaction, { ...archive, imported_at: clock().toISOString() });
      const added = await insertPackages(transaction, { archive_no: archiveNo, component }, packages);
      await insertIndex(transaction, { sha256: index.sha256, archive_no: archiveNo, name: index.name });
      const entry = indexEntry(actor, { archive, index, listed: packages.length, added });
      await log.appendIn(transaction, PACKAGES_STREAM, [entry]);
      return added;
    });
  }

  async addPackage({ path, isNamed }: PackageSource): Promise<void> {
    const digest = await digestOfFile(path);
    const row = await packageOf(this.#deps.database, digest.sha256);
    if (row === undefined) return await this.#addUnlisted(path, digest, isNamed);
    if (row.size !== digest.size) throw new ArchiveRefusal(`has ${digest.size} bytes, but ${row.size} were signed`);
    if (row.opened_at !== null || this.#opened.some((each) => each.row.package_no === row.package_no)) {
      this.outcome.known += 1;
      return;
    }
    this.#opened.push({ row, files: await filesOfPackage(path, digest) });
    const files = this.#opened.reduce((sum, each) => sum + each.files.length, 0);
    if (this.#opened.length >= PACKAGES_AT_ONCE || files >= FILES_AT_ONCE) await this.writeOpened();
  }

  /** @throws ArchiveRefusal if the file differs from the signed one of its name, or was specified explicitly. */
  async #addUnlisted(path: string, digest: SignedDigest, isNamed: boolean): Promise<void> {
    const signed = await this.#signedAs(path);
    if (signed !== undefined)
      throw new ArchiveRefusal(
        `is not the signed ${signed.name} ${signed.version}: it has the SHA-256 ${digest.sha256}, but ${signed.sha256} was signed`,
      );
    if (isNamed) throw new ArchiveRefusal(`has the SHA-256 ${digest.sha256}, which no imported index lists`);
    this.outcome.unlisted.push(path);
  }

  /** Returns the package that a file claims to be by its name. The name has no epoch, or one written with `%3a`. */
  async #signedAs(path: string): Promise<SignedPackageRow | undefined> {
    const [, name, version, architecture] = /([^/_]+)_([^/_]+)_([^/_]+)\.deb$/.exec(path) ?? [];
    if (name === undefined || version === undefined || architecture === undefined) return undefined;
    const rows = await packagesNamed(this.#deps.database, { name, architecture });
    const said = withoutEpoch(version.replace(/^(\d+)%3a/i, '$1:'));
    return rows.find((row) => withoutEpoch(row.version) === said);
  }

  /** Records the opened packages with an entry, all or none. */
  async writeOpened(): Promise<void> {
    const { database, clock, log, actor } = this.#deps;
    const opened = this.#opened;
    this.#opened = [];
    if (opened.length === 0) return;
    const openedAt = clock().toISOString();
    const written = await database.write(async (transaction) => {
      const mine: Opened[] = [];
      for (const each of opened)
        if (await insertFiles(transaction, each.row, { files: each.files, openedAt })) mine.push(each);
      if (mine.length > 0) await log.appendIn(transaction, PACKAGES_STREAM, [openedEntry(actor, mine)]);
      return mine;
    });
    this.outcome.opened += written.length;
    this.outcome.known += opened.length - written.length;
    this.outcome.files += written.reduce((sum, { files }) => sum + files.length, 0);
  }
}

function withoutEpoch(version: string): string {
  return version.replace(/^\d+:/, '');
}
