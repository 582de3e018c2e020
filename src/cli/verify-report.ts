import type { Verdict } from '../claims/verdict.ts';
import { plural } from '../report/view/words.ts';
import type { ArchiveReport } from '../verify/archive-report.ts';
import type { Problem } from '../verify/problem.ts';
import type { Printer } from './printer.ts';
import { emphasise, formatClaims, formatLegend, visible } from './table.ts';

const STYLES = { verified: 'green', refuted: 'red', incomplete: 'yellow', empty: 'yellow' } as const;
const SHOWN = 50;

/** What a verification of one file comes to. */
export interface FileReport {
  outcome: Verdict['status'];
  exit_code: number;
  run_id: string | null;
  period: { from: string | null; to: string | null } | null;
  streams: (Verdict & { bundle: { key: string; identity: string | null } | null })[];
  problems: Problem[];
  warnings: string[];
}

/** A bundle or a package. */
export function printFile(report: FileReport, printer: Printer): void {
  printStreams(report.streams, printer);
  printProblems(report.problems, printer);
  printOutcome(report, printer);
}

/** An archive, run by run, and what was found in all of it. */
export function printArchive(report: ArchiveReport, printer: Printer): void {
  for (const run of report.runs) {
    printer.result(emphasise(`Run ${run.run_id}`, 'bold'));
    printStreams(run.streams, printer);
    printAttested(run.streams, printer);
    printStamps(run.stamps, printer);
    printRestamps(run.restamps, printer);
    printCustody(run.custody, printer);
    printShares(run.shares, printer);
  }
  const { missing, altered, unlocked, unexpected, checked } = report.objects;
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
  ];
  printProblems([...new Set(listed)], printer);
  for (const warning of report.warnings) printer.result(emphasise(visible(warning), 'yellow'));
  printer.result(
    `Objects       ${checked} checked: ${objectsIn(missing)} missing, ${objectsIn(altered)} altered, ${objectsIn(unexpected)} unexpected, ${objectsIn(unlocked)} unlocked`,
  );
  printer.result(`Locks         ${describeLocks(report.locks)}`);
  printExpiring(report.locks, printer);
  printer.result(`Ledger        ${plural(report.ledger.entries, 'entry')}, ${report.ledger.state}`);
  printer.result(`Signatures    ${describeSignatures(report.signatures)}`);
  printOutcome({ ...report, warnings: [] }, printer);
}

function describeSignatures({ state, reason, keys, from }: ArchiveReport['signatures']): string {
  if (state === 'unproved') return `internal consistency only: ${reason}`;
  if (state === 'refuted') return emphasise('refuted, see above', 'red');
  const extent = from === 1 ? 'all of the ledger' : `the ledger from entry ${from} on, which names all before it`;
  return `${emphasise('proved', 'green')}: ${extent}, by ${keys.join(', ')}`;
}

function describeLocks({ state, reason, checked, first_end }: ArchiveReport['locks']): string {
  if (state === 'unproved') return `unproved: ${reason}`;
  if (state === 'refuted') return emphasise('refuted, see above', 'red');
  const end = first_end === null ? 'none of them has a retention' : `the first ends at ${first_end}`;
  return `${emphasise('proved', 'green')}: ${plural(checked, 'object')} protected as recorded; ${end}`;
}

function printExpiring({ expiring }: ArchiveReport['locks'], printer: Printer): void {
  for (const { key, retain_until } of expiring.slice(0, SHOWN))
    printer.result(
      `${emphasise('expiring', 'yellow')} ${visible(key)}: ${retain_until === null ? 'is not locked' : `is locked until ${retain_until}`}; \`evidence extend\` locks a run for longer`,
    );
  if (expiring.length > SHOWN) printer.result(`… and ${expiring.length - SHOWN} more; --json has them.`);
}

function printAttested(streams: ArchiveReport['runs'][number]['streams'], printer: Printer): void {
  const attested = streams.filter((stream) => stream.attested).length;
  if (attested > 0)
    printer.result(
      `${plural(attested, 'bundle')} not read: the store attests that they are what was recorded, and the claims above are the recorded ones (--fast)`,
    );
}

function printCustody(custody: ArchiveReport['runs'][number]['custody'], printer: Printer): void {
  for (const { action, reason, ordered_by, ordered_at, retain_until, outcome } of custody) {
    const until = retain_until === null ? '' : ` until ${visible(retain_until)}`;
    const state = outcome === 'completed' ? '' : ` (${outcome})`;
    printer.result(
      `${action}${until}${state}, by ${visible(ordered_by.user)} at ${visible(ordered_at)}: ${visible(reason)}`,
    );
  }
}

function printShares(shares: ArchiveReport['runs'][number]['shares'], printer: Printer): void {
  for (const { shared_with, shared_by, shared_at, form, expires_at, objects } of shares) {
    const whom = shared_with === null ? '' : ` with ${visible(shared_with)}`;
    const until = expires_at === null ? form : `${form} that end at ${visible(expires_at)}`;
    printer.result(
      `shared${whom} as ${until}, by ${visible(shared_by.user)} at ${visible(shared_at)}: ${plural(objects, 'object')}`,
    );
  }
}

function printStamps(stamps: ArchiveReport['runs'][number]['stamps'], printer: Printer): void {
  for (const { key, state, time, authority, until, remarks } of stamps) {
    const what =
      state === 'proved'
        ? `it was there at ${time?.toISOString()}, says ${visible(authority ?? '')}; holds until ${until?.toISOString()}`
        : `${state}: ${visible(remarks.join('; '))}`;
    printer.result(`${key}  ${what}`);
  }
}

function printRestamps(restamps: ArchiveReport['runs'][number]['restamps'], printer: Printer): void {
  for (const { token, authority, ordered_by, ordered_at } of restamps)
    printer.result(
      `restamp ${visible(token.key)} from ${visible(authority)}, by ${visible(ordered_by.user)} at ${visible(ordered_at)}`,
    );
}

/** Several things can be wrong with one object. */
function objectsIn(problems: readonly Problem[]): number {
  return new Set(problems.map(({ key }) => key.split(':')[0])).size;
}

function printStreams(streams: FileReport['streams'], printer: Printer): void {
  if (streams.length === 0) return;
  printer.result(`${formatClaims(streams)}\n\n${formatLegend(streams)}\n`);
  const findings = streams.flatMap((stream) => stream.findings);
  for (const finding of findings.slice(0, SHOWN))
    printer.result(
      `${emphasise(finding.code, finding.severity === 'error' ? 'red' : 'yellow')} ${visible(finding.stream_id)}: ${visible(finding.message)}\n  ${finding.next_step}`,
    );
  if (findings.length > SHOWN) printer.result(`… and ${findings.length - SHOWN} more findings; --json has them.`);
}

function printProblems(problems: readonly Problem[], printer: Printer): void {
  for (const { code, key, message, expected, actual } of problems.slice(0, SHOWN)) {
    printer.result(`${emphasise(code, 'red')} ${visible(key)}: ${visible(message)}`);
    if (expected !== undefined || actual !== undefined)
      printer.result(`  expected ${expected ?? 'nothing'}\n  found    ${actual ?? 'nothing'}`);
  }
  if (problems.length > SHOWN) printer.result(`… and ${problems.length - SHOWN} more; --json has them.`);
}

function printOutcome(
  { outcome, exit_code, warnings }: { outcome: keyof typeof STYLES; exit_code: number; warnings: string[] },
  printer: Printer,
): void {
  printer.result(`Outcome       ${emphasise(outcome, STYLES[outcome])} (exit code ${exit_code})`);
  for (const warning of warnings) printer.result(warning);
}
