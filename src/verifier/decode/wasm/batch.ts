import { utf8Text } from '../../../core/bytes.ts';
import type { SpareMemory } from '../../../core/spare-memory.ts';
import { type EntryBatch, hexAt, type UnhashedAt } from '../../model/batch.ts';
import type { Entry } from '../../model/entry.ts';
import type { SentEntries } from '../../model/sent.ts';
import type { RecipeProgram } from '../../recipe/recipe-program.ts';
import { SIZES } from './layout.ts';

/** What the module writes down of the entries that it takes; see `EntryBatch`. Plain data. */
// Over ten members: they are the columns.
export interface Columns {
  count: number;
  bytes: Uint8Array;
  starts: Uint32Array;
  ends: Uint32Array;
  sequences: Float64Array;
  times: Float64Array;
  /** Where in `bytes` the timestamps are, as they were sent, and how long. */
  timestamps: Uint32Array;
  timestampLengths: Uint32Array;
  flags: Uint8Array;
  digestBytes: number;
  previous: Uint8Array;
  /** As stated and as computed. */
  digests: Uint8Array;
  unhashed: readonly UnhashedAt[];
  keyIds: readonly string[];
}

/** Reads the bytes of an entry that can be read. */
export type ReadWhole = (bytes: Uint8Array) => Entry;

export function toBatch(columns: Columns, program: RecipeProgram, readWhole: ReadWhole): EntryBatch {
  const { bytes, starts, ends, digests } = columns;
  return {
    ...columns,
    stated: digests,
    computed: digests,
    streams: null,
    timestamp: (index) => timestampAt(columns, index, program, bytes, 0),
    // The bytes may be overwritten, or shared with another thread.
    entry: (index) => readWhole(bytes.slice(starts[index], ends[index])),
    keep: (from, to, spare) => keep(columns, program, { from, to }, spare),
  };
}

/** What `profile/time.ts` makes of the times that the module takes. @param skipped what stands before `bytes` where the module read. */
function timestampAt(
  { timestamps, timestampLengths }: Pick<Columns, 'timestamps' | 'timestampLengths'>,
  index: number,
  { timestampUnit }: RecipeProgram,
  bytes: Uint8Array,
  skipped: number,
): string {
  const start = timestamps[index];
  if (start === undefined || start === SIZES.NO_OFFSET) return '';
  const sent = utf8Text(bytes.subarray(start - skipped, start - skipped + (timestampLengths[index] ?? 0)));
  if (timestampUnit === 'text') return sent.endsWith('Z"') ? sent.slice(1, -1) : `${sent.slice(1, -1)}Z`;
  return new Date(Number(sent) * (timestampUnit === 'seconds' ? 1000 : 1)).toISOString();
}

function keep(
  { bytes, starts, ends, sequences, timestamps, timestampLengths, digests, digestBytes }: Columns,
  program: RecipeProgram,
  { from, to }: { from: number; to: number },
  spare: SpareMemory,
): SentEntries {
  const skipped = starts[from] ?? 0;
  const columns = [starts, ends, timestamps, timestampLengths].map((column) => column.subarray(from, to));
  const sent = bytes.subarray(skipped, ends[to - 1]);
  const own = digests.subarray(from * digestBytes, to * digestBytes);
  const count = to - from;
  const memory = spare.take(4 * columns.length * count + own.length + sent.length);
  const words = new Uint32Array(memory.buffer, memory.byteOffset, columns.length * count);
  for (const [place, column] of columns.entries()) words.set(column, place * count);
  const keptDigests = memory.subarray(words.byteLength, words.byteLength + own.length);
  keptDigests.set(own);
  const keptBytes = memory.subarray(words.byteLength + own.length, words.byteLength + own.length + sent.length);
  keptBytes.set(sent);
  const [begins, behinds, times, lengths] = [0, 1, 2, 3].map((place) =>
    words.subarray(place * count, (place + 1) * count),
  );
  const first = sequences[from] ?? 0;
  const kept = { timestamps: times ?? words, timestampLengths: lengths ?? words };
  let isReleased = false;
  const at = (index: number) => {
    if (isReleased || index < 0 || index >= count) throw new RangeError('there is no such entry');
    return index;
  };
  return {
    count,
    bytes: keptBytes,
    sequence: (index) => first + at(index),
    start: (index) => (begins?.[at(index)] ?? 0) - skipped,
    end: (index) => (behinds?.[at(index)] ?? 0) - skipped,
    digest: (index) => hexAt(keptDigests, at(index), digestBytes),
    timestamp: (index) => timestampAt(kept, at(index), program, keptBytes, skipped),
    release: () => {
      if (!isReleased) spare.giveBack(memory);
      isReleased = true;
    },
  };
}
