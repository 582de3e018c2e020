import { parentPort } from 'node:worker_threads';
import { WasmDecoder, type WasmOptions } from '../decode/wasm/decoder.ts';
import { decodeRange, type KeptRange, Slot } from '../decode/wasm/segments.ts';
import { boundsOf, claimNext, type Ranges, readerOf, WINDOW, waitForRanges } from './ranges.ts';

/** Message to a thread once its job is known. */
export interface RangeJob {
  /** Number of the thread among those that claim ranges. */
  owner: number;
  /** File descriptor, open in this process. */
  file: number;
  ranges: Ranges;
  /** One slot per range of the window; a range uses the slot of its number modulo `WINDOW`. */
  slots: SharedArrayBuffer[];
  options: WasmOptions;
}

/** Answer for each range that the thread claimed; the columns are in the range's slot. */
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
