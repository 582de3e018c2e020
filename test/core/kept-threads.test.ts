import { once } from 'node:events';
import { expect, test } from 'vitest';
import { KeptThreads } from '../../src/core/kept-threads.ts';

/** Answers with the number of its thread, or ends. */
const PROGRAM = `import { parentPort, threadId } from 'node:worker_threads';
parentPort.on('message', (word) => word === 'end' ? process.exit() : parentPort.postMessage(threadId));`;
const program = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);

test('one that was kept works for the next, and is nobody else’s meanwhile', async () => {
  const threads = new KeptThreads(program, {});
  const [first, second] = [threads.take(), threads.take()];
  if (first === null || second === null) throw new Error('no threads');
  expect(second).not.toBe(first);
  threads.keep(first);
  expect(threads.take()).toBe(first);
  threads.keep(second);
  expect(threads.take()).toBe(second);
  first.postMessage('who');
  expect(await once(first, 'message')).toEqual([first.threadId]);
  await Promise.all([first.terminate(), second.terminate()]);
});

test('one that ends while it is kept is not given out', async () => {
  const threads = new KeptThreads(program, {});
  const ended = threads.take();
  if (ended === null) throw new Error('no threads');
  threads.keep(ended);
  ended.postMessage('end');
  await once(ended, 'exit');
  const next = threads.take();
  expect(next).not.toBe(ended);
  await next?.terminate();
});

test('where none is to be had, there is none', () => {
  expect(new KeptThreads(new URL('https://example.com/no-program'), {}).take()).toBeNull();
});
