import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import {
  entrySchema,
  generatedSchema,
  packageHeadSchema,
  summarySchema,
  type WireEntry,
} from '../../../src/platform/audit/wire.ts';
import { recomputeInPython } from '../recomputed.ts';
import { entry, fill, listAll, type Service, startService } from '../service.ts';

const ENTRIES = 1300;
let service: Service;
let folder: string;
let entries: WireEntry[];
beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'evidence-'));
  await fill(service, 's', ENTRIES);
  await service.call('POST', '/entries/', entry('s', 1, { occurred_at: '2026-10-31T23:00:00+02:00' }));
  await service.call('POST', '/streams/s/checkpoints');
  await service.call('POST', '/streams/s/verify');
  entries = await listAll(service, '/entries/?stream_id=s&limit=500');
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const generate = (body: unknown, headers?: Record<string, string>) =>
  service.call('POST', '/evidence/generate', body, headers);
const download = (id: string, form: string) => service.call('GET', `/evidence/${id}/${form}`);

const recompute = (text: string) => recomputeInPython(text, service.dataDir, folder);

describe('a package of a whole stream', () => {
  test('has every hash, link and seal as Python computes them', async () => {
    const { status, body } = await generate({ stream_id: 's' });
    expect(status).toBe(201);
    expect(generatedSchema.parse(body)).toMatchObject({ status: 'ready', stream_id: 's', entry_count: ENTRIES + 1 });
    expect((await service.call('GET', `/evidence/${body.package_id}`)).body).toEqual(body);
    expect(await recompute((await download(body.package_id, 'json')).text)).toBe(String(ENTRIES + 1));
  });

  test('says what the contract says, in each form the same', async () => {
    const { body: generated } = await generate({ stream_id: 's' });
    const json = await download(generated.package_id, 'json');
    const { entries: packed, ...head } = json.body;
    expect(entrySchema.array().parse(packed)).toEqual(entries);
    const last = entries.at(-1);
    expect(packageHeadSchema.parse(head)).toMatchObject({
      format: 'evidence-package/1',
      package_id: generated.package_id,
      stream: { stream_id: 's', entry_count: ENTRIES + 1, verified: true },
      period: null,
      first_sequence: 1,
      last_sequence: ENTRIES + 1,
      head_hash: last?.hash,
      checkpoints: [{ sequence: ENTRIES + 1, hash: last?.hash, anchor: { status: 'anchored' } }],
    });
    const { body: summary } = await download(generated.package_id, 'summary');
    expect(summarySchema.parse(summary)).toMatchObject({
      package_id: generated.package_id,
      entry_count: ENTRIES + 1,
      head_hash: last?.hash,
      first_timestamp: entries[0]?.timestamp,
      last_timestamp: last?.timestamp,
      counts: { resource_types: { bucket: ENTRIES + 1 } },
      verification: { verified: true, last_checked_at: expect.any(String) },
    });
    for (const counts of Object.values<Record<string, number>>(summary.counts))
      expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(ENTRIES + 1);
  });

  test('is the same bytes however often it is downloaded, whatever happens to the stream', async () => {
    const { package_id } = (await generate({ stream_id: 's' })).body;
    const forms = ['json', 'summary', 'pdf'];
    const before = await Promise.all(forms.map((form) => download(package_id, form)));
    await service.call('POST', '/entries/', entry('s', 5));
    await service.call('POST', '/streams/s/checkpoints');
    await service.call('POST', '/streams/s/verify');
    const after = await Promise.all(forms.map((form) => download(package_id, form)));
    expect(after.map(({ text }) => text)).toEqual(before.map(({ text }) => text));
    expect(before.map(({ headers }) => headers.get('content-type')?.split(';')[0])).toEqual([
      'application/json',
      'application/json',
      'application/pdf',
    ]);
    for (const [index, { headers }] of before.entries()) {
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="evidence-[^"/]+\.(json|pdf)"$/);
      expect(headers.get('date')).not.toBeNull();
      if (index > 0) expect(Number(headers.get('content-length'))).toBeGreaterThan(0);
    }
    expect(before[2]?.text).toMatch(/^%PDF-/);
  });
});

test('whoever has the JSON form as it was first downloaded need not load it again', async () => {
  const { package_id } = (await generate({ stream_id: 's' })).body;
  const path = `/evidence/${package_id}/json`;
  const first = await service.call('GET', path, undefined, { 'if-none-match': '*' });
  expect([first.status, first.headers.get('etag')]).toEqual([200, null]);
  const etag = `"${sha256(first.text)}"`;
  const again = await service.call('GET', path, undefined, { 'if-none-match': `"${'0'.repeat(64)}"` });
  expect([again.status, again.headers.get('etag'), again.text]).toEqual([200, etag, first.text]);
  for (const named of [etag, `"x", W/${etag}`, '*']) {
    const known = await service.call('GET', path, undefined, { 'if-none-match': named });
    expect([known.status, known.headers.get('etag'), known.text]).toEqual([304, etag, '']);
  }
});

describe('a package of a period', () => {
  test('has the entries of the half-open period and no other', async () => {
    const cut = entries[600]?.timestamp ?? '';
    const early = await generate({ stream_id: 's', to: cut });
    const late = await generate({ stream_id: 's', from: cut, to: '2999-01-01T00:00:00Z' });
    const [first, second] = await Promise.all([early, late].map(({ body }) => download(body.package_id, 'json')));
    const sequences = [first, second].flatMap((answer) => answer?.body.entries.map((item: WireEntry) => item.sequence));
    expect(sequences.slice(0, ENTRIES + 1)).toEqual(Array.from({ length: ENTRIES + 1 }, (_, index) => index + 1));
    expect(first?.body.period).toEqual({ from: null, to: cut });
    expect(second?.body.period).toEqual({ from: cut, to: '2999-01-01T00:00:00.000Z' });
    expect(first?.body.checkpoints).toEqual([]);
  });

  test('in which nothing happened says so', async () => {
    const { body } = await generate({ stream_id: 's', to: '2000-01-01T00:00:00Z' });
    const json = (await download(body.package_id, 'json')).body;
    expect(packageHeadSchema.parse(json)).toMatchObject({ entry_count: 0, first_sequence: null, head_hash: null });
    expect(json.entries).toEqual([]);
    const summary = summarySchema.parse((await download(body.package_id, 'summary')).body);
    expect(summary).toMatchObject({ entry_count: 0, last_sequence: null, first_timestamp: null });
    expect(summary.limitations.join()).toContain('contains no entries');
    expect((await download(body.package_id, 'pdf')).text).toMatch(/^%PDF-/);
  });
});

describe('an idempotency key', () => {
  const key = { 'idempotency-key': 'monthly' };

  test('leads to one package, also for requests at the same time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => generate({ stream_id: 's' }, key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect(new Set(answers.map(({ body }) => body.package_id)).size).toBe(1);
  });

  test('is refused for another request', async () => {
    const { status, body } = await generate({ stream_id: 's', to: '2026-01-01T00:00:00Z' }, key);
    expect([status, body.code]).toEqual([422, 'idempotency_conflict']);
  });

  test('is forgotten after a day', async () => {
    const before = await generate({ stream_id: 's' }, key);
    await service.sql("UPDATE keyed_results SET until = '2026-01-01T00:00:00.000Z' WHERE until IS NOT NULL");
    const after = await generate({ stream_id: 's' }, key);
    expect([before.status, after.status]).toEqual([200, 201]);
    expect(after.body.package_id).not.toBe(before.body.package_id);
  });
});

describe('the limitations', () => {
  const limitationsOf = async (streamId: string): Promise<string> => {
    const { body } = await generate({ stream_id: streamId });
    return (await download(body.package_id, 'summary')).body.limitations.join('\n');
  };

  test('say what was never checked and never anchored', async () => {
    await fill(service, 'bare', 2);
    const text = await limitationsOf('bare');
    expect(text).toContain('Verify was never run on this stream');
    expect(text).toContain('No entry of this package is anchored by an external');
    expect(text).not.toContain('"development"');
  });

  test('say what the last check did not reach, and that the development authority is no witness', async () => {
    await fill(service, 'partly', 2);
    await service.call('POST', '/streams/partly/verify');
    await fill(service, 'partly', 3);
    await service.call('POST', '/streams/partly/checkpoints');
    const text = await limitationsOf('partly');
    expect(text).toContain('Entries of this package after 2 were not checked');
    expect(text).toContain('That authority is not an external witness');
    expect(text).toContain('No entry of this package is anchored by an external');
  });

  test('say that the last check failed', async () => {
    await fill(service, 'broken', 2);
    await service.sql("UPDATE streams SET head_hash = 'x' WHERE stream_id = 'broken'");
    await service.call('POST', '/streams/broken/verify');
    expect(await limitationsOf('broken')).toMatch(/The last check, at \S+, failed/);
  });

  test('say which names are not listed', async () => {
    const many = Array.from({ length: 1000 }, (_, number) => entry('many', number, { actor: `a${number}` }));
    await service.call('POST', '/entries/batch', { entries: many });
    await service.call('POST', '/entries/', entry('many', 1, { actor: 'one more' }));
    expect(await limitationsOf('many')).toContain('counts.actors lists the 1000 most frequent of 1001 names');
  });
});

test('what somebody edited in the database is what the package shows, and Python finds it', async () => {
  await fill(service, 'edited', 5);
  const { body } = await generate({ stream_id: 'edited' });
  await service.sql(
    "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 3 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'edited')",
  );
  const { text, body: json } = await download(body.package_id, 'json');
  expect(json.entries[2].actor).toBe('mallory');
  await expect(recompute(text)).rejects.toThrow(/AssertionError.*mallory/);
});

test('a package never goes beyond the head that it states', async () => {
  await fill(service, 'growing', 3);
  await service.sql(`UPDATE streams SET head_sequence = 2, entry_count = 2 WHERE stream_id = 'growing'`);
  const { body } = await generate({ stream_id: 'growing' });
  expect((await download(body.package_id, 'json')).body).toMatchObject({
    stream: { head_sequence: 2 },
    last_sequence: 2,
    entry_count: 2,
  });
});

test('an actor named like a property of objects is counted', async () => {
  await service.call('POST', '/entries/', entry('proto', 1, { actor: '__proto__' }));
  const { body } = await generate({ stream_id: 'proto' });
  expect((await download(body.package_id, 'summary')).text).toContain('"actors":{"__proto__":1}');
});
