import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * For `node --import`: a program says at its end how much memory it was resident in at most, and the time of all its
 * threads. Of Linux alone: `resourceUsage().maxRSS` would count what the process was that started it.
 */
if (isMainThread)
  process.on('exit', () => {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    process.stderr.write(`cost ${kilobytes} ${userCPUTime + systemCPUTime}\n`);
  });
