import { afterEach, describe, expect, test, vi } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { Threads, type ThreadsOptions } from '../../../src/core/threads/threads.ts';
import type { Sample } from './answering-thread.ts';

const PROGRAM = new URL('answering-thread.ts', import.meta.url);
const NOT_TO_BE_HAD = new URL('https://example.com/no-program');

const begun: Threads<Sample, unknown>[] = [];
afterEach(async () => {
  for (const threads of begun.splice(0)) await threads[Symbol.asyncDispose]();
});

function threadsWith(options: ThreadsOptions<Sample, unknown> = {}, program = PROGRAM): Threads<Sample, unknown> {
  const threads = new Threads<Sample, unknown>(program, options);
  begun.push(threads);
  return threads;
}

describe('one thread that requests share', () => {
  const counted = (threads: Threads<Sample, unknown>) => threads.ask<{ counted: number; left: number }>('counted');

  test('makes a value when it is wanted, and who leaves ends the work', async () => {
    const threads = threadsWith({ most: 1 });
    const values = threads.values('count');
    expect((await values.next()).value).toBe(1);
    expect((await values.next()).value).toBe(2);
    expect(await counted(threads)).toEqual({ counted: 2, left: 0 });
    await values.return(undefined);
    await vi.waitFor(async () => expect(await counted(threads)).toEqual({ counted: 2, left: 1 }));
  });

  test('is told when a signal ends a request, and keeps the others', async () => {
    const threads = threadsWith({ most: 1 });
    const abandon = new AbortController();
    const waiting = threads.ask('wait', { signal: abandon.signal });
    const thread = await threads.ask('who');
    abandon.abort(new Error('nobody waits'));
    await expect(waiting).rejects.toThrow('nobody waits');
    await vi.waitFor(async () => expect((await counted(threads)).left).toBe(1));
    await expect(threads.ask('count', { signal: abandon.signal })).rejects.toThrow('nobody waits');
    expect(await threads.ask('who')).toBe(thread);
  });

  test('fails all of them when it ends, and the next request has another thread', async () => {
    const threads = threadsWith({ most: 1 });
    const waiting = threads.ask('wait');
    const counting = threads.values('count');
    await counting.next();
    const failed = [waiting, threads.ask('exit'), counting.next().then(() => counting.next())];
    await Promise.all(failed.map((asked) => expect(asked).rejects.toThrow('a thread failed: it ended')));
    expect(threads.busy).toBe(0);
    expect(await counted(threads)).toEqual({ counted: 0, left: 0 });
  });

  test('is ended with a request under way', async () => {
    const threads = threadsWith({ most: 1 });
    const waiting = threads.ask('wait');
    await counted(threads);
    const failed = expect(waiting).rejects.toThrow('a thread failed: it ended');
    await Promise.all([failed, threads[Symbol.asyncDispose]()]);
    expect(threads.count).toBe(0);
  });
});

test('bytes arrive, whether they are all of their buffer or share it', async () => {
  const texts: string[] = [];
  for await (const bytes of threadsWith().values('bytes')) texts.push(Buffer.from(bytes as Uint8Array).toString());
  expect(texts).toEqual(['whole', 'shared', 'shared']);
});

describe('an error crosses with all that it says:', () => {
  class OwnError extends Error {}
  const threads = () =>
    threadsWith({
      toOwnError: ({ name, members }) => (name === 'OwnError' ? new OwnError(String(members['field'])) : null),
    });

  test.each<[words: string, request: Sample, type: new (...args: never[]) => Error, members: object]>([
    [
      'ours',
      'refuse',
      EvidenceError,
      { code: 'not-found', message: 'it is not there', nextStep: 'Look elsewhere.', cause: { message: 'moved' } },
    ],
    ['of the system', 'disk', Error, { code: 'ENOENT', syscall: 'open', path: '/no/such/file' }],
    [
      'a defect',
      'defect',
      Error,
      { name: 'TypeError', message: 'a defect', stack: expect.stringContaining('answering-thread') },
    ],
    ['of a class of the one that asks', 'own', OwnError, { message: 'name' }],
    ['no error at all', 'text', Error, { message: 'a text' }],
    ['an answer that cannot cross', 'function', Error, { name: 'DataCloneError' }],
  ])('%s', async (_words, request, type, members) => {
    const asked = threads().ask(request);
    await expect(asked).rejects.toBeInstanceOf(type);
    await expect(asked).rejects.toMatchObject(members);
  });
});

test.each<[words: string, request: Sample, reason: string]>([
  ['dies', 'throw', 'out of order'],
  ['ends', 'exit', 'it ended'],
  ['takes too long without a pause', 'spin', 'it takes too long'],
  ['takes too much of its heap', 'heap', 'it takes too much memory'],
  ['takes too much outside of its heap', 'buffers', 'it takes too much memory'],
])('a thread that %s fails its request as its owner says, and no other', async (_words, request, reason) => {
  const toFailure = (why: string) => new EvidenceError('archive', `of the owner: ${why}`);
  const threads = threadsWith({ toFailure, resourceLimits: { maxOldGenerationSizeMb: 32 } });
  const limits = { ms: request === 'spin' ? 500 : 60_000, buffersBytes: 2 ** 25 };
  const failure = { code: 'archive', message: `of the owner: ${reason}` };
  const failed = expect(threads.ask(request, { limits })).rejects.toMatchObject(failure);
  const other = threads.values('count');
  await Promise.all([other.next(), failed]);
  expect((await other.next()).value).toBe(2);
  expect(threads.count).toBe(1);
});

test('one whose program is not there fails its requests', async () => {
  const threads = threadsWith({}, new URL('no-program.ts', import.meta.url));
  await expect(threads.ask('who')).rejects.toThrow('Cannot find module');
});

test('a thread is kept for the next request, and is nobody else’s meanwhile', async () => {
  const threads = threadsWith();
  threads.start(2);
  await threads.started;
  const ids = await Promise.all([threads.ask<number>('who'), threads.ask<number>('who')]);
  expect(new Set(ids).size).toBe(2);
  expect(ids).toContain(await threads.ask('who'));
  const counting = threads.values('count');
  await counting.next();
  await threads.endIdle();
  expect(threads.count).toBe(1);
  expect(ids).not.toContain(await threads.ask('who'));
});

test('a request by itself that is left ends its thread, whatever it does', async () => {
  const threads = threadsWith();
  const abandon = new AbortController();
  const spinning = threads.ask('spin', { signal: abandon.signal });
  abandon.abort(new Error('nobody waits'));
  await expect(spinning).rejects.toThrow('nobody waits');
  expect(threads.count).toBe(0);
});

test('a thread that had nothing to do for long ends', async () => {
  const threads = threadsWith({ idleMs: 1 });
  await threads.ask('who');
  await vi.waitFor(() => expect(threads.count).toBe(0));
});

test('where no thread is to be had, requests are answered here, or not at all', async () => {
  const here = async (request: Sample) => `${request} here`;
  const threads = threadsWith({ here }, NOT_TO_BE_HAD);
  threads.start(1);
  expect(threads.count).toBe(0);
  expect(await threads.ask('who')).toBe('who here');
  await expect(threadsWith({}, NOT_TO_BE_HAD).ask('who')).rejects.toThrow();
});
