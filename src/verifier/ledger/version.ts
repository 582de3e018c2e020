import { EvidenceError } from '../../core/errors.ts';
import { FORMATS, GET_THAT_VERSION, otherVersionIn } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { ARCHIVE_KEY, isLedgerKey, LEDGER_PREFIX } from '../records/keys.ts';

/** Maximum size of `archive.json` and of a ledger entry. */
const MAX_BYTES = 2 ** 30;

/**
 * Refuses an archive that another version of this program wrote, as `archive.json` and every ledger entry state. If
 * only some state it, they were altered, which their readers report: an archive is of one version.
 *
 * @throws EvidenceError `config`.
 */
export async function refuseOtherVersion(archive: ReadableArchive): Promise<void> {
  // Objects that cannot be read here are reported when they are read for use.
  const found = await formatOf(archive).catch(() => null);
  if (found === null) return;
  throw new EvidenceError(
    'config',
    `the archive ${archive.url} is of the format ${found}, and this version reads ${FORMATS.archive}`,
    { nextStep: `${GET_THAT_VERSION}: "tool" in any runs/*/run.json names it.` },
  );
}

/** Returns the format that the whole archive states, if it is of another version; null otherwise. */
async function formatOf(archive: ReadableArchive): Promise<string | null> {
  if ((await archive.stat(ARCHIVE_KEY)) === null) return null;
  const found = otherVersionIn(await archive.readBytes(ARCHIVE_KEY, MAX_BYTES));
  if (found === null) return null;
  for await (const { key } of archive.list(LEDGER_PREFIX))
    if (isLedgerKey(key) && otherVersionIn(await archive.readBytes(key, MAX_BYTES)) === null) return null;
  return found;
}
