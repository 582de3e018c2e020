import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Share of its limit that is too much after a full collection. At the limit V8 ends the process with a native stack. */
const TOO_MUCH = 0.85;

/**
 * Watches the heap of this process.
 * @param onFull is called, with the limit in MiB, when a full collection leaves little room.
 * @returns what ends the watch.
 */
export function watchHeap(onFull: (limitMb: number) => void): () => void {
  const limit = limitOf(getHeapStatistics().heap_size_limit);
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isFullCollection)) return;
    if (getHeapStatistics().used_heap_size > TOO_MUCH * limit) onFull(Math.round(limit / MIB));
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

const MIB = 2 ** 20;

/** V8 states a limit with all that the young generation may take, which is more than a small limit that somebody sets. */
function limitOf(stated: number): number {
  const flags = `${process.env['NODE_OPTIONS'] ?? ''} ${process.execArgv.join(' ')}`;
  const set = [...flags.matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1);
  return set === undefined ? stated : Math.min(stated, Number(set[1]) * MIB);
}

function isFullCollection(entry: PerformanceEntry & { detail?: { kind?: number } }): boolean {
  return entry.detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
