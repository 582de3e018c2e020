import type { Archive } from '../archive/archive.ts';
import { coverMonths, describeMonth, toMonthReport } from '../ledger/coverage.ts';
import { readNewestEntry } from '../ledger/ledger.ts';
import { readPast } from '../ledger/past.ts';
import { readService } from '../ledger/service.ts';
import { attempt, type Check, failed, noted, ok, skipped } from './check.ts';

const SHOWN = 12;

/**
 * Whether the archive is of the service that is to be exported, and which months it lacks.
 * @param archive null where there is none yet.
 * @param auditUrl as records keep it; null where none is named.
 */
export async function checkHistory(archive: Archive | null, auditUrl: string | null, now: Date): Promise<Check[]> {
  if (archive === null)
    return [skipped('archive-of', 'there is no archive yet'), skipped('months', 'there is no archive yet')];
  return [
    await attempt('archive-of', () => checkArchiveOf(archive, auditUrl)),
    await attempt('months', () => checkMonths(archive, now)),
  ];
}

async function checkArchiveOf(archive: Archive, auditUrl: string | null): Promise<Check> {
  const held = await readService(archive, await readNewestEntry(archive));
  if (held === null) return skipped('archive-of', 'nothing was exported into it yet');
  if (auditUrl === null || held === auditUrl) return ok('archive-of', `the archive is of ${held}`);
  return failed(
    'archive-of',
    `the archive is of ${held}, and ${auditUrl} is to be exported: an archive is of one service`,
    'Name another archive; if that service has this address now, say so once with: evidence export --service-moved.',
  );
}

async function checkMonths(archive: Archive, now: Date): Promise<Check> {
  const { coverage } = await readPast(archive);
  const months = coverMonths(coverage, now).map(toMonthReport);
  const lacking = months.filter(({ state }) => state !== 'whole');
  const [first, last] = [months.at(0), months.at(-1)];
  if (first === undefined || last === undefined) return skipped('months', 'no month that has ended is expected yet');
  if (lacking.length === 0) return ok('months', `${first.month} to ${last.month} are in runs with all streams`);
  const more = lacking.length > SHOWN ? `; and ${lacking.length - SHOWN} earlier months` : '';
  return noted('months', `${lacking.slice(-SHOWN).map(describeMonth).join('; ')}${more}`, 'evidence export --missing');
}
