import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ImportTally } from '../../../src/platform/import/result.ts';
import { EntryQueue } from '../../../src/platform/import/run.ts';
import { connectAuditService, type EntryReceiver, toField, toStreamId } from '../../../src/platform/import/service.ts';
import { type EntryService, startEntryService } from '../../support/entry-service.ts';
import { startService } from '../service.ts';

let service: EntryService;
let connected: EntryReceiver | undefined;

beforeEach(async () => {
  service = await startEntryService();
});

afterEach(async () => {
  await connected?.close();
  connected = undefined;
  await service.close();
});

function connect(apiKey = service.apiKey): EntryReceiver {
  connected = connectAuditService(service.url, apiKey);
  return connected;
}

function entry(key: string, actor = 'alice') {
  const names = { stream_id: 's', actor, action: 'read', resource_type: 'file', resource_id: 'f' };
  return { ...names, idempotency_key: key };
}

describe('connectAuditService', () => {
  it.each([429, 503])('sends again what was answered %i', async (status) => {
    service.faults.push({ status, headers: { 'retry-after': '0' } });
    const answer = await connect().record([JSON.stringify(entry('k'))]);
    expect(answer).toEqual({ outcome: 'recorded', created: 1, repeated: 0 });
    expect(service.requests()).toBe(2);
  });

  it('gives up on a service that stays unavailable', async () => {
    service.faults.push(...Array.from({ length: 9 }, () => ({ status: 503, headers: { 'retry-after': '0' } })));
    await expect(connect().record(['{}'])).rejects.toMatchObject({
      code: 'service',
      message: expect.stringContaining('503'),
    });
    expect(service.requests()).toBe(4);
  });

  it.each([
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }],
    ['a page instead of an answer', { status: 201, body: '<html>' }],
    ['an answer that accounts for another number', { status: 201, body: '{"created":1,"repeated":1}' }],
  ])('refuses %s', async (_what, fault) => {
    service.faults.push(fault);
    await expect(connect().record([JSON.stringify(entry('k'))])).rejects.toMatchObject({ code: 'service' });
  });

  it('names the refused key as the cause, without showing it', async () => {
    const error: unknown = await connect('sk_wrong')
      .record(['{}'])
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'refused', nextStep: expect.stringContaining('EVIDENCE_API_KEY') });
    expect(String(error)).not.toContain('sk_wrong');
  });

  it('says that nobody listens, and what to start', async () => {
    const { url } = service;
    await service.close();
    connected = connectAuditService(url, 'sk_test');
    await expect(connected.record(['{}'])).rejects.toMatchObject({
      code: 'unreachable',
      nextStep: expect.stringContaining('evidence-platform serve'),
    });
    service = await startEntryService();
  });

  it.each(['ftp://x/', 'nonsense', 'http://me:hunter2@127.0.0.1/audit'])('refuses %s without repeating it', (url) => {
    expect(() => connectAuditService(url, 'k')).toThrow(expect.objectContaining({ code: 'config' }));
    expect(() => connectAuditService(url, 'k')).not.toThrow(/hunter2/);
  });

  it.each(['', 'two words', 'line\nbreak'])('refuses %j as a key', (apiKey) => {
    expect(() => connectAuditService(service.url, apiKey)).toThrow(expect.objectContaining({ code: 'config' }));
  });
});

describe('EntryQueue', () => {
  it('finds the events that are told differently this time and records all others', async () => {
    const tally = new ImportTally();
    const queue = new EntryQueue(connect(), tally);
    for (const key of ['a', 'b', 'c', 'd', 'e']) await queue.add(entry(key));
    await queue.flush();
    const again = new ImportTally();
    const other = new EntryQueue(connect(), again);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f'])
      await other.add(entry(key, key === 'b' || key === 'e' ? 'mallory' : 'alice'));
    await other.flush();
    expect(again.toResult()).toMatchObject({ created: 1, repeated: 3, skipped: [{ count: 2 }] });
    expect(service.recorded.map(({ actor }) => actor)).toEqual(Array.from({ length: 6 }, () => 'alice'));
  });

  it('leaves out what the service does not take, says why, and records all others', async () => {
    const platform = await startService();
    try {
      connected = connectAuditService(platform.url, platform.apiKey);
      const tally = new ImportTally();
      const queue = new EntryQueue(connected, tally);
      const large = { note: 'x'.repeat(2 ** 18) };
      for (const key of ['a', 'b', 'c', 'd', 'e'])
        await queue.add({ ...entry(key), ...(key === 'b' || key === 'e' ? { metadata: large } : {}) });
      await queue.flush();
      const reason =
        'events that the service refused: body.entries.0.metadata: has more than 256 KiB in the form of RFC 8785';
      expect(tally.toResult()).toMatchObject({ created: 3, skipped: [{ reason, count: 2 }] });
    } finally {
      await platform.close();
    }
  });

  it('does not hold more than 32 MiB of many small streams', async () => {
    const queue = new EntryQueue(connect(), new ImportTally());
    const metadata = { pad: 'x'.repeat(7 * 1024 * 1024) };
    for (const stream of ['1', '2', '3', '4']) await queue.add({ ...entry(stream), stream_id: stream, metadata });
    expect(service.recorded).toHaveLength(0);
    await queue.add({ ...entry('5'), stream_id: '5', metadata });
    expect(service.recorded).toHaveLength(1);
    await queue.flush();
    expect(service.recorded).toHaveLength(5);
  });
});

describe('texts as the service takes them', () => {
  it.each([
    ['', '-'],
    ['a\0b', 'a\uFFFDb'],
    ['\uD800', '\uFFFD'],
    ['x'.repeat(1025), `${'x'.repeat(1023)}…`],
  ])('%j', (text, taken) => {
    expect(toField(text)).toBe(taken);
  });

  it.each(['ü', '…', '\u{1f600}', 'a…'])('the id of a stream of many %s has 2,048 bytes at most', (sign) => {
    const id = toStreamId(sign.repeat(1024));
    expect(Buffer.byteLength(id)).toBeLessThanOrEqual(2048);
    expect(Buffer.byteLength(id)).toBeGreaterThan(2040);
    expect(id).toMatch(new RegExp(`^(${sign})+(a?…)?$`, 'u'));
  });
});
