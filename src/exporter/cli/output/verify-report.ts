import type { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { type OutputLine, type Printer, type Styled, styled } from '../../../core/terminal/printer.ts';
import { type ReportedClaims, SECRET_CLAIMS } from '../../../verifier/claims/claim.ts';
import { describeMonth } from '../../../verifier/records/month-report.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { FileReport } from '../../../verifier/verify/file-report.ts';
import type { ObjectFinding } from '../../../verifier/verify/object-finding.ts';
import { nextStepOf, nextStepOfOpenRun } from '../../next-steps.ts';
import { sayNotProved } from '../../report/view/sentences.ts';
import { printAccepted } from './accepted.ts';
import { formatLegend, OUTCOME_STYLES, printStreamsTable } from './streams-table.ts';
import { printTrust, type TrustReport } from './trust-report.ts';
import { printFindings, printRunDetails, printRunLine } from './verify-run-report.ts';

const SHOWN = 50;

type Pieces = Exclude<OutputLine, string>;
const PROVED: Styled = styled('proved', 'green');
const REFUTED: Styled = styled('refuted, see above', 'red');

/** Result of verifying an archive or a file. */
type ArchiveOrFile = ArchiveReport | FileReport;

/** Result for one target, and its trust inputs. */
export interface VerifiedTarget {
  report: ArchiveOrFile;
  trust: TrustReport;
}

/** Prints the report of a bundle or a package. */
export function printFile(report: FileReport, trust: TrustReport, printer: Printer): void {
  printExceptions(report.streams, trust, printer);
  printTrust(trust, printer);
  printFileDetails(report, printer);
}

/** Prints exceptions first, because they qualify the outcome. */
function printExceptions(
  streams: readonly { claims: ReportedClaims }[],
  { without_claims: without }: TrustReport,
  printer: Printer,
): void {
  for (const name of SECRET_CLAIMS) {
    const vouched = streams.filter(({ claims }) => claims[name].vouched_for === true).length;
    if (without.includes(name))
      printer.result([
        styled(`Without ${name}: it may stay unproved here, even if a run or bundle requires it.`, 'yellow'),
      ]);
    else if (vouched > 0)
      printer.result([
        styled(
          `Except ${name} (${plural(vouched, 'stream')}): not proved here because this needs a secret key; the signature vouches for the recorded proof.`,
          'yellow',
        ),
      ]);
  }
}

function printFileDetails(report: FileReport, printer: Printer): void {
  printStreamsTable(report.streams, printer);
  printFindings(report.streams, printer);
  printObjectFindings(report.findings, printer);
  if (report.streams.some(({ bundle }) => bundle !== null))
    printer.result('Not compared  README.txt in the bundle (information for readers)');
  printOutcome(report, sayNotProved(report.streams), printer);
}

/** Prints the report of an archive: run by run, then the findings in all of it. */
export function printArchive(report: ArchiveReport, trust: TrustReport, printer: Printer): void {
  printExceptions(
    report.runs.flatMap((run) => run.streams),
    trust,
    printer,
  );
  printTrust(trust, printer);
  printArchiveDetails(report, printer);
}

function printArchiveDetails(report: ArchiveReport, printer: Printer): void {
  printRuns(report.runs, printer);
  const { missing, altered, unlocked, unexpected, closed, checked } = report.objects;
  const stamps = report.runs.flatMap(({ findings }) => findings.filter(({ code }) => code === 'stamp/refuted'));
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
  printObjectFindings([...new Set(listed)], printer);
  printOpenRuns(report.open_runs, printer);
  for (const warning of report.warnings) printer.result([styled(warning, 'yellow')]);
  printer.result(`Objects       ${checked} checked: ${countFindings(report)}`);
  printer.result(['Locks         ', ...describeLocks(report.locks)]);
  printExpiring(report.locks, printer);
  printService(report.service, printer);
  printMonths(report.months, printer);
  printAccepted(report.acceptances, printer);
  printer.result(`Ledger        ${plural(report.ledger.entries, 'entry')}, ${report.ledger.state}`);
  printer.result(['Signatures    ', ...describeSignatures(report.signatures)]);
  const streams = report.runs.flatMap((run) => run.streams);
  printOutcome(
    { ...report, warnings: [] },
    sayNotProved(streams, report.runs.length > 1 ? 'bundle' : 'stream'),
    printer,
  );
}

function printOpenRuns(runs: ArchiveReport['open_runs'], printer: Printer): void {
  for (const run of runs.slice(0, SHOWN)) {
    printer.result([styled(run.message, 'yellow')]);
    const nextStep = nextStepOfOpenRun(run);
    if (nextStep !== null) printer.result(`  ${nextStep}`);
  }
  if (runs.length > SHOWN) printer.result(`… and ${runs.length - SHOWN} more; --json lists all.`);
}

function countFindings({ objects, locks }: ArchiveReport): string {
  const { missing, altered, unexpected, unlocked, closed } = objects;
  const counts = [
    `${objectsIn(missing)} missing`,
    `${objectsIn(altered)} altered`,
    `${objectsIn(unexpected)} unexpected`,
    // Omitted if no lock was checked, because the number of unlocked objects is unknown.
    ...(locks.checked > 0 ? [`${objectsIn(unlocked)} unlocked`] : []),
    ...(closed.length > 0 ? [`${objectsIn(closed)} not checked: this user has no access`] : []),
  ];
  return counts.join(', ');
}

/** Prints a single run in full; for several, a line each and a common legend of claims. */
function printRuns(runs: ArchiveReport['runs'], printer: Printer): void {
  const [run, ...others] = runs;
  if (run === undefined) return;
  if (others.length === 0) {
    printer.result([styled(`Run ${run.run_id}`, 'bold')]);
    printRunDetails(run, printer);
    return;
  }
  for (const one of runs) printRunLine(one, printer);
  printer.block(`\n${formatLegend(runs.flatMap(({ streams }) => streams))}\n`);
}

/** Prints one of several targets: a line, and details with --verbose or if the exit code is not 0. */
export function printTarget(name: string, report: ArchiveOrFile, printer: Printer): void {
  const { outcome, exit_code } = report;
  const streams = 'runs' in report ? report.runs.flatMap((run) => run.streams) : report.streams;
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  const holds = `${plural(streams.length, 'runs' in report ? 'bundle' : 'stream')}, ${plural(entries, 'entry')}`;
  printer.result([styled(name, 'bold'), ': ', styled(outcome, OUTCOME_STYLES[outcome]), `, ${holds}`]);
  if (!printer.verbose && exit_code === 0) return;
  if ('runs' in report) printArchiveDetails(report, printer);
  else printFileDetails(report, printer);
}

/** Prints one of several targets that could not be verified. */
export function printError(name: string, { message, nextStep }: EvidenceError, printer: Printer): void {
  printer.result([styled(name, 'bold'), ': ', styled('not verified', 'red'), `: ${message}`]);
  if (nextStep !== undefined) printer.result(`  ${nextStep}`);
}

function printService(service: ArchiveReport['service'], printer: Printer): void {
  if (service === null) return;
  printer.result(`Service       ${service.audit_url}`);
  for (const { run_id, from, to } of service.moved) printer.result(`  moved from ${from} to ${to} with run ${run_id}`);
}

/** Prints the number of ended months with a complete run, and lists the others. */
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
  const extent = from === 1 ? 'the whole ledger' : `the ledger from entry ${from}, which names all earlier entries`;
  return [PROVED, `: ${extent}, by ${keys.join(', ')}`];
}

function describeLocks({ state, reason, checked, first_end }: ArchiveReport['locks']): Pieces {
  if (state === 'unproved') return [`unproved: ${reason}`];
  if (state === 'refuted') return [REFUTED];
  const end = first_end === null ? 'none has retention' : `the first lock ends at ${first_end}`;
  return [PROVED, `: ${plural(checked, 'object')} protected as recorded; ${end}`];
}

function printExpiring({ expiring }: ArchiveReport['locks'], printer: Printer): void {
  if (expiring.length === 0) return;
  for (const { key, retain_until } of expiring.slice(0, SHOWN))
    printer.result([
      styled('expiring', 'yellow'),
      ` ${key}: ${retain_until === null ? 'is not locked' : `is locked until ${retain_until}`}`,
    ]);
  if (expiring.length > SHOWN) printer.result(`… and ${expiring.length - SHOWN} more; --json lists all.`);
  printer.result('  To extend the lock of a run: evidence extend RUN --until DAY --reason WHY.');
}

/** Counts objects, of which one may have several findings. */
function objectsIn(findings: readonly ObjectFinding[]): number {
  return new Set(findings.map(({ key }) => key.split(':')[0])).size;
}

function printObjectFindings(findings: readonly ObjectFinding[], printer: Printer): void {
  const shown = findings.slice(0, SHOWN);
  const steps = shown.map(nextStepOf);
  for (const [index, { code, severity, key, message, expected, actual }] of shown.entries()) {
    printer.result([styled(code, severity === 'error' ? 'red' : 'yellow'), ` ${key}: ${message}`]);
    if (expected !== undefined || actual !== undefined) {
      printer.result(`  expected ${expected ?? 'nothing'}`);
      printer.result(`  found    ${actual ?? 'nothing'}`);
    }
    // Printed once for consecutive findings with the same next step.
    if (steps[index + 1] !== steps[index]) printer.result(`  ${steps[index]}`);
  }
  if (findings.length > SHOWN) printer.result(`… and ${findings.length - SHOWN} more; --json lists all.`);
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
