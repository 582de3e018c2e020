import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DomainError } from '../../../src/platform/errors.ts';
import { ThreadPool } from '../../../src/platform/threads/pool.ts';
import type { CountingTask } from './counting-thread.ts';

const PROGRAM = new URL('counting-thread.ts', import.meta.url);
const NEVER = new AbortController().signal;

let pool: ThreadPool<CountingTask>;
beforeEach(() => {
  pool = new ThreadPool(PROGRAM, { most: 1, idleMs: 60_000 });
});
afterEach(() => pool.close());

const told = () => pool.run<{ counted: number; left: number }>('told', NEVER);

test('a value is made when it is wanted, and who leaves ends the task', async () => {
  const values = pool.values<number>('count', NEVER);
  expect((await values.next()).value).toBe(1);
  expect((await values.next()).value).toBe(2);
  expect(await told()).toEqual({ counted: 2, left: 0 });
  await values.return(undefined);
  await vi.waitFor(async () => expect(await told()).toEqual({ counted: 2, left: 1 }));
});

test('bytes arrive, whether they are all of their buffer or share it', async () => {
  const texts: string[] = [];
  for await (const bytes of pool.values<Uint8Array>('bytes', NEVER)) texts.push(Buffer.from(bytes).toString());
  expect(texts).toEqual(['whole', 'shared', 'shared']);
});

test('a task ends when its signal says so, also between two values', async () => {
  const abandon = new AbortController();
  const waiting = pool.run('wait', abandon.signal);
  await told();
  abandon.abort(new Error('nobody waits'));
  await expect(waiting).rejects.toThrow('nobody waits');
  await vi.waitFor(async () => expect((await told()).left).toBe(1));
  await expect(pool.run('count', abandon.signal)).rejects.toThrow('nobody waits');
});

test('a refusal arrives as one, a defect as a defect', async () => {
  const refused = pool.run('refuse', NEVER);
  await expect(refused).rejects.toBeInstanceOf(DomainError);
  await expect(refused).rejects.toMatchObject({ code: 'not_found', message: 'it is not there' });
  await expect(pool.run('fail', NEVER)).rejects.toThrow('a defect');
});

test('the end of a thread fails its tasks, and the next task has another thread', async () => {
  const waiting = pool.run('wait', NEVER);
  const counting = pool.values<number>('count', NEVER);
  await counting.next();
  await expect(pool.run('crash', NEVER)).rejects.toThrow('a thread ended before its tasks');
  await expect(waiting).rejects.toThrow('a thread ended before its tasks');
  await expect(counting.next()).rejects.toThrow('a thread ended before its tasks');
  expect(await told()).toEqual({ counted: 0, left: 0 });
});

test('closing ends a task under way', async () => {
  const waiting = pool.run('wait', NEVER);
  await told();
  await Promise.all([expect(waiting).rejects.toThrow('a thread ended'), pool.close()]);
});
