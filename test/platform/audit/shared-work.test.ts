import { expect, test } from 'vitest';
import { SharedWork } from '../../../src/platform/audit/shared-work.ts';

const NEVER = new AbortController().signal;

function workOn(shared: SharedWork<string>) {
  const began: { resolve(text: string): void; signal: AbortSignal }[] = [];
  const join = (signal: AbortSignal) =>
    shared.join('key', signal, (abandoned) => {
      const { promise, resolve } = Promise.withResolvers<string>();
      began.push({ resolve, signal: abandoned });
      return promise;
    });
  return { began, join };
}

test('all who ask get what was begun once; who asks afterwards begins anew', async () => {
  const { began, join } = workOn(new SharedWork());
  const all = [join(NEVER), join(NEVER), join(NEVER)];
  began[0]?.resolve('once');
  expect(await Promise.all(all)).toEqual(['once', 'once', 'once']);
  const next = join(NEVER);
  expect(began).toHaveLength(2);
  began[1]?.resolve('twice');
  expect(await next).toBe('twice');
});

test('work goes on while somebody waits, and ends when nobody does', async () => {
  const { began, join } = workOn(new SharedWork());
  const [first, second] = [new AbortController(), new AbortController()];
  const left = join(first.signal);
  const stayed = join(second.signal);
  first.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  expect(began[0]?.signal.aborted).toBe(false);
  second.abort(new Error('gone too'));
  await expect(stayed).rejects.toThrow('gone too');
  expect(began[0]?.signal.aborted).toBe(true);
  const anew = join(NEVER);
  expect(began).toHaveLength(2);
  began[1]?.resolve('anew');
  expect(await anew).toBe('anew');
});
