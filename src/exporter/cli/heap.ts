import { setFlagsFromString } from 'node:v8';
import type { ExportEvent } from '../export/events.ts';

export type HoldHeap = (growth: 10 | 25 | 200) => void;

/**
 * Holds the heap as small as the work at hand allows. While code is loaded that costs 18 ms, in a thread 40 ms, so call it
 * once the code is there.
 *
 * @param growth in percent, of what the last collection left. 10 for a walk: what that allocates dies at once, and a heap
 * that grows ahead of it would cost 60 MB and save no time. 10 for the reports of a run, too: 25 would cost 16 MB with
 * 100,000 streams. 25 until an export knows how many streams it has, and while it receives many. 200 while it receives few:
 * that costs 50 MB with large streams, and saves an eighth of their processor time.
 */
export function holdHeap(growth: 10 | 25 | 200): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--heap-growing-percent=${growth}`);
  // Threads that are started later begin with this young generation and keep it. An export reads a PDF a stream in one: with
  // 1 MB it would be collected 60 times a PDF, which is half of its time.
  const youngMb = growth === 10 ? 1 : 4;
  setFlagsFromString(`--min-semi-space-size=${youngMb}`);
  // Each block that a socket reads is memory of its own outside of the heap. V8 asks for this once more when such is made,
  // the young generation having its size by now: at four times as much that is collected, and not at 64 MB.
  setFlagsFromString(`--scavenger-max-new-space-capacity-mb=${youngMb}`);
}

/** With more streams, what is kept of each fills the memory that a larger heap would take. */
const FEW_STREAMS = 2000;

/** Holds the heap of an export as each of its phases allows. */
export function holdHeapAt(event: ExportEvent, holdHeap: HoldHeap): void {
  if (event.type === 'planned' && event.streams + event.done <= FEW_STREAMS) holdHeap(200);
  if (event.type === 'concluding') holdHeap(10);
}
