import { drawFact, type FactForm } from '../../../core/typesetting/blocks.ts';
import type { Sheet } from '../../../core/typesetting/sheet.ts';
import type { WireCheckpoint, WireSummary } from '../wire.ts';

/** The facts about the package, as the service states them. */
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
