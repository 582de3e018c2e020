import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';
import { EvidenceError } from '../../../src/core/errors.ts';
import { serve } from '../../../src/core/threads/serve.ts';

/** Requests of these tests. */
export type Sample =
  | 'bytes'
  | 'count'
  | 'counted'
  | 'wait'
  | 'who'
  | 'refuse'
  | 'disk'
  | 'defect'
  | 'own'
  | 'text'
  | 'function'
  | 'throw'
  | 'exit'
  | 'spin'
  | 'heap'
  | 'buffers';

let counted = 0;
let left = 0;

const ONCE: Partial<Record<Sample, () => unknown>> = {
  counted: () => ({ counted, left }),
  who: () => threadId,
  function: () => () => {},
  disk: () => readFileSync('/no/such/file'),
  refuse: () => {
    throw new EvidenceError('not-found', 'it is not there', { nextStep: 'Look elsewhere.', cause: new Error('moved') });
  },
  defect: () => {
    throw new TypeError('a defect');
  },
  own: () => {
    throw Object.assign(new Error('own'), { name: 'OwnError', field: 'name' });
  },
  text: () => {
    throw 'a text';
  },
  throw: () => {
    setImmediate(() => {
      throw new Error('out of order');
    });
    return sleep(60_000);
  },
  exit: () => process.exit(1),
  spin: () => {
    for (;;);
  },
  heap: () => {
    const all: unknown[] = [];
    for (;;) all.push(new Array(1e5).fill(all.length));
  },
  buffers: () => {
    const all = Array.from({ length: 64 }, () => Buffer.alloc(2 ** 20, 1));
    return sleep(60_000, all);
  },
};

async function* answer(request: Sample, signal: AbortSignal): AsyncGenerator<unknown> {
  if (request === 'bytes') {
    const shared = Buffer.alloc(10, 'shared');
    yield Buffer.from(new ArrayBuffer(5)).fill('whole');
    yield shared.subarray(0, 6);
    yield shared.subarray(0, 6);
  }
  try {
    while (request === 'count') yield ++counted;
    while (request === 'wait') {
      signal.throwIfAborted();
      await sleep(1);
    }
  } finally {
    left++;
  }
}

serve((request: Sample, signal) => {
  const once = ONCE[request];
  return once === undefined ? answer(request, signal) : Promise.resolve().then(once);
});
