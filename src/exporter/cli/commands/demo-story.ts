import { join } from 'node:path';
import { grouped, plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { terminalColumns } from '../../../core/terminal/table.ts';
import { runPrefix } from '../../../verifier/records/keys.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import type { RunSupplements } from '../../../verifier/records/supplements.ts';
import type { KindCounts } from '../../../verifier/supplements/document.ts';
import { KIND_NAMES } from '../../../verifier/supplements/files.ts';
import type { ArchiveReport } from '../../../verifier/verify/archive-report.ts';
import type { ExportResult } from '../../export/run.ts';
import { sayNotProved } from '../../report/view/sentences.ts';
import { printRun } from '../output/run-report.ts';
import { type Facts, STORY_COLUMNS, type Story } from '../output/story.ts';
import { type ClaimRow, formatClaims, formatLegend, MARKS } from '../output/streams-table.ts';
import type { TrustReport } from '../output/trust-report.ts';
import { printArchive } from '../output/verify-report.ts';

/** Events of this machine that were recorded. */
interface Recorded {
  streams: { readonly size: number };
  created: number;
  notes: readonly string[];
}

export function tellBegin(story: Story): void {
  story.tell({
    title: 'A platform',
    text: 'Four services start in this process: an audit evidence chain, traps, endpoints and AI agents. Their database is in a temporary folder that is deleted at the end. Every event becomes an entry in a sealed hash chain.',
  });
}

export function tellHost(story: Story, { streams, created, notes }: Recorded): void {
  story.tell({
    title: 'This machine',
    text: 'Real events on this machine are recorded: its git history, npm installations and dpkg actions.',
    facts: [
      ['recorded', `${plural(created, 'event')} in ${plural(streams.size, 'stream')}`],
      ...notes.map((note) => ['left out', note] as const),
    ],
  });
}

export function tellChecked(story: Story, streams: number): void {
  story.tell({
    title: 'Checks and time-stamps',
    text: 'The platform checks every stream and gets the head of each time-stamped. Its built-in development authority is not an external witness.',
    facts: [['checked', `${plural(streams, 'stream')}, nothing wrong`]],
  });
}

/** Output and names that the story shows. */
interface Shown {
  /** Folder of the archive, as the user gave it. */
  archiveUrl: string;
  /** Prints the full report: with --verbose, or if the exit code is not 0. */
  printer: Printer;
}

export function tellExport(story: Story, result: ExportResult, { archiveUrl, printer }: Shown): void {
  const { record } = result;
  story.tell({
    title: 'The export',
    text: 'The exporter fetched everything with an API key, as a monthly job would, and proved each claim itself. It had the seal keys and the pinned root of the development authority.',
  });
  story.set(tableOf([...record.streams]));
  if (isDetailed(record, printer)) return void printRun(result, archiveUrl, printer);
  story.show(extentOf(record, archiveUrl));
  if (record.supplements !== null) tellSupplements(story, record.supplements);
}

/** Shows the records of the other services, and which of them the entries of the streams above prove. */
function tellSupplements(story: Story, { kinds }: RunSupplements): void {
  story.tell({
    title: 'The other services',
    text: 'Traps, endpoints and agents report what they saw and name the entry that records it. If that entry is in a bundle above, is proved and agrees, the record is proved by entry.',
    facts: KIND_NAMES.flatMap((kind) => {
      const counts = kinds[kind];
      return counts === undefined ? [] : [[kind, sayKind(counts)] as const];
    }),
  });
}

function sayKind({ in_period: all, proved_by_entry: proved, unproved }: KindCounts): string {
  if (unproved === all) return `${grouped(all)}, as the service says`;
  if (proved === all) return `${grouped(all)}, proved by entry`;
  return `${grouped(all)}: ${grouped(proved)} proved by entry, ${grouped(unproved)} as the service says`;
}

function extentOf(record: RunRecord, archiveUrl: string): Facts {
  const { listed, exported } = record.reconciliation;
  const entries = record.streams.reduce((sum, stream) => sum + stream.entries, 0);
  return [
    ['Streams', `${listed} listed, ${exported} exported`],
    ['Entries', grouped(entries)],
    ['Archive', `${archiveUrl}/${runPrefix(record.run_id)}`],
    ['Outcome', sayOutcome(record, record.streams)],
  ];
}

/** @param trust inputs of the verification. */
export function tellVerification(story: Story, report: ArchiveReport, trust: TrustReport, printer: Printer): void {
  story.tell({
    title: 'The proof',
    text: 'The archive was verified from its files alone, as an auditor would: every digest, link, seal and time-stamp was recomputed without contacting the platform.',
  });
  if (isDetailed(report, printer)) {
    printer.result('');
    printArchive(report, trust, printer);
    return;
  }
  const streams = report.runs.flatMap((run) => run.streams);
  story.show(foundIn(report, streams));
  for (const open of formatLegend(streams)
    .split('\n')
    .filter((line) => /^[?–]/.test(line)))
    story.say(open);
}

function foundIn(report: ArchiveReport, streams: Parameters<typeof sayNotProved>[0]): Facts {
  const { checked, missing, altered, unexpected } = report.objects;
  const records = report.runs.flatMap(({ supplements }) =>
    supplements?.judged === true ? KIND_NAMES.flatMap((kind) => supplements.kinds[kind] ?? []) : [],
  );
  const proved = records.reduce((sum, { proved_by_entry }) => sum + proved_by_entry, 0);
  return [
    [
      'Objects',
      `${checked} checked: ${missing.length} missing, ${altered.length} altered, ${unexpected.length} unexpected`,
    ],
    ['Ledger', `${plural(report.ledger.entries, 'entry')}, ${report.ledger.state}`],
    ...(records.length === 0
      ? []
      : [['Records', `${plural(proved, 'record')} proved by entry, verified again`] as const]),
    ['Outcome', sayOutcome(report, streams)],
  ];
}

/** @param command by which the reader runs this program. */
export function tellNext(
  story: Story,
  { run_id }: Pick<RunRecord, 'run_id'>,
  { archiveUrl, command, bundle }: { archiveUrl: string; command: string; bundle: string },
): void {
  const inRun = (name: string) => join(archiveUrl, runPrefix(run_id), name);
  story.tell({
    title: 'What to open next',
    text: 'The seal keys and the authority ended with the platform. Later verifications have neither, so they report seals and time-stamps as unproved.',
  });
  for (const [what, path] of [
    ['The run report for an auditor', inRun('report.pdf')],
    ['The same report in a browser; drop bundles on it to verify them', inRun('report.html')],
    ['One stream; start with its README.txt', join(archiveUrl, bundle)],
    ['Verify everything again, anywhere', `${command} verify ${archiveUrl}`],
  ] as const)
    story.point(what, path);
}

function isDetailed({ exit_code }: { exit_code: number }, { verbose }: Printer): boolean {
  return verbose || exit_code !== 0;
}

function tableOf(streams: readonly ClaimRow[]): string {
  const columns = Math.min(STORY_COLUMNS, terminalColumns());
  return `${formatClaims(streams, columns)}\n${MARKS.proved} proved   ${MARKS.refuted} refuted   ${MARKS.unproved} unproved`;
}

function sayOutcome(
  { outcome, exit_code }: { outcome: string; exit_code: number },
  streams: Parameters<typeof sayNotProved>[0],
): string {
  const open = sayNotProved(streams);
  return `${outcome} (exit code ${exit_code})${open === null ? ', all seven claims of every stream proved' : `. ${open}`}`;
}
