import { parentPort } from 'node:worker_threads';
import { WasmDecoder, type WasmOptions } from '../decode/wasm/decoder.ts';
import { decodeRange, type KeptRange, Slot } from '../decode/wasm/segments.ts';
import { boundsOf, claimNext, type Ranges, readerOf, WINDOW, waitForRanges } from './ranges.ts';

/** A message to a thread once it is known what it shall decode. */
export interface RangeJob {
  /** Its number among those that claim ranges. */
  owner: number;
  /** Number of an open file of this process. */
  file: number;
  ranges: Ranges;
  /** As many as the window has ranges: one that is in the window has that of its number. */
  slots: SharedArrayBuffer[];
  options: WasmOptions;
}

/** Its answer for each range that it claimed; the columns are in the range's slot. */
export interface RangeAnswer {
  range: number;
  decoded: KeptRange | null;
}

parentPort?.once('message', ({ owner, file, ranges, slots, options }: RangeJob) => {
  using decoder = WasmDecoder.open(options, () => {
    throw new TypeError('entries are read by the thread that folds them');
  });
  if (decoder === null) return;
  do {
    for (let range = claimNext(ranges, owner); range !== null; range = claimNext(ranges, owner)) {
      const decoded = decodeRange(decoder, readerOf(file), boundsOf(ranges, range));
      const slot = slots[range % WINDOW];
      const kept = decoded === null || slot === undefined ? null : new Slot(slot).keep(decoded);
      parentPort?.postMessage({ range, decoded: kept } satisfies RangeAnswer);
    }
  } while (waitForRanges(ranges));
});
