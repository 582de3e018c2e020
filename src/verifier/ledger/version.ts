import { EvidenceError } from '../../core/errors.ts';
import { FORMATS, GET_THAT_VERSION, otherVersionIn } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { ARCHIVE_KEY, isLedgerKey, LEDGER_PREFIX } from '../records/keys.ts';

/** The most bytes of `archive.json` and of a ledger entry. */
const MAX_BYTES = 2 ** 30;

/**
 * Refuses an archive that another version of this program wrote: `archive.json` and every ledger entry say so. Where some
 * say so and others do not, they were altered, and whoever reads them finds that: an archive is of one version.
 *
 * @throws EvidenceError `config`.
 */
export async function refuseOtherVersion(archive: ReadableArchive): Promise<void> {
  // Objects that cannot be read here are reported by whoever reads them to use them.
  const found = await formatOf(archive).catch(() => null);
  if (found === null) return;
  throw new EvidenceError(
    'config',
    `the archive ${archive.url} is of the format ${found}, and this version reads ${FORMATS.archive}`,
    { nextStep: `${GET_THAT_VERSION}: "tool" in any runs/*/run.json names it.` },
  );
}

/** The format that all of an archive names, where it is of another version. */
async function formatOf(archive: ReadableArchive): Promise<string | null> {
  if ((await archive.stat(ARCHIVE_KEY)) === null) return null;
  const found = otherVersionIn(await archive.readBytes(ARCHIVE_KEY, MAX_BYTES));
  if (found === null) return null;
  for await (const { key } of archive.list(LEDGER_PREFIX))
    if (isLedgerKey(key) && otherVersionIn(await archive.readBytes(key, MAX_BYTES)) === null) return null;
  return found;
}
