import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { PackageReading } from '../../verifier/chain/package.ts';
import { entriesIn } from '../../verifier/claims/continuity-question.ts';
import type { Range } from '../../verifier/claims/ranges.ts';
import type { AuditClient } from '../client/audit.ts';
import { ALL_TIME, inPeriod, type Period } from '../client/period.ts';

/** Maximum number of a package's gaps to look up, and of missing entries in them. */
const MAX_GAPS = 20;
const MAX_MISSING = 1000;

/**
 * Refuses a package of a period whose missing entries the service lists with times outside the period. Every package of
 * that period would have the gap, which would refute the stream permanently. Gaps that the service does not explain are
 * left to the verifier.
 * @throws EvidenceError `service`.
 */
export async function refuseInterleaved(
  client: Pick<AuditClient, 'listAfter' | 'listsAfter'>,
  period: Period,
  { walk }: PackageReading,
): Promise<void> {
  const gaps = walk.findings
    .list()
    .flatMap(({ code, from, to }) =>
      code === 'order/gap' && from !== undefined && to !== undefined ? [{ from, to }] : [],
    );
  const missing = gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const [first] = gaps;
  if (first === undefined || !client.listsAfter || (period.from === null && period.to === null)) return;
  if (gaps.length !== walk.findings.errors('order') || gaps.length > MAX_GAPS || missing > MAX_MISSING) return;
  for (const gap of gaps) if (!(await isElsewhere(client, walk.streamId, period, gap))) return;
  throw new EvidenceError(
    'service',
    `${entriesIn(first.from, first.to)} are between entries of this period, but the service lists them with times outside it`,
    {
      nextStep:
        'Export the whole stream with: evidence export --all-time. Then ask the operator of the service when these entries were recorded.',
    },
  );
}

/**
 * Reports whether the service lists every entry of a gap with a time outside the period; false if it does not answer.
 */
async function isElsewhere(
  client: Pick<AuditClient, 'listAfter'>,
  streamId: string,
  period: Period,
  { from, to }: Range,
): Promise<boolean> {
  const isWithin = inPeriod(period);
  let next = from;
  try {
    for await (const page of client.listAfter(streamId, from - 1, ALL_TIME))
      for (const entry of page) {
        if (entry.sequence !== next || isWithin(entry)) return false;
        if (next === to) return true;
        next++;
      }
  } catch (error) {
    if (!isEvidenceError(error) || error.code === 'interrupted') throw error;
  }
  return false;
}
