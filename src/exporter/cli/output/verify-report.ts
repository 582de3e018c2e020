import { type OutputLine, type Printer, type Styled, styled } from '../../../core/terminal/printer.ts';
import { plural } from '../../../core/words.ts';
import type { ReportedVerdict } from '../../../verifier/claims/recorded.ts';
import { describeMonth } from '../../../verifier/records/month-report.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { ContractUse } from '../../../verifier/verify/contract-use.ts';
import type { Problem } from '../../../verifier/verify/problem.ts';
import { sayNotProved } from '../../report/view/not-proved.ts';
import { formatClaims, formatLegend } from './claims-table.ts';
import { printFound } from './found.ts';
import { OUTCOME_STYLES } from './outcome-styles.ts';
import { printTrust, type Trust } from './trust-report.ts';

const SHOWN = 50;

type Pieces = Exclude<OutputLine, string>;
const PROVED: Styled = styled('proved', 'green');
const REFUTED: Styled = styled('refuted, see above', 'red');

/** What a verification of one file comes to. */
export interface FileReport {
  outcome: ReportedVerdict['status'];
  exit_code: number;
  run_id: string | null;
  period: { from: string | null; to: string | null } | null;
  streams: (ReportedVerdict & { bundle: { key: string; identity: string | null } | null })[];
  problems: Problem[];
  warnings: string[];
  /** Each contract that it was read by. */
  contracts: ContractUse[];
}

/** A bundle or a package. */
export function printFile(report: FileReport, trust: Trust, printer: Printer): void {
  printTrust(trust, printer);
  printStreams(report.streams, printer);
  printProblems(report.problems, printer);
  if (report.streams.some(({ bundle }) => bundle !== null))
    printer.result('Not compared  README.txt in the bundle, which is for people');
  printOutcome(report, sayNotProved(report.streams), printer);
}

/** An archive, run by run, and what was found in all of it. */
export function printArchive(report: ArchiveReport, trust: Trust, printer: Printer): void {
  printTrust(trust, printer);
  for (const run of report.runs) {
    printer.result([styled(`Run ${run.run_id}`, 'bold')]);
    printStreams(run.streams, printer);
    printAbsent(run, printer);
    printAttested(run.streams, printer);
    printStamps(run.stamps, printer);
    printRestamps(run.restamps, printer);
    printHoldLog(run.hold_log, printer);
    printShares(run.shares, printer);
  }
  const { missing, altered, unlocked, unexpected, closed, checked } = report.objects;
  const stamps = report.runs.flatMap(({ problems }) => problems.filter(({ code }) => code === 'stamp/refuted'));
  const listed = [
    ...report.ledger.findings,
    ...report.history,
    ...report.signatures.findings,
    ...stamps,
    ...missing,
    ...altered,
    ...unexpected,
    ...unlocked,
    ...closed,
  ];
  printProblems([...new Set(listed)], printer);
  for (const warning of report.warnings) printer.result([styled(warning, 'yellow')]);
  printer.result(
    `Objects       ${checked} checked: ${objectsIn(missing)} missing, ${objectsIn(altered)} altered, ${objectsIn(unexpected)} unexpected, ${objectsIn(unlocked)} unlocked${closed.length > 0 ? `, ${objectsIn(closed)} closed to this user, so not checked` : ''}`,
  );
  printer.result(['Locks         ', ...describeLocks(report.locks)]);
  printExpiring(report.locks, printer);
  printService(report.service, printer);
  printMonths(report.months, printer);
  printer.result(`Ledger        ${plural(report.ledger.entries, 'entry')}, ${report.ledger.state}`);
  printer.result(['Signatures    ', ...describeSignatures(report.signatures)]);
  const streams = report.runs.flatMap((run) => run.streams);
  printOutcome(
    { ...report, warnings: [] },
    sayNotProved(streams, report.runs.length > 1 ? 'bundle' : 'stream'),
    printer,
  );
}

function printService(service: ArchiveReport['service'], printer: Printer): void {
  if (service === null) return;
  printer.result(`Service       ${service.audit_url}`);
  for (const { run_id, from, to } of service.moved) printer.result(`  moved from ${from} to ${to} with run ${run_id}`);
}

/** How many months that have ended are in a run, and which are not. */
function printMonths(months: ArchiveReport['months'], printer: Printer): void {
  const [first, last] = [months.at(0), months.at(-1)];
  if (first === undefined || last === undefined) return;
  const whole = months.filter(({ state }) => state === 'whole').length;
  printer.result(
    `Months        ${first.month} to ${last.month}: ${whole} of ${months.length} in a run with all streams`,
  );
  for (const month of months.filter(({ state }) => state !== 'whole').slice(-SHOWN))
    printer.result([styled('missing', 'yellow'), ` ${describeMonth(month)}`]);
}

function describeSignatures({ state, reason, keys, from }: ArchiveReport['signatures']): Pieces {
  if (state === 'unproved') return [`internal consistency only: ${reason}`];
  if (state === 'refuted') return [REFUTED];
  const extent = from === 1 ? 'all of the ledger' : `the ledger from entry ${from} on, which names all before it`;
  return [PROVED, `: ${extent}, by ${keys.join(', ')}`];
}

function describeLocks({ state, reason, checked, first_end }: ArchiveReport['locks']): Pieces {
  if (state === 'unproved') return [`unproved: ${reason}`];
  if (state === 'refuted') return [REFUTED];
  const end = first_end === null ? 'none of them has a retention' : `the first ends at ${first_end}`;
  return [PROVED, `: ${plural(checked, 'object')} protected as recorded; ${end}`];
}

function printExpiring({ expiring }: ArchiveReport['locks'], printer: Printer): void {
  for (const { key, retain_until } of expiring.slice(0, SHOWN))
    printer.result([
      styled('expiring', 'yellow'),
      ` ${key}: ${retain_until === null ? 'is not locked' : `is locked until ${retain_until}`}; \`evidence extend\` locks a run for longer`,
    ]);
  if (expiring.length > SHOWN) printer.result(`… and ${expiring.length - SHOWN} more; --json has them.`);
}

/** The streams that are not among those of the table, and why. */
function printAbsent({ vanished, failed, excluded }: ArchiveReport['runs'][number], printer: Printer): void {
  for (const { finding } of vanished.slice(0, SHOWN))
    printFound(styled(finding.code, 'red'), finding.stream_id, finding.message, finding.next_step, printer);
  for (const { stream_id, reason, next_step } of failed.slice(0, SHOWN))
    printFound(styled('not exported', 'red'), stream_id, reason, next_step, printer);
  for (const { stream_id, reason } of excluded.slice(0, SHOWN)) printer.result(`excluded ${stream_id}: ${reason}`);
  const left = [vanished, failed, excluded].reduce((sum, list) => sum + Math.max(0, list.length - SHOWN), 0);
  if (left > 0) printer.result(`… and ${plural(left, 'more stream')} that are not here; --json has them.`);
}

function printAttested(streams: ArchiveReport['runs'][number]['streams'], printer: Printer): void {
  const attested = streams.filter((stream) => stream.attested).length;
  if (attested > 0)
    printer.result(
      `${plural(attested, 'bundle')} not read: the store attests that they are what was recorded, and of their claims there is only what was recorded (--fast)`,
    );
}

function printHoldLog(holdLog: ArchiveReport['runs'][number]['hold_log'], printer: Printer): void {
  for (const { action, reason, ordered_by, ordered_at, retain_until, outcome } of holdLog) {
    const until = retain_until === null ? '' : ` until ${retain_until}`;
    const state = outcome === 'completed' ? '' : ` (${outcome})`;
    printer.result(`${action}${until}${state}, by ${ordered_by.user} at ${ordered_at}: ${reason}`);
  }
}

function printShares(shares: ArchiveReport['runs'][number]['shares'], printer: Printer): void {
  for (const { shared_with, shared_by, shared_at, form, expires_at, objects } of shares) {
    const whom = shared_with === null ? '' : ` with ${shared_with}`;
    const until = expires_at === null ? form : `${form} that end at ${expires_at}`;
    printer.result(`shared${whom} as ${until}, by ${shared_by.user} at ${shared_at}: ${plural(objects, 'object')}`);
  }
}

function printStamps(stamps: ArchiveReport['runs'][number]['stamps'], printer: Printer): void {
  for (const { key, state, time, authority, until, remarks } of stamps) {
    const what =
      state === 'proved'
        ? `it was there at ${time?.toISOString()}, says ${authority ?? ''}; holds until ${until?.toISOString()}`
        : `${state}: ${remarks.join('; ')}`;
    printer.result(`${key}  ${what}`);
  }
}

function printRestamps(restamps: ArchiveReport['runs'][number]['restamps'], printer: Printer): void {
  for (const { token, timestamp_authority: authority, ordered_by, ordered_at } of restamps)
    printer.result(`restamp ${token.key} from ${authority}, by ${ordered_by.user} at ${ordered_at}`);
}

/** Several things can be wrong with one object. */
function objectsIn(problems: readonly Problem[]): number {
  return new Set(problems.map(({ key }) => key.split(':')[0])).size;
}

function printStreams(streams: FileReport['streams'], printer: Printer): void {
  if (streams.length === 0) return;
  printer.block(`${formatClaims(streams)}\n\n${formatLegend(streams)}\n`);
  const findings = streams.flatMap((stream) => stream.findings);
  for (const { code, severity, stream_id, message, next_step } of findings.slice(0, SHOWN))
    printFound(styled(code, severity === 'error' ? 'red' : 'yellow'), stream_id, message, next_step, printer);
  if (findings.length > SHOWN) printer.result(`… and ${findings.length - SHOWN} more findings; --json has them.`);
}

function printProblems(problems: readonly Problem[], printer: Printer): void {
  for (const { code, key, message, expected, actual } of problems.slice(0, SHOWN)) {
    printer.result([styled(code, 'red'), ` ${key}: ${message}`]);
    if (expected === undefined && actual === undefined) continue;
    printer.result(`  expected ${expected ?? 'nothing'}`);
    printer.result(`  found    ${actual ?? 'nothing'}`);
  }
  if (problems.length > SHOWN) printer.result(`… and ${problems.length - SHOWN} more; --json has them.`);
}

function printOutcome(
  { outcome, exit_code, warnings }: { outcome: keyof typeof OUTCOME_STYLES; exit_code: number; warnings: string[] },
  open: string | null,
  printer: Printer,
): void {
  const nothing = outcome === 'recorded' ? ': no bundle was opened' : '';
  printer.result(['Outcome       ', styled(outcome, OUTCOME_STYLES[outcome]), `${nothing} (exit code ${exit_code})`]);
  if (open !== null) printer.result(open);
  for (const warning of warnings) printer.result(warning);
}
