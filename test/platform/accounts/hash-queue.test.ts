import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { type HashLane, HashQueue } from '../../../src/platform/accounts/hash-queue.ts';

let queue: HashQueue;
let started: string[];
let finish: (() => void)[];
let refused: unknown[];
beforeEach(() => {
  queue = new HashQueue();
  [started, finish, refused] = [[], [], []];
});

/** Sends a password that is hashed until `finish` is called. */
const send = (lane: HashLane, sender: string, name = sender) => {
  const work = () =>
    new Promise<void>((resolve) => {
      started.push(name);
      finish.push(resolve);
    });
  queue.run({ lane, sender }, work).catch((error) => refused.push(error));
};

/** Finishes hashes, one after the other, until none is left. */
const finishAll = async () => {
  for (let next = finish.shift(); next !== undefined; next = finish.shift()) {
    next();
    await setImmediate();
  }
};

describe('a queue of passwords', () => {
  test('hashes two at once, and all in the end', async () => {
    for (let each = 0; each < 10; each++) send('clean', 'one', String(each));
    expect(started).toEqual(['0', '1']);
    await finishAll();
    expect(started).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('serves known senders first, then those without a failure, whatever waits', async () => {
    for (let each = 0; each < 40; each++) send('suspect', `n${each}`);
    send('clean', 'new');
    send('known', 'device');
    await finishAll();
    expect(started.slice(0, 4)).toEqual(['n0', 'n1', 'device', 'new']);
    expect(started).toHaveLength(42);
  });

  test('serves senders in turn, however much one of them sends', async () => {
    for (let each = 0; each < 10; each++) send('clean', 'many', `many ${each}`);
    send('clean', 'one');
    send('clean', 'other');
    await finishAll();
    expect(started.slice(0, 6)).toEqual(['many 0', 'many 1', 'many 2', 'one', 'other', 'many 3']);
  });

  test('refuses what is too much of one sender, and of one lane, at once, and nobody else', async () => {
    for (let each = 0; each < 30; each++) send('suspect', 'one');
    await setImmediate();
    expect(refused).toHaveLength(30 - 2 - 16);
    for (let each = 0; each < 60; each++) send('suspect', `n${each}`);
    await setImmediate();
    expect(refused).toHaveLength(30 - 2 - 16 + 60 - 48);
    expect(refused[0]).toMatchObject({ code: 'sign_in_busy', members: { retry_after: 15 } });
    expect(() => queue.refuseFull(['suspect'], 'another')).toThrow('try again in 15 s');
    expect(() => queue.refuseFull(['clean', 'suspect'], 'another')).not.toThrow();
    send('clean', 'new');
    send('known', 'device');
    await finishAll();
    expect(started).toHaveLength(2 + 64 + 2);
    expect(refused).toHaveLength(24);
    expect(() => queue.refuseFull(['suspect'], 'another')).not.toThrow();
  });

  test('goes on after a hash that fails', async () => {
    await expect(queue.run({ lane: 'clean', sender: 'n' }, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
    send('clean', 'one');
    send('clean', 'two');
    expect(started).toEqual(['one', 'two']);
  });
});
