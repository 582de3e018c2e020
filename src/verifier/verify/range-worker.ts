import { readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { type Stretch, type StretchOptions, StretchReader } from '../chain/stretch.ts';
import { boundsOf, claim, type Ranges } from './ranges.ts';

/** What a thread is told once it is known what it shall read. */
export interface RangeJob {
  /** Who it is among those that claim ranges. */
  owner: number;
  /** Number of an open file of this process. */
  file: number;
  ranges: Ranges;
  options: StretchOptions;
}

/** What it answers, of each range that it claimed. */
export interface RangeAnswer {
  range: number;
  stretch: Stretch | null;
}

// From the last range on: the main thread comes from the first.
parentPort?.once('message', ({ owner, file, ranges, options }: RangeJob) => {
  using reader = StretchReader.open(options);
  if (reader === null) return;
  for (let range = ranges.owners.length - 1; range > 0; range--) {
    if (claim(ranges, range, owner) !== owner) continue;
    let { start: at, end } = boundsOf(ranges, range);
    const stretch = reader.read(at, (into) => {
      const from = at;
      while (at < end && at - from < into.length) {
        const bytes = readSync(file, into, at - from, Math.min(into.length - (at - from), end - at), at);
        if (bytes === 0) break;
        at += bytes;
      }
      return at - from;
    });
    const answer: RangeAnswer = { range, stretch };
    parentPort?.postMessage(answer, stretch === null ? [] : [stretch.digests.buffer]);
  }
});
