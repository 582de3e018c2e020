import { type Markup, markup, name } from '../../../core/html/markup.ts';
import { grouped } from '../../../core/plurals.ts';
import { dataTable, emptyState, statusWord } from '../../web/components.ts';
import type { WireEvent } from '../wire/events.ts';
import { bytesText, oneLine } from './shown-path.ts';

type Side = WireEvent['expected'];

interface Fact {
  member: string;
  expected: unknown;
  observed: unknown;
}

/** Labels for the members of a line or of a report. */
const MEMBERS: Record<string, string> = {
  type: 'Kind',
  sha256: 'SHA-256',
  size: 'Size in bytes',
  mode: 'Permissions',
  uid: 'Owner',
  gid: 'Group',
  target: 'Target',
  target_base64: 'Target',
  device: 'Device',
  why: 'Reason',
  sequence: 'Report number',
  previous_report_sha256: 'Digest of the previous report',
  report_sha256: 'Digest of the report',
  nonce: 'Nonce',
  public_key: 'Public key',
  boot_id: 'Boot ID',
  report_by: 'Report due by',
  scan_interval_seconds: 'Seconds between scans',
  intervals: 'Intervals until it is stale',
  last_report_at: 'Last report',
};

const KINDS: Record<string, string> = {
  file: 'file',
  link: 'symbolic link',
  fifo: 'named pipe (FIFO)',
  socket: 'socket',
  device: 'device',
  unreadable: 'unreadable',
  unstable: 'changed while it was read',
  other: 'not scanned',
};

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EIO: 'input/output error',
  ELOOP: 'is a link',
  EFBIG: 'larger than 256 GiB',
  changed: 'changed on every read',
  other_filesystem: 'on another file system',
};

/** Renders a table of the expected and the observed, side by side. */
export function sidesTable(event: Pick<WireEvent, 'expected' | 'observed'>): Markup {
  const { expected, observed } = event;
  return dataTable({
    caption: 'Expected and observed',
    columns: [
      { head: 'What', kind: 'name', cell: ({ member }) => MEMBERS[member] ?? name(member) },
      { head: 'Expected', cell: ({ member, expected: value }) => valueCell(member, value) },
      { head: 'Observed', cell: ({ member, observed: value }) => valueCell(member, value) },
      ...(expected === null || observed === null ? [] : [SAME]),
    ],
    rows: factsOf(expected, observed),
    empty: emptyState('No details are known.'),
  });
}

function factsOf(expected: Side, observed: Side): Fact[] {
  const before = expected ?? {};
  const after = observed ?? {};
  const members = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const shown = members.filter((member) => member !== 'path' && member !== 'path_base64');
  const order = Object.keys(MEMBERS);
  return shown
    .toSorted((one, other) => placeIn(order, one) - placeIn(order, other))
    .map((member) => ({ member, expected: before[member], observed: after[member] }));
}

function placeIn(order: readonly string[], member: string): number {
  const at = order.indexOf(member);
  return at === -1 ? order.length : at;
}

/** Column that states whether both sides are equal. */
const SAME = {
  head: 'Same',
  cell({ expected, observed }: Fact): Markup {
    if (expected === undefined || observed === undefined) return markup`<span class="minor">one side only</span>`;
    return expected === observed ? markup`<span class="minor">yes</span>` : statusWord('warning', 'no');
  },
};

/** Returns the kind of file at a path. */
export function kindWord(type: string): Markup {
  return markup`${KINDS[type] ?? name(type)}`;
}

function valueCell(member: string, value: unknown): Markup {
  if (value === undefined || value === null) return markup`<span class="minor">nothing</span>`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (member === 'type') return kindWord(text);
  if (member === 'why' && REASONS[text] !== undefined) return markup`${REASONS[text]} <code>${text}</code>`;
  if (member === 'size' && typeof value === 'number') return markup`${grouped(value)}`;
  return markup`<code>${name(oneLine(member === 'target_base64' ? bytesText(text) : text))}</code>`;
}
