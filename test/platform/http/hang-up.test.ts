import { afterAll, beforeAll, expect, test } from 'vitest';
import { fill, type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(service, 's', 20_000);
  // Start the reading thread.
  await service.call('GET', '/stats/');
});
afterAll(() => service.close());

const checks = async () => (await service.call('GET', '/streams/s/verifications')).body.data;
const ask = (signal: AbortSignal) =>
  fetch(`${service.url}/streams/s/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    signal,
  });

test('a check that nobody waits for ends, and is not recorded; who asks next has one of their own', async () => {
  const caller = new AbortController();
  const asked = expect(ask(caller.signal)).rejects.toThrow('aborted');
  setTimeout(() => caller.abort(), 50);
  await asked;
  const { body } = await service.call('POST', '/streams/s/verify');
  expect((await checks()).map((check: { verification_id: string }) => check.verification_id)).toEqual([
    body.verification_id,
  ]);
});

test('all who ask while a check goes on get the same one, also when one of them hangs up', async () => {
  const before = (await checks()).length;
  const caller = new AbortController();
  const gone = expect(ask(caller.signal)).rejects.toThrow('aborted');
  setTimeout(() => caller.abort(), 50);
  const answers = await Promise.all([1, 2, 3].map(() => service.call('POST', '/streams/s/verify')));
  await gone;
  expect(new Set(answers.map(({ body }) => body.verification_id)).size).toBe(1);
  expect(await checks()).toHaveLength(before + 1);
});

test('appends do not wait while a stream is checked', async () => {
  const checking = service.call('POST', '/streams/s/verify');
  const began = performance.now();
  await fill(service, 'other', 1);
  const took = performance.now() - began;
  const whole = await checking;
  expect(whole.body.verified).toBe(true);
  expect(took).toBeLessThan((performance.now() - began) / 2);
});
