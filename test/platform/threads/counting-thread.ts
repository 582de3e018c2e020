import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../src/platform/errors.ts';
import { serveTasks } from '../../../src/platform/threads/serving.ts';

export type CountingTask = 'bytes' | 'count' | 'told' | 'wait' | 'refuse' | 'fail' | 'crash';

let counted = 0;
let left = 0;

async function* perform(task: CountingTask, signal: AbortSignal): AsyncGenerator<unknown> {
  if (task === 'bytes') {
    const shared = Buffer.alloc(10, 'shared');
    yield Buffer.from(new ArrayBuffer(5)).fill('whole');
    yield shared.subarray(0, 6);
    yield shared.subarray(0, 6);
  }
  if (task === 'told') yield { counted, left };
  if (task === 'refuse') throw new DomainError('not_found', 'it is not there');
  if (task === 'fail') throw new TypeError('a defect');
  if (task === 'crash') process.exit(1);
  try {
    while (task === 'count') yield ++counted;
    while (task === 'wait') {
      signal.throwIfAborted();
      await sleep(1);
    }
  } finally {
    left++;
  }
}

serveTasks(perform, async () => {});
