import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { wait } from '../../../src/core/wait.ts';
import type { NotYet } from '../../../src/exporter/client/call.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from '../../../src/exporter/client/options.ts';
import { Attempts, untilReady } from '../../../src/exporter/client/retry.ts';
import { RateWatch } from '../../../src/exporter/client/slow.ts';
import { connectTo, failure } from './connect.ts';
import { type RawReply, startRawServer } from './raw-server.ts';

const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

const SHORT: Partial<TransportOptions> = {
  attempts: 1,
  timeouts: { connect: 300, headers: 300, idle: 400, request: 900, download: 900 },
};

async function ask(reply: RawReply, more: Partial<TransportOptions> = {}) {
  const server = await startRawServer(reply);
  const transport = connectTo(server.url, { ...SHORT, ...more });
  open.push(transport, server);
  return { server, answer: transport.json({ method: 'GET', url: server.url, repeatable: true }) };
}

/** Writes repeatedly, faster than every limit above, until the connection closes. */
const again =
  (first: string, more: string): RawReply =>
  (socket) => {
    socket.write(first);
    const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(more)), 20);
  };

const EARLY = 'HTTP/1.1 103 Early Hints\r\n\r\n';

describe.concurrent('a request that never ends', () => {
  test.each<[what: string, reply: RawReply, said: RegExp]>([
    ['provisional answers, some a second', again(EARLY, EARLY), /within 0.6 seconds|Timeout|status below 200/],
    ['provisional answers, all at once', (socket) => socket.write(EARLY.repeat(1000)), /more than 32 responses/],
    ['a head that drips', again('HTTP/1.1 200 OK\r\nx: ', 'y'), /within 0.6 seconds|Timeout/],
    [
      'a body that drips',
      again('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n[', ' '),
      /no complete answer within 0.9/,
    ],
    [
      'chunks that drip',
      again('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\n[\r\n'),
      /no complete answer/,
    ],
    ['silence', () => {}, /within 0.6 seconds|Timeout/],
  ])('%s', async (_what, reply, said) => {
    const { answer } = await ask(reply);
    expect(await failure(answer)).toMatchObject({ code: 'unreachable', message: expect.stringMatching(said) });
  });

  test('has one deadline for all its attempts', async () => {
    const reply = again('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n[', ' ');
    // Other limits are high enough for a busy machine, so that only the deadline ends the attempt.
    const timeouts = { connect: 60_000, headers: 60_000, idle: 60_000, request: 900, download: 900 };
    const { server, answer } = await ask(reply, { attempts: 50, bytesPerSecond: 1, timeouts });
    await failure(answer);
    expect(server.turns()).toBe(1);
  });

  test('is slower than the least rate', async () => {
    const timeouts = { connect: 300, headers: 300, idle: 100, request: 60_000, download: 60_000 };
    const { answer } = await ask(again('HTTP/1.1 200 OK\r\n\r\n[', ' '), { timeouts });
    expect((await failure(answer)).message).toMatch(/sent \d+ bytes in 0.5 seconds; the minimum is 1000 a second/);
  });

  test('is encoded to nothing at all', async () => {
    // gzip with empty stored deflate blocks.
    const begin = Buffer.from('1f8b0800000000000003', 'hex');
    const nothing = Buffer.from('000000ffff'.repeat(20_000), 'hex');
    const { answer } = await ask(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n');
        socket.write(begin);
        // After a failed write the socket is not destroyed yet; another write would call back at once, forever.
        const more = (error?: Error | null) => {
          if (!error && !socket.destroyed) socket.write(nothing, more);
        };
        more();
      },
      { maxBytes: { json: 1_000_000, download: 1_000_000 }, timeouts: DEFAULT_TRANSPORT.timeouts },
    );
    expect(await failure(answer)).toMatchObject({
      code: 'service',
      message: expect.stringMatching(/more than 1000000/),
    });
  });
});

describe('the rate of a body', () => {
  test('is measured over time in which somebody takes it', async () => {
    let slow = 0;
    const watch = new RateWatch({ bytesPerSecond: 1000, windowMs: 40 }, () => slow++);
    watch.pause();
    await wait(120);
    expect(slow).toBe(0);
    watch.resume();
    await wait(80);
    expect(slow).toBe(1);
    watch.end();
  });

  test('is measured again and again', async () => {
    let slow = 0;
    const watch = new RateWatch({ bytesPerSecond: 1000, windowMs: 30 }, () => slow++);
    watch.received(1_000_000);
    await wait(35);
    expect(slow).toBe(0);
    await wait(60);
    expect(slow).toBe(1);
    watch.end();
  });
});

describe('what is not ready', () => {
  const ready = async (answers: (number | null)[], within: number) => {
    let asked = 0;
    const ask = async (): Promise<NotYet> => ({ notYet: { retryAfterMs: answers[asked++] ?? answers.at(-1) ?? null } });
    const error = await failure(untilReady('it', new AbortController().signal, ask, { within, poll: 20 }));
    return { asked, error };
  };

  test.each<[words: string, answers: (number | null)[], fewest: number, most: number, next: RegExp]>([
    ['is asked after until the time is over', [null], 2, 7, /^Run the same command again to resume/],
    ['is not asked after in a loop', [0], 2, 7, /^Run the same command again to resume/],
    ['is waited for as it asks', [60], 2, 3, /^Run the same command again/],
    ['is not waited for beyond the time', [100_000_000], 1, 1, /^Run the same command again after 2/],
    ['is not waited for longer than a timer can', [9_999_999_000], 1, 1, /^Run the same command again after 2/],
    ['is not waited for for ever', [Number.POSITIVE_INFINITY], 1, 1, /^Ask the operator/],
  ])('%s', async (_words, answers, fewest, most, next) => {
    const { asked, error } = await ready(answers, 120);
    expect(asked).toBeGreaterThanOrEqual(fewest);
    expect(asked).toBeLessThanOrEqual(most);
    expect(error).toMatchObject({ code: 'unreachable', nextStep: expect.stringMatching(next) });
  });
});

describe('waits that a service asks for', () => {
  const error = new EvidenceError('service', 'GET http://s/ answered 429');

  /** Returns the messages of a call that waits once. */
  async function told(waitMs: number): Promise<string[]> {
    const lines: string[] = [];
    const controller = new AbortController();
    const waits = { longest: 300_000, inAll: 900_000 };
    const limits = {
      attempts: 4,
      callMs: 60_000,
      bytesPerSecond: 0,
      waits,
      onWait: (line: string) => lines.push(line),
    };
    const attempts = new Attempts(limits);
    attempts.begin();
    const waiting = failure(attempts.next({ error, retry: true, waitMs }, controller.signal));
    await turn();
    controller.abort(new Error('enough'));
    await waiting;
    return lines;
  }

  test('are said when they are long', async () => {
    expect(await told(60_000)).toEqual([
      expect.stringMatching(
        /^GET http:\/\/s\/ answered 429; it requests a wait of 60 seconds \(Retry-After\); resuming at [\d:]{8} UTC$/,
      ),
    ]);
    expect(await told(1000)).toEqual([]);
  });

  test('have a sum', async () => {
    const attempts = new Attempts({
      attempts: 9,
      callMs: 60_000,
      bytesPerSecond: 0,
      waits: { longest: 20, inAll: 50 },
    });
    const waits = async () => {
      for (;;) {
        attempts.begin();
        await attempts.next({ error, retry: true, waitMs: 20 }, new AbortController().signal);
      }
    };
    expect(await failure(waits())).toMatchObject({ message: expect.stringMatching(/requests a wait until 2/) });
    expect(attempts.count).toBe(3);
  });
});

test.each([2 ** 31, Number.POSITIVE_INFINITY, Number.NaN, -1])('nobody waits %d ms', async (milliseconds) => {
  await expect(wait(milliseconds)).rejects.toThrow(RangeError);
});
