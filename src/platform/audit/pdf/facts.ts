import type { WireCheckpoint, WireSummary } from '../../../contract/default.ts';
import type { Style } from '../../../typesetting/fonts.ts';
import { GREY, INK, LEFT, RIGHT, type Setting, type Sheet } from '../../../typesetting/sheet.ts';

const LABEL_WIDTH = 104;
const ROW_GAP = 4.5;
/** A fact that must be found again on one line is set smaller before it is broken. */
const MONO_SIZES = [8.5, 8, 7.5, 7, 6.5];

type Form = 'text' | 'mono';

/** The facts about the package, as the service states them. */
export function drawFacts(
  sheet: Sheet,
  summary: WireSummary,
  checkpoints: readonly WireCheckpoint[],
  generatedAt: string,
): void {
  const facts: [label: string, value: string, form: Form][] = [
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
  for (const [label, value, form] of facts) drawFact(sheet, label, value, form);
}

function drawFact(sheet: Sheet, label: string, value: string, form: Form): void {
  const labelSetting: Setting = { style: sheet.styles.regular, size: 8.5, leading: 12.5, color: GREY };
  const style: Style = form === 'mono' ? sheet.styles.mono : sheet.styles.regular;
  const width = RIGHT - LEFT - LABEL_WIDTH;
  const sizes = form === 'mono' ? MONO_SIZES : [9];
  const fitting = sizes.find((size) => sheet.set(value, { ...labelSetting, style, size }, width).lines.length === 1);
  const setting: Setting = { style, size: fitting ?? sizes[0] ?? 9, leading: 12.5, color: INK };
  sheet.makeRoom(setting.leading + ROW_GAP);
  const baseline = sheet.y - setting.leading;
  sheet.draw(sheet.set(label, labelSetting, LABEL_WIDTH, 1), labelSetting, LEFT, baseline);
  sheet.flow(value, setting, LEFT + LABEL_WIDTH, width);
  sheet.y -= ROW_GAP;
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
