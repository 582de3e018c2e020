import { grouped } from '../../../core/plurals.ts';
import {
  fitTable,
  formatTable,
  type TerminalColumn,
  terminalColumns,
  widthOfTable,
} from '../../../core/terminal/table.ts';
import type { StreamAnswer } from '../../../verifier/profile/answers.ts';
import type { LedgerHead } from '../../../verifier/records/record.ts';

/**
 * The streams as the service lists them, and how far each was exported.
 * @param columns of the terminal; where it is too narrow for digests, a head is its number.
 */
export function formatStreams(
  streams: readonly StreamAnswer[],
  heads: ReadonlyMap<string, LedgerHead>,
  columns = terminalColumns(),
): string {
  const wide = formatTable(COLUMNS, toRows(streams, heads, describeHead));
  if (widthOfTable(wide) <= columns) return wide;
  return fitTable(
    COLUMNS,
    toRows(streams, heads, ({ headSequence }) => String(headSequence ?? UNKNOWN)),
    columns,
  );
}

const COLUMNS: readonly TerminalColumn[] = [
  { title: 'stream' },
  { title: 'entries', align: 'right' },
  { title: 'service says' },
  { title: 'last checked', isUncut: true },
  { title: 'head' },
  { title: 'exported to' },
];

function toRows(
  streams: readonly StreamAnswer[],
  heads: ReadonlyMap<string, LedgerHead>,
  headOf: (stream: StreamAnswer) => string,
): string[][] {
  return streams.map((stream) => {
    const exported = heads.get(stream.streamId);
    return [
      stream.streamId,
      stream.entryCount == null ? UNKNOWN : grouped(stream.entryCount),
      stream.drift ?? describeVerdict(stream),
      stream.lastCheckedAt === null ? UNKNOWN : toMinute(stream.lastCheckedAt),
      headOf(stream),
      exported === undefined ? 'never' : `${exported.sequence}, by ${exported.run_id}`,
    ];
  });
}

/** A time as people look for it; one that cannot be read stands as it was stated. */
function toMinute(time: string): string {
  const read = new Date(time);
  return Number.isNaN(read.getTime()) ? time : `${read.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** The mark for a value that the service does not show. */
const UNKNOWN = '–';

/** A stream that the service checked and did not find verified is another one than one that it never checked. */
function describeVerdict({ verified, lastCheckedAt, neverChecked }: StreamAnswer): string {
  if (verified === null) return UNKNOWN;
  if (verified) return 'verified';
  if (neverChecked) return 'never checked';
  return lastCheckedAt === null ? 'not verified' : 'checked, and not verified';
}

function describeHead({ headSequence, headDigest }: StreamAnswer): string {
  if (headSequence === null && headDigest === null) return UNKNOWN;
  if (headDigest === null) return headSequence === 0 ? 'none' : String(headSequence);
  return `${headSequence ?? ''}:${headDigest.slice(0, 12)}…`;
}
