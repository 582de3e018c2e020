import { readNewestEntry } from '../../verifier/ledger/ledger.ts';
import { readPast } from '../../verifier/ledger/past.ts';
import { coverMonths } from '../../verifier/records/coverage.ts';
import { describeMonth, toMonthReport } from '../../verifier/records/month-report.ts';
import type { Archive } from '../archive/archive.ts';
import { attempt, type Check, doubtful, failed, ok, skipped } from '../check.ts';
import { readKnownLedger } from '../ledger/continuation.ts';
import { overviewRuns } from '../ledger/overview.ts';
import { readArchiveService } from '../ledger/service.ts';
import type { LedgerTrust } from '../ledger/trust.ts';

const SHOWN = 12;

/** Settings of the next export to this archive. */
interface NextExport {
  /** Address of the service in the form that records keep; null if none is configured. */
  auditUrl: string | null;
  /** Keys that sign and verify the ledger; null if they cannot be read. */
  signing: LedgerTrust | null;
}

/**
 * Checks that the archive belongs to this service, that these keys can extend its ledger, and that no month is missing.
 * Returns no checks for an archive without a run.
 * @param archive null if it does not exist yet.
 */
export async function checkHistory(
  archive: Archive | null,
  { auditUrl, signing }: NextExport,
  now: Date,
): Promise<Check[]> {
  if (archive === null) return [];
  let held: string | null = null;
  const ofService = await attempt(NAME, async () => {
    held = await readArchiveService(archive, await readNewestEntry(archive));
    return compareServices(held, auditUrl);
  });
  if (ofService.state === 'ok' && held === null) return [];
  const checks = [ofService, await attempt('months', () => checkMonths(archive, now))];
  if (signing !== null) checks.push(await attempt('ledger', () => checkLedger(archive, signing)));
  return checks;
}

/** Reads the ledger as an export does, and fails if the newest entries are signed by no trusted key. */
async function checkLedger(archive: Archive, signing: LedgerTrust): Promise<Check> {
  const { newest } = await readKnownLedger(archive, signing);
  return ok('ledger', newest === null ? 'has no entry yet' : `${newest.key} is the newest entry and can be extended`);
}

const NAME = 'archive-of';

function compareServices(held: string | null, auditUrl: string | null): Check {
  if (held === null || auditUrl === null || held === auditUrl) return ok(NAME, `the archive belongs to ${held}`);
  return failed(
    NAME,
    `the archive belongs to ${held}, not ${auditUrl}; an archive contains one service`,
    'Name another archive; if the service moved to this address, run once: evidence export --service-moved.',
  );
}

async function checkMonths(archive: Archive, now: Date): Promise<Check> {
  const { coverage } = await readPast(archive);
  const months = coverMonths(coverage, now).map(toMonthReport);
  const lacking = months.filter(({ state }) => state !== 'whole');
  const [first, last] = [months.at(0), months.at(-1)];
  if (first === undefined || last === undefined) return withoutMonths(await openRuns(archive));
  if (lacking.length === 0) return ok('months', `${first.month} to ${last.month} are in runs with all streams`);
  const more = lacking.length > SHOWN ? `; and ${lacking.length - SHOWN} earlier months` : '';
  return doubtful(
    'months',
    `${lacking.slice(-SHOWN).map(describeMonth).join('; ')}${more}`,
    'evidence export --missing',
  );
}

const NO_MONTH = 'no past month is in a finalized run';

function withoutMonths(open: readonly string[]): Check {
  if (open.length === 0) return skipped('months', NO_MONTH);
  const begun = `started but not finalized: ${open.join(', ')}`;
  return doubtful('months', `${NO_MONTH}; ${begun}`, 'Run the same export command to resume it.');
}

async function openRuns(archive: Archive): Promise<string[]> {
  const open: string[] = [];
  for await (const { run_id, state } of overviewRuns(archive)) if (state === 'open') open.push(run_id);
  return open;
}
