import { setImmediate as nextTurn } from 'node:timers/promises';
import { drawFact, drawHeading, type FactForm } from '../../../core/typesetting/blocks.ts';
import { ACCENT, GREY, INK, type Setting } from '../../../core/typesetting/setting.ts';
import { CONTENT_WIDTH, type Sheet } from '../../../core/typesetting/sheet.ts';
import { Table } from '../../../core/typesetting/table.ts';
import type { WireCheckpoint, WireEntry, WireSummary } from '../wire.ts';

/** Data for the PDF form of a package. */
export interface EvidencePdf {
  title: string;
  summary: WireSummary;
  /** RFC 3339 time, also used as the date of the document. */
  generatedAt: string;
  checkpoints: WireCheckpoint[];
  /** All entries, or the first ones of a long package. */
  first: WireEntry[];
  /** Last entries if `first` does not contain all; otherwise empty. */
  last: WireEntry[];
}

/** Draws the facts about the package, as the service states them. */
export function drawFacts(
  sheet: Sheet,
  summary: WireSummary,
  checkpoints: readonly WireCheckpoint[],
  generatedAt: string,
): void {
  const facts: [label: string, value: string, form: FactForm][] = [
    ['Package', summary.package_id, 'mono'],
    ['Stream', summary.stream_id, 'mono'],
    ['Period', periodText(summary), 'text'],
    ['Entries', String(summary.entry_count), 'text'],
    ['Sequence', sequenceText(summary), 'text'],
    [
      'Head hash',
      summary.head_hash ?? 'none: the package has no entries',
      summary.head_hash === null ? 'text' : 'mono',
    ],
    ['First recorded', summary.first_timestamp ?? '–', 'text'],
    ['Last recorded', summary.last_timestamp ?? '–', 'text'],
    ['Verification', verificationText(summary), 'text'],
    ['Checkpoints', checkpointsText(checkpoints), 'text'],
    ['Generated', generatedAt, 'text'],
  ];
  for (const [label, value, form] of facts) drawFact(sheet, label, [value], form);
}

function periodText({ period }: WireSummary): string {
  if (period === null || (period.from === null && period.to === null)) return 'the whole stream until it was generated';
  if (period.from === null) return `until ${period.to} (exclusive)`;
  if (period.to === null) return `from ${period.from} (inclusive)`;
  return `${period.from} (inclusive) to ${period.to} (exclusive)`;
}

function sequenceText({ first_sequence: first, last_sequence: last }: WireSummary): string {
  return first === null || last === null ? '–' : `${first} to ${last}`;
}

function verificationText({ verification }: WireSummary): string {
  const state = verification.verified ? 'Shown as verified by the service' : 'Not shown as verified by the service';
  const checked = verification.last_checked_at;
  return `${state}; ${checked === null ? 'Verify was never run on it' : `last checked ${checked}`}`;
}

function checkpointsText(checkpoints: readonly WireCheckpoint[]): string {
  const anchored = checkpoints.filter(({ anchor }) => anchor.status === 'anchored');
  const development = anchored.filter(({ anchor }) => anchor.authority === 'development').length;
  const parts = [
    count(anchored.length - development, 'anchored by an external authority'),
    count(development, 'anchored by the development authority, not an external witness'),
    count(checkpoints.length - anchored.length, 'not anchored'),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'none' : parts.join('; ');
}

function count(number: number, what: string): string {
  return number === 0 ? '' : `${number} ${what}`;
}

const TOP_ROWS = 10;
/** Maximum number of listed checkpoints; the JSON form has all of them, with their tokens. */
const LISTED_CHECKPOINTS = 50;
const ROWS_A_TURN = 10;

export function drawCheckpoints(sheet: Sheet, checkpoints: readonly WireCheckpoint[]): void {
  const body: Setting = { style: sheet.styles.regular, size: 7.5, leading: 10, color: INK };
  const mono: Setting = { style: sheet.styles.mono, size: 6.5, leading: 9.5, color: GREY };
  drawHeading(sheet, 'Checkpoints');
  const table = new Table(sheet, [
    { head: 'Sequence', width: 58, align: 'right' },
    { head: 'Created', width: 120 },
    { head: 'Time stated by the authority', width: 130 },
    { head: 'Authority', width: CONTENT_WIDTH - 308 },
  ]);
  table.drawHead();
  const listed = checkpoints.slice(-LISTED_CHECKPOINTS);
  if (listed.length < checkpoints.length) {
    const earlier = checkpoints.length - listed.length;
    table.drawRemark(`${earlier} earlier checkpoints are omitted here; the JSON form has all of them.`, body);
  }
  for (const { sequence, hash, created_at, anchor } of listed) {
    table.drawRow({
      cells: [
        [{ text: String(sequence), setting: body, maxLines: 1 }],
        [{ text: created_at, setting: body, maxLines: 2 }],
        [{ text: anchor.gen_time ?? anchor.status, setting: body, maxLines: 2 }],
        [{ text: authorityText(anchor), setting: body, maxLines: 4 }],
      ],
      below: { lines: [hash], setting: mono, indent: 58, under: 4 },
    });
  }
}

function authorityText({ authority, status, tsa_url }: WireCheckpoint['anchor']): string {
  if (authority === 'development') return 'development authority, not an external witness';
  if (status !== 'anchored') return tsa_url === null ? status : `${status}: ${tsa_url}`;
  return tsa_url ?? 'external authority';
}

export function drawCounts(sheet: Sheet, { counts, entry_count }: WireSummary): void {
  const tallies = { Actors: counts.actors, Actions: counts.actions, 'Resource types': counts.resource_types };
  for (const [title, tally] of Object.entries(tallies)) drawTally(sheet, title, tally, entry_count);
}

function drawTally(sheet: Sheet, title: string, tally: Record<string, number>, total: number): void {
  const body: Setting = { style: sheet.styles.regular, size: 8, leading: 10.5, color: INK };
  // Orders ties by code units, so that the document does not depend on the order of counting.
  const sorted = Object.entries(tally).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const top = sorted.slice(0, TOP_ROWS);
  drawHeading(
    sheet,
    top.length < sorted.length ? `${title}: the ${top.length} most frequent of ${sorted.length}` : title,
  );
  const table = new Table(sheet, [
    { head: 'Name', width: CONTENT_WIDTH - 130 },
    { head: 'Entries', width: 70, align: 'right' },
    { head: 'Share', width: 60, align: 'right' },
  ]);
  table.drawHead(20);
  for (const [name, number] of top) {
    table.drawRow({
      cells: [
        [{ text: name, setting: body, maxLines: 2 }],
        [{ text: String(number), setting: body, maxLines: 1 }],
        [{ text: `${((100 * number) / total).toFixed(1)} %`, setting: body, maxLines: 1 }],
      ],
    });
  }
}

export async function drawEntries(
  sheet: Sheet,
  total: number,
  first: readonly WireEntry[],
  last: readonly WireEntry[],
): Promise<void> {
  const remark: Setting = { style: sheet.styles.regular, size: 8, leading: 11, color: ACCENT };
  drawHeading(sheet, 'Entries');
  if (total === 0) {
    sheet.flow('The package has no entries.', { ...remark, color: INK });
    return;
  }
  const table = new Table(sheet, [
    { head: 'Sequence', width: 56, align: 'right' },
    { head: 'Recorded / occurred', width: 116 },
    { head: 'Actor', width: 112 },
    { head: 'Action', width: 106 },
    { head: 'Resource', width: CONTENT_WIDTH - 390 },
  ]);
  table.drawHead();
  await drawEntryRows(sheet, table, first);
  const omitted = total - first.length - last.length;
  if (omitted > 0) {
    const shown = `Shown are the first ${first.length} and the last ${last.length} entries.`;
    table.drawRemark(`${omitted} entries in between are omitted here; the JSON form is complete. ${shown}`, remark);
  }
  await drawEntryRows(sheet, table, last);
}

async function drawEntryRows(sheet: Sheet, table: Table, entries: readonly WireEntry[]): Promise<void> {
  for (const [index, entry] of entries.entries()) {
    drawEntry(sheet, table, entry);
    // Yields, because setting a long table takes a good part of a second, and other requests are waiting.
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await nextTurn();
  }
}

function drawEntry(sheet: Sheet, table: Table, entry: WireEntry): void {
  const body: Setting = { style: sheet.styles.regular, size: 7.5, leading: 10, color: INK };
  const minor: Setting = { ...body, size: 6.5, leading: 9, color: GREY };
  const mono: Setting = { style: sheet.styles.mono, size: 6.5, leading: 9.5, color: GREY };
  const occurred = entry.occurred_at;
  table.drawRow({
    cells: [
      [{ text: String(entry.sequence), setting: body, maxLines: 1 }],
      [
        { text: entry.timestamp, setting: body, maxLines: 2 },
        ...(occurred === undefined ? [] : [{ text: occurred, setting: minor, maxLines: 2 }]),
      ],
      [{ text: entry.actor, setting: body, maxLines: 3 }],
      [{ text: entry.action, setting: body, maxLines: 3 }],
      [
        { text: entry.resource_type, setting: minor, maxLines: 1 },
        { text: entry.resource_id, setting: body, maxLines: 3 },
      ],
    ],
    below: { lines: [entry.hash], setting: mono, indent: 56, under: 4 },
  });
}
