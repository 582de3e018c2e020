import { utf8Text } from '../../../core/bytes.ts';
import type { SpareMemory } from '../../../core/spare-memory.ts';
import { type EntryBatch, hexAt, type SentEntries, type UnhashedAt } from '../../model/batch.ts';
import type { Entry } from '../../model/entry.ts';
import type { RecipeProgram } from '../../recipe/recipe-program.ts';
import { SIZES } from './layout.ts';

/** Columns into which the module writes the entries that it accepts; see `EntryBatch`. Plain data. */
// Over ten members: the columns.
export interface WasmColumns {
  count: number;
  /** Returns the module's input between two offsets; valid until the module runs again. */
  bytes: (from: number, to: number) => Uint8Array;
  starts: Uint32Array;
  ends: Uint32Array;
  sequences: Float64Array;
  times: Float64Array;
  /** Offsets in `bytes` of the timestamps as sent, and their lengths. */
  timestamps: Uint32Array;
  timestampLengths: Uint32Array;
  flags: Uint8Array;
  digestBytes: number;
  previous: Uint8Array;
  stated: Uint8Array;
  computed: Uint8Array;
  sealBytes: number;
  statedSeals: Uint8Array;
  computedSeals: Uint8Array;
  unhashed: readonly UnhashedAt[];
  keyIds: readonly string[];
}

/** Reads the bytes of a readable entry in full. */
export type ReadWhole = (bytes: Uint8Array) => Entry;

export function toBatch(columns: WasmColumns, program: RecipeProgram, readWhole: ReadWhole): EntryBatch {
  const { bytes, starts, ends } = columns;
  const sent = (index: number) => bytes(starts[index] ?? 0, ends[index] ?? 0);
  return {
    ...columns,
    streams: null,
    timestamp: (index) => timestampAt(columns, index, program, bytes),
    sent,
    // Copied, because the bytes may be overwritten.
    entry: (index) => readWhole(new Uint8Array(sent(index))),
    keep: (from, to, spare) => keep(columns, program, { from, to }, spare),
  };
}

/** Returns a timestamp that the module accepted, in the form of `profile/time.ts`. */
function timestampAt(
  { timestamps, timestampLengths }: Pick<WasmColumns, 'timestamps' | 'timestampLengths'>,
  index: number,
  { timestampUnit }: RecipeProgram,
  bytes: WasmColumns['bytes'],
): string {
  const start = timestamps[index];
  if (start === undefined || start === SIZES.NO_OFFSET) return '';
  const sent = utf8Text(bytes(start, start + (timestampLengths[index] ?? 0)));
  if (timestampUnit === 'text') return sent.endsWith('Z"') ? sent.slice(1, -1) : `${sent.slice(1, -1)}Z`;
  return new Date(Number(sent) * (timestampUnit === 'seconds' ? 1000 : 1)).toISOString();
}

function keep(
  columns: WasmColumns,
  program: RecipeProgram,
  { from, to }: { from: number; to: number },
  spare: SpareMemory,
): SentEntries {
  const { bytes, starts, ends, sequences, stated, digestBytes } = columns;
  const skipped = starts[from] ?? 0;
  const places = [starts, ends, columns.timestamps, columns.timestampLengths].map((column) =>
    column.subarray(from, to),
  );
  const parts = [
    ...places,
    stated.subarray(from * digestBytes, to * digestBytes),
    bytes(skipped, ends[to - 1] ?? skipped),
  ];
  const memory = spare.take(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  const kept = copyInto(memory, parts);
  const words = (place: number) => new Uint32Array(memory.buffer, kept[place]?.byteOffset, to - from);
  const [begins, behinds] = [words(0), words(1)];
  const times = { timestamps: words(2), timestampLengths: words(3) };
  const [keptDigests = memory, keptBytes = memory] = kept.slice(4);
  const ofKept = (start: number, end: number) => keptBytes.subarray(start - skipped, end - skipped);
  const first = sequences[from] ?? 0;
  const at = indexIn(to - from);
  return {
    count: to - from,
    bytes: keptBytes,
    sequence: (index) => first + at(index),
    start: (index) => (begins[at(index)] ?? 0) - skipped,
    end: (index) => (behinds[at(index)] ?? 0) - skipped,
    digest: (index) => hexAt(keptDigests, at(index), digestBytes),
    timestamp: (index) => timestampAt(times, at(index), program, ofKept),
    release: () => {
      if (at.close()) spare.giveBack(memory);
    },
  };
}

/** Returns a function that checks indices of entries until it is closed. `close` returns whether it was open. */
function indexIn(count: number) {
  let isOpen = true;
  const at = (index: number) => {
    if (!isOpen || index < 0 || index >= count) throw new RangeError('there is no such entry');
    return index;
  };
  const close = () => {
    const wasOpen = isOpen;
    isOpen = false;
    return wasOpen;
  };
  return Object.assign(at, { close });
}

/** Copies the parts into memory, one after the other. */
function copyInto(memory: Uint8Array, parts: readonly (Uint8Array | Uint32Array)[]): Uint8Array[] {
  let at = 0;
  return parts.map(({ buffer, byteOffset, byteLength }) => {
    const copy = memory.subarray(at, at + byteLength);
    copy.set(new Uint8Array(buffer, byteOffset, byteLength));
    at += byteLength;
    return copy;
  });
}
