import { expect, test } from 'vitest';
import { Body } from '../../../src/exporter/client/dispatch.ts';

/** Returns a body, and its requests to the connection. */
function bodyOf() {
  const asked: string[] = [];
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => asked.push('abort'),
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
  };
  return { body: new Body(controller, { bytesPerSecond: 1, windowMs: 60_000 }), asked };
}

test('a body that nobody reads holds its connection back, and one that is read does not', () => {
  const { body, asked } = bodyOf();
  body.receive(new Uint8Array(10));
  expect(asked).toEqual([]);
  body.receive(new Uint8Array(1_000_000));
  expect(asked).toEqual(['pause']);
  body.read();
  expect(asked.at(-1)).toBe('resume');
});

test('a body that is given up ends its connection', () => {
  const { body, asked } = bodyOf();
  body.destroy();
  body.receive(new Uint8Array(10));
  expect(asked).toEqual(['abort']);
});

test('what came before a connection broke is read first', async () => {
  const { body, asked } = bodyOf();
  body.receive(Buffer.from('as far as it '));
  body.receive(Buffer.from('came'));
  body.complete(new Error('broken'));
  expect(Buffer.concat(await body.toArray()).toString()).toBe('as far as it came');
  expect([body.fault?.message, asked.includes('abort')]).toEqual(['broken', false]);
});
