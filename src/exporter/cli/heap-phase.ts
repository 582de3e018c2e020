import type { ExportEvent } from '../export/events.ts';
import { MANY_STREAMS } from '../export/open-run.ts';
import type { HoldHeap } from './heap.ts';

/** Holds the heap of an export as each of its phases allows. */
export function holdHeapAt(event: ExportEvent, holdHeap: HoldHeap): void {
  if (event.type === 'planned' && event.streams + event.done <= MANY_STREAMS) holdHeap(200);
  if (event.type === 'concluding') holdHeap(10);
}
