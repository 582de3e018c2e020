import { plural } from '../../../core/plurals.ts';
import { type Printer, styled } from '../../../core/terminal/printer.ts';
import type { ReportedVerdict } from '../../../verifier/claims/recorded.ts';
import type { RunReport } from '../../../verifier/verify/archive-report.ts';
import { sayRefutation } from '../../report/view/refutation.ts';
import { sayExclusion } from '../../report/view/sentences.ts';
import { type Cause, printCauses, toCause } from './causes.ts';
import { OUTCOME_STYLES, printStreamsTable } from './streams-table.ts';
import { printSupplements } from './supplements.ts';

const SHOWN = 50;

/** Outcomes of runs that need no attention. */
const WELL: ReadonlySet<string> = new Set(['verified', 'collected', 'empty', 'recorded']);

/** Prints one of several runs: a line, and details with --verbose or if something is wrong. */
export function printRunLine(run: RunReport, printer: Printer): void {
  printer.result([
    styled(`Run ${run.run_id}`, 'bold'),
    '  ',
    styled(run.outcome, OUTCOME_STYLES[run.outcome]),
    `  ${sumUp(run).join(', ')}`,
  ]);
  const isWell = WELL.has(run.outcome) && run.findings.length + run.failed.length + run.vanished.length === 0;
  if (printer.verbose || !isWell) {
    printRunDetails(run, printer);
    return;
  }
  printFindings(run.streams, printer);
  printAbsent({ ...run, excluded: [] }, printer);
}

/** Summarizes a run in a line, with everything that qualifies its outcome. */
function sumUp({ streams, excluded, superseded_by, hold_log, shares, stamps }: RunReport): string[] {
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  const attested = streams.filter((stream) => stream.attested).length;
  const proved = stamps.filter(({ state }) => state === 'proved').length;
  return [
    plural(streams.length, 'stream'),
    plural(entries, 'entry'),
    ...(attested > 0 ? [`${plural(attested, 'bundle')} not read (--fast)`] : []),
    ...(excluded.length > 0 ? [`${excluded.length} excluded`] : []),
    ...(superseded_by === null ? [] : [`superseded by ${superseded_by}`]),
    ...(stamps.length > 0 ? [`${proved} of ${plural(stamps.length, 'time-stamp')} proved`] : []),
    ...(hold_log.length > 0 ? [`${plural(hold_log.length, 'change')} of protection`] : []),
    ...(shares.length > 0 ? [`shared ${shares.length === 1 ? 'once' : `${shares.length} times`}`] : []),
  ];
}

/** Prints a run in full: its streams, and what was done with it. */
export function printRunDetails(run: RunReport, printer: Printer): void {
  printStreamsTable(run.streams, printer);
  printFindings(run.streams, printer);
  printAbsent(run, printer);
  printAttested(run.streams, printer);
  printSupplementsCheck(run.supplements, printer);
  printStamps(run.stamps, printer);
  printRestamps(run.restamps, printer);
  printHoldLog(run.hold_log, printer);
  printShares(run.shares, printer);
}

/** Prints the findings in streams, and refutations that only the export recorded. */
export function printFindings(streams: readonly ReportedVerdict[], printer: Printer): void {
  const causes = streams.flatMap(({ findings }) => findings).map(toCause);
  const recorded = streams.flatMap(({ stream_id: streamId, recorded_refutation: refutation, claims }): Cause[] =>
    refutation === undefined ? [] : [{ what: REFUTED, streamId, ...sayRefutation(refutation, claims) }],
  );
  printCauses([...causes, ...recorded], printer, SHOWN);
}

const REFUTED = styled('refuted', 'red');

/** Prints the streams that are missing from the table, and why. */
function printAbsent({ vanished, ended, failed, excluded }: RunReport, printer: Printer): void {
  const causes = [
    ...vanished.map(({ finding }) => toCause(finding)),
    ...ended.map(({ finding }) => toCause(finding)),
    ...failed.map(({ stream_id: streamId, code, reason: message, next_step }): Cause => {
      const nextStep = `For the exporter: ${next_step}`;
      return { what: styled('not exported', 'red'), streamId, code, message, nextStep };
    }),
    ...excluded.map(({ stream_id: streamId, pattern }): Cause => {
      return { what: { text: 'excluded', style: 'bold' }, streamId, message: sayExclusion(pattern), nextStep: '' };
    }),
  ];
  printCauses(causes, printer, SHOWN);
}

function printAttested(streams: RunReport['streams'], printer: Printer): void {
  const attested = streams.filter((stream) => stream.attested).length;
  if (attested > 0)
    printer.result(
      `${plural(attested, 'bundle')} not read (--fast): the store attests their checksums, and their claims are as recorded`,
    );
}

/** Prints the supplements. Errors that were found by this verification are already among the run's findings. */
function printSupplementsCheck(check: RunReport['supplements'], printer: Printer): void {
  if (check === null) return;
  const { judged, findings, proved: _proved, ...counts } = check;
  const untold = judged ? findings.filter(({ severity }) => severity !== 'error') : findings;
  printSupplements({ ...counts, findings: untold, findings_count: untold.length }, printer);
  if (!judged) printer.result('The bag with the supplements was not opened here: their counts are as recorded.');
}

function printHoldLog(holdLog: RunReport['hold_log'], printer: Printer): void {
  for (const { action, reason, ordered_by, ordered_at, retain_until, outcome } of holdLog) {
    const until = retain_until === null ? '' : ` until ${retain_until}`;
    const state = outcome === 'completed' ? '' : ` (${outcome})`;
    printer.result(`${action}${until}${state}, by ${ordered_by.user} at ${ordered_at}: ${reason}`);
  }
}

function printShares(shares: RunReport['shares'], printer: Printer): void {
  for (const { shared_with, shared_by, shared_at, form, expires_at, objects } of shares) {
    const whom = shared_with === null ? '' : ` with ${shared_with}`;
    const until = expires_at === null ? form : `${form} that expire at ${expires_at}`;
    printer.result(`shared${whom} as ${until}, by ${shared_by.user} at ${shared_at}: ${plural(objects, 'object')}`);
  }
}

function printStamps(stamps: RunReport['stamps'], printer: Printer): void {
  for (const { key, state, time, authority, until, remarks } of stamps) {
    const what =
      state === 'proved'
        ? `existed at ${time?.toISOString()}, attested by ${authority ?? ''}; valid until ${until?.toISOString()}`
        : `${state}: ${remarks.join('; ')}`;
    printer.result(`${key}  ${what}`);
  }
}

function printRestamps(restamps: RunReport['restamps'], printer: Printer): void {
  for (const { token, timestamp_authority: authority, ordered_by, ordered_at } of restamps)
    printer.result(`restamp ${token.key} from ${authority}, by ${ordered_by.user} at ${ordered_at}`);
}
