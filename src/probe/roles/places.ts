import type { Sample } from '../sample/sample.ts';
import { numberAt, type StreamSample } from './chain.ts';

/** Consecutive entries of one stream; null for an entry whose number cannot be read. */
export interface EntryRange {
  streamId: string;
  from: number | null;
  to: number | null;
}

/** Returns the places of entries, stream by stream. */
export function placesOf(samples: readonly Sample[], streams: readonly StreamSample[], sequence: string): EntryRange[] {
  const wanted = new Set(samples);
  return streams.flatMap(({ streamId, entries }) => {
    const numbers = entries
      .filter((entry) => wanted.has(entry))
      .map(({ value }) => numberAt(value, sequence))
      .toSorted((a, b) => a - b);
    const places: EntryRange[] = [];
    for (const number of new Set(numbers)) {
      const last = places.at(-1);
      if (Number.isNaN(number)) places.push({ streamId, from: null, to: null });
      else if (last?.to === number - 1) last.to = number;
      else places.push({ streamId, from: number, to: number });
    }
    return places;
  });
}
