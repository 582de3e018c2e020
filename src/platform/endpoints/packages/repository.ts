import { type Selectable, sql } from 'kysely';
import type { Database, Reader, Transaction } from '../../database/database.ts';
import { kindsOf, pick } from '../../database/table.ts';
import { fromCursor, pageOf, toCursor } from '../../http/cursor.ts';
import type { PageQuery } from '../../http/fields.ts';
import type { WireArchive } from '../wire/events.ts';
import { PACKAGE_TABLES, type PackageTables } from './tables.ts';

export type SignedArchive = Selectable<PackageTables['signed_archives']>;
export type SignedPackageRow = Selectable<PackageTables['signed_packages']>;

/** Owner and mode of a file. */
export interface Attributes {
  /** Permissions, with setuid, setgid and sticky bits. */
  mode: number;
  uid: number;
  gid: number;
}

/** Regular file in a package. */
export interface PackagedFile extends Attributes {
  /** Path as returned by `standingPath`. */
  path: string;
  sha256: string;
}

/** Package as listed by an index. */
export interface ListedPackage {
  name: string;
  version: string;
  architecture: string;
  /** Size of the .deb file in bytes. */
  size: number;
  /** Digest of the .deb file, hex. */
  sha256: string;
}

/** Maximum number of rows in a statement; SQLite allows 32,766 values. */
const ROWS_AT_ONCE = 1000;

/** Returns the number of an InRelease's archive, which is added if it is new. */
export async function archiveOf(transaction: Transaction, archive: Omit<SignedArchive, 'archive_no'>): Promise<number> {
  const archives = transaction.tables<PackageTables>();
  const added = await archives
    .insertInto('signed_archives')
    .values(archive)
    .onConflict((conflict) => conflict.column('release_sha256').doNothing())
    .returning('archive_no')
    .executeTakeFirst();
  if (added !== undefined) return added.archive_no;
  const known = archives.selectFrom('signed_archives').select('archive_no');
  return (await known.where('release_sha256', '=', archive.release_sha256).executeTakeFirstOrThrow()).archive_no;
}

/** Reports whether an index with this digest was read completely, from any archive. */
export async function isIndexKnown(reader: Reader, sha256: string): Promise<boolean> {
  const indexes = reader.tables<PackageTables>().selectFrom('signed_indexes').select('sha256');
  return (await indexes.where('sha256', '=', sha256).executeTakeFirst()) !== undefined;
}

export async function insertIndex(transaction: Transaction, index: PackageTables['signed_indexes']): Promise<void> {
  const indexes = transaction.tables<PackageTables>().insertInto('signed_indexes').values(index);
  await indexes.onConflict((conflict) => conflict.column('sha256').doNothing()).execute();
}

/** Adds packages that were in no earlier archive. @returns their number. */
export async function insertPackages(
  transaction: Transaction,
  of: Pick<SignedPackageRow, 'archive_no' | 'component'>,
  packages: readonly ListedPackage[],
): Promise<number> {
  let added = 0;
  for (let at = 0; at < packages.length; at += ROWS_AT_ONCE) {
    const rows = packages
      .slice(at, at + ROWS_AT_ONCE)
      .map((listed) => ({ ...of, ...listed, opened_at: null, file_count: null }));
    const { numInsertedOrUpdatedRows = 0n } = await transaction
      .tables<PackageTables>()
      .insertInto('signed_packages')
      .values(rows)
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .executeTakeFirstOrThrow();
    added += Number(numInsertedOrUpdatedRows);
  }
  return added;
}

/** Returns the package of a .deb file by its digest. */
export async function packageOf(reader: Reader, sha256: string): Promise<SignedPackageRow | undefined> {
  const packages = reader.tables<PackageTables>().selectFrom('signed_packages').selectAll();
  return await packages.where('sha256', '=', sha256).executeTakeFirst();
}

/** Returns the packages with a name for an architecture. */
export async function packagesNamed(
  reader: Reader,
  { name, architecture }: { name: string; architecture: string },
): Promise<SignedPackageRow[]> {
  const packages = reader.tables<PackageTables>().selectFrom('signed_packages').selectAll();
  return await packages.where('name', '=', name).where('architecture', '=', architecture).execute();
}

const FILE_COLUMNS = kindsOf(PACKAGE_TABLES.known_files, ['sha256', 'path', 'package_no', 'mode', 'uid', 'gid']);

/** Adds the files of a package. @returns false if another process has already added them. */
export async function insertFiles(
  transaction: Transaction,
  { package_no }: SignedPackageRow,
  { files, openedAt }: { files: readonly PackagedFile[]; openedAt: string },
): Promise<boolean> {
  const packages = transaction.tables<PackageTables>().updateTable('signed_packages');
  const { numUpdatedRows } = await packages
    .set({ opened_at: openedAt, file_count: files.length })
    .where('package_no', '=', package_no)
    .where('opened_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return false;
  await transaction.insertAll(
    'known_files',
    FILE_COLUMNS,
    files.map((file) => ({ ...file, package_no })),
  );
  return true;
}

/** Archive, with counts of its known packages. */
export interface CountedArchive extends SignedArchive {
  /** Number of packages that this archive was the first to list. */
  packages: number;
  /** Number of packages whose files are known. */
  opened: number;
  files: number;
}

/** Returns archives, newest first. */
export async function archivesBefore(
  reader: Reader,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<CountedArchive[]> {
  const tables = reader.tables<PackageTables>();
  let archives = tables.selectFrom('signed_archives').selectAll().orderBy('archive_no', 'desc').limit(limit);
  if (before !== undefined) archives = archives.where('archive_no', '<', before);
  const rows = await archives.execute();
  if (rows.length === 0) return [];
  const counts = await tables
    .selectFrom('signed_packages')
    .where(
      'archive_no',
      'in',
      rows.map(({ archive_no }) => archive_no),
    )
    .groupBy('archive_no')
    .select(({ fn }) => [
      'archive_no',
      fn.countAll<number>().as('packages'),
      fn.count<number>('opened_at').as('opened'),
      fn.coalesce(fn.sum<number>('file_count'), sql<number>`0`).as('files'),
    ])
    .execute();
  const byNumber = new Map(counts.map((count) => [count.archive_no, count]));
  return rows.map((row) => ({ packages: 0, opened: 0, files: 0, ...row, ...byNumber.get(row.archive_no) }));
}

/** Returns the packages that have known files. */
export async function packagesWithFiles(reader: Reader): Promise<SignedPackageRow[]> {
  const packages = reader.tables<PackageTables>().selectFrom('signed_packages').selectAll();
  return await packages
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb('opened_at', 'is not', null),
        exists(
          selectFrom('known_files')
            .select('known_files.package_no')
            .whereRef('known_files.package_no', '=', 'signed_packages.package_no'),
        ),
      ]),
    )
    .orderBy('package_no')
    .execute();
}

/** Returns the known files of a package. */
export async function filesKnownOf(reader: Reader, packageNo: number): Promise<PackagedFile[]> {
  const files = reader
    .tables<PackageTables>()
    .selectFrom('known_files')
    .select(['path', 'sha256', 'mode', 'uid', 'gid']);
  return await files.where('package_no', '=', packageNo).execute();
}

/** Lists the signed archives whose packages are known, newest first. @throws DomainError `invalid_cursor`. */
export async function listArchives(
  database: Database,
  { limit, cursor }: PageQuery,
): Promise<{ data: WireArchive[]; next_cursor: string | null }> {
  const before = cursor === undefined ? undefined : fromCursor('packages', ['number'], cursor)[0];
  const rows = await archivesBefore(database, { before, limit: limit + 1 });
  const { page, next_cursor } = pageOf(rows, limit, (last) => toCursor('packages', [last.archive_no]));
  return { data: page.map(toWire), next_cursor };
}

function toWire(row: CountedArchive): WireArchive {
  const counted = ['packages', 'opened', 'files'] as const;
  const shown = pick(row, ['archive', 'release_date', 'release_sha256', 'imported_at', ...counted]);
  return { ...shown, signed_by: JSON.parse(row.signed_by) as string[] };
}
