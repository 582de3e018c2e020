import { grouped, plural } from '../../../core/plurals.ts';
import { exitCodeOf } from '../../../core/terminal/exit.ts';
import { type Printer, styled } from '../../../core/terminal/printer.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { CLAIMS, type ClaimName, type OpenCode } from '../../../verifier/claims/claim.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import { runEnvelopeKey, runPrefix, stampKey } from '../../../verifier/records/keys.ts';
import { EXIT_CODE_OF, type Outcome, worstOf } from '../../../verifier/records/outcome.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import type { ExportResult } from '../../export/run.ts';
import type { RunResult } from '../../export/stream-jobs.ts';
import { sayNotProved } from '../../report/view/sentences.ts';
import { printAccepted } from './accepted.ts';
import { type Cause, printCauses, toCause } from './causes.ts';
import { printLacking } from './lacking-months.ts';
import { OUTCOME_STYLES, printStreamsTable } from './streams-table.ts';
import { printSupplements } from './supplements.ts';

const CAUSES_SHOWN = 20;
const REPORT_NAME = 'report.pdf';
const KEY_REFUSED =
  'The run is not finalized: the service refused this API key. The key needs permission to generate, download and\nlist evidence (evidence-platform: the scope audit:export). Then run the same command again.';

/**
 * Returns outcome and exit code of the command: incomplete if the time-stamp is missing, 5 if the service refused the
 * key.
 */
export function endOf({ record, unstamped, refused }: RunResult): { outcome: Outcome; exit_code: number } {
  if (refused === true) return { outcome: record.outcome, exit_code: exitCodeOf('refused') };
  if (unstamped === null) return { outcome: record.outcome, exit_code: record.exit_code };
  const outcome = worstOf([record.outcome, 'incomplete']);
  return { outcome, exit_code: EXIT_CODE_OF[outcome] };
}

/** Returns the `--json` document of an export: the run record, the command's result, and the archive. */
export function toRunDocument(result: ExportResult, archiveUrl: string) {
  const { record, state, unstamped, missing } = result;
  const why = unstamped === null ? null : { reason: unstamped.message, next_step: unstamped.nextStep ?? null };
  const report = reportOf(record, archiveUrl);
  return { ...record, ...endOf(result), state, unstamped: why, missing_months: missing, archive: archiveUrl, report };
}

/** Returns the address of the report; null if there is none. */
function reportOf({ documents }: RunRecord, archiveUrl: string): string | null {
  const report = documents.find(({ name }) => name === REPORT_NAME);
  return report === undefined ? null : `${archiveUrl}/${report.key}`;
}

/**
 * Prints the result of an export: the table of streams and claims, the reconciliation, and the place in the archive.
 */
export function printRun(result: ExportResult, archiveUrl: string, printer: Printer): void {
  const { record, state } = result;
  if (state === 'already') printAlready(record, printer);
  printStreamsTable(record.streams, printer);
  printFindings(record, printer);
  printNotReceived(record, printer);
  printAccepted(record.acceptances, printer);
  for (const { message } of record.warnings) printer.result([styled('note', 'yellow'), ` ${message}`]);
  printExtent(record, printer);
  printSupplements(record.supplements, printer);
  printAttestations(result, printer);
  const { outcome, exit_code } = endOf(result);
  printer.result(['Outcome       ', styled(outcome, OUTCOME_STYLES[outcome]), ` (exit code ${exit_code})`]);
  const open = sayNotProved(record.streams);
  if (open !== null) printer.result(open);
  const isKept = state !== 'open' || record.streams.length + record.failed.length > 0;
  printer.result(
    `Archive       ${isKept ? `${archiveUrl}/${runPrefix(record.run_id)}` : `${archiveUrl}, where nothing was stored`}`,
  );
  const report = reportOf(record, archiveUrl);
  if (report !== null) printer.result(`Report        ${report}`);
  if (state === 'open') printer.block(`\n${result.refused === true ? KEY_REFUSED : whyOpen(record)}`);
  printLacking(result.missing, printer);
}

function printAlready(record: RunRecord, printer: Printer): void {
  printer.result(`Run ${record.run_id} was finalized at ${record.finished_at} and never changes.`);
  if (record.period.to === null)
    printer.result(`It contains what the service had at ${latestOf(record)}, and nothing later.`);
  printer.result('To export what the service has now, use --revise.');
  printer.result('');
}

/** Prints the streams that were not exported, and the missing forms of the others. */
function printNotReceived(record: RunRecord, printer: Printer): void {
  printCauses(
    [
      ...record.failed.map(({ stream_id: streamId, code, reason: message, next_step: nextStep }): Cause => {
        return { what: styled('not exported', 'red'), streamId, code, message, nextStep };
      }),
      ...record.streams.flatMap(({ stream_id: streamId, missing }) =>
        missing.map(({ form, reason }): Cause => {
          return { what: styled('missing', 'yellow'), streamId, message: `the ${form} form: ${reason}`, nextStep: '' };
        }),
      ),
    ],
    printer,
  );
}

/** Prints the reconciliation of listed and exported streams. */
function printExtent(record: RunRecord, printer: Printer): void {
  const { listed, exported, partial, failed, empty, excluded } = record.reconciliation;
  const entries = record.streams.reduce((sum, stream) => sum + stream.entries, 0);
  printer.result(`Period        ${describePeriod(record.period, latestOf(record))}`);
  printer.result(
    `Streams       ${listed} listed = ${exported} exported + ${partial} partial + ${failed} failed + ${empty} empty + ${excluded} excluded`,
  );
  printer.result(`Entries       ${grouped(entries)}`);
}

function printAttestations({ record, state, unstamped }: RunResult, printer: Printer): void {
  if (state === 'open') return;
  const { signed, timestamp_authority } = record;
  printer.result(
    `Signature     ${signed ? runEnvelopeKey(record.run_id) : 'none: anyone who can replace the archive can do so undetected (sign.key_file)'}`,
  );
  if (unstamped !== null) {
    printer.result(['Time-stamp    ', styled('missing', 'yellow'), `: ${unstamped.message}`]);
    printer.result(`  ${unstamped.nextStep ?? ''}`);
  } else if (timestamp_authority !== null)
    printer.result(`Time-stamp    ${stampKey(record.run_id, 1)}, by ${timestamp_authority}`);
}

function printFindings(record: RunRecord, printer: Printer): void {
  const findings = [
    ...[...record.vanished, ...record.ended].map(({ finding }) => finding),
    ...record.streams.flatMap((stream) => stream.findings),
  ];
  printCauses(findings.map(toCause), printer, CAUSES_SHOWN);
  if (findings.length > 0) printer.result('');
}

const GIVE_ROOT =
  "Give the authority's root certificate: verify.timestamp_roots in evidence.yaml, or --timestamp-roots FILE.";
/** Next steps for claims that an input of the reader would settle. */
const GIVE: Readonly<Partial<Record<OpenCode, string>>> = {
  'key-not-given': 'Give the seal keys: verify.seal_keys in evidence.yaml, or --seal-key ID=FILE.',
  'no-root': GIVE_ROOT,
  'root-not-pinned': GIVE_ROOT,
};

/** Claims that depend on entries, keys and contract only: repeating the command gives the same result. */
const SETTLED: ReadonlySet<ClaimName> = new Set(['order', 'content', 'seal']);
/** Codes that follow from settings, from the contract or from a stream's length. */
const SETTLED_CODES: ReadonlySet<OpenCode> = new Set([
  'listing-off',
  'listing-not-requested',
  'listing-not-in-contract',
  'listing-too-long',
  'account-package',
]);

/** Explains why a run is not finalized, and what to do. */
export function whyOpen(record: RunRecord): string {
  if (record.streams.length + record.failed.length + record.vanished.length === 0)
    return 'No streams are in scope, so nothing was checked or finalized.';
  const open = record.streams.filter(({ status }) => status === 'incomplete');
  const unmet = record.scope.required_claims.flatMap((name) => open.flatMap((stream) => unmetIn(stream, name)));
  const lacking = new Set(unmet.flatMap(({ give }) => give ?? []));
  const settled = new Set(unmet.flatMap(({ streamId, isSettled }) => (isSettled ? [streamId] : [])));
  const { missing } = record.reconciliation.supplements;
  const mayCome =
    missing > 0 || record.failed.length > 0 || open.some((stream) => stream.partial || !settled.has(stream.stream_id));
  return [
    ['The run is not finalized.', ...sayUnmet(unmet)].join(' '),
    ...lacking,
    mayCome
      ? 'Run the same command again to get what is missing, or add --finalize-partial to finalize the run without it.'
      : 'Running the same command again does not help; add --finalize-partial to finalize the run without it.',
  ].join('\n');
}

interface Unmet {
  name: ClaimName;
  streamId: string;
  /** Next step, if an input of the reader would settle the claim. */
  give: string | undefined;
  /** True if repeating the command gives the same result. */
  isSettled: boolean;
}

function unmetIn({ stream_id: streamId, claims }: RunStream, name: ClaimName): Unmet[] {
  const { state, code } = claims[name];
  if (state !== 'unproved' || code === undefined) return [];
  const give = GIVE[code];
  return [{ name, streamId, give, isSettled: give !== undefined || SETTLED.has(name) || SETTLED_CODES.has(code) }];
}

function sayUnmet(unmet: readonly Unmet[]): string[] {
  const counts = CLAIMS.flatMap((name) => {
    const streams = unmet.filter((one) => one.name === name).length;
    return streams === 0 ? [] : [`${name} (${plural(streams, 'stream')})`];
  });
  return counts.length === 0 ? [] : [`Required but not proved: ${counts.join(', ')}.`];
}
