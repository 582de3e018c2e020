import type { ExportEvent } from '../export/events.ts';
import type { HoldHeap } from './heap.ts';

/** With more streams, what is kept of each fills the memory that a larger heap would take. */
const FEW_STREAMS = 2000;

/** Holds the heap of an export as each of its phases allows. */
export function holdHeapAt(event: ExportEvent, holdHeap: HoldHeap): void {
  if (event.type === 'planned' && event.streams + event.done <= FEW_STREAMS) holdHeap(200);
  if (event.type === 'concluding') holdHeap(10);
}
