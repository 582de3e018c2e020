import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { type Collect, counter, gauge } from '../../core/exposition.ts';

const NANOSECONDS = 1e9;
const LOOK_MS = 20;

/** Returns metrics of this process: memory, CPU time, and the lag of the event loop. */
export function processMetrics(): Collect {
  const delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  delay.enable();
  const startedAt = Math.floor(Date.now() / 1000 - process.uptime());
  return () => {
    const { rss, heapUsed, external } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const lag = { '0.5': delay.percentile(50), '0.99': delay.percentile(99), '1': delay.max };
    delay.reset();
    const lags = Object.entries(lag).map(([quantile, value]) => ({
      labels: { quantile },
      // The value is NaN before the first sample.
      value: Number.isFinite(value) ? Math.max(0, value / NANOSECONDS - LOOK_MS / 1000) : 0,
    }));
    return [
      gauge('process_resident_memory_bytes', 'Resident memory of the process.', rss),
      gauge('nodejs_heap_used_bytes', 'Heap memory in use.', heapUsed),
      gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the heap.', external),
      counter('process_cpu_seconds_total', 'CPU time.', (user + system) / 1e6),
      gauge('process_start_time_seconds', 'Start time of the process.', startedAt),
      gauge('nodejs_eventloop_lag_seconds', 'Lag of the event loop since the last scrape.', lags),
    ];
  };
}
