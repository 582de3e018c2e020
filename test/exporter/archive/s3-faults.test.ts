import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import type { S3Options } from '../../../src/exporter/archive/s3/options.ts';
import type { StoredObject } from '../../../src/verifier/archive/archive.ts';
import type { RunWarning } from '../../../src/verifier/records/record.ts';
import { expectedOf, putText, textOf } from '../../conformance/archive.ts';
import { type Behaviour, DOUBLE_ENV, type Fault, S3Double, type SeenRequest } from '../../support/s3-double/double.ts';
import { doubleOptions, IN_SMALL_PARTS } from '../../support/s3-double/options.ts';
import { inTurn, someRows } from '../../support/some-rows.ts';

const KEY = 'runs/a.zip';
const NAME = `p/${KEY}`;
const MEBIBYTE = 2 ** 20;

/** Sizes of objects uploaded from memory, as a stream, and in parts. */
const SIZES = { small: 1000, streamed: 2 * MEBIBYTE, parts: 7 * MEBIBYTE };
type Size = keyof typeof SIZES;
const ALL_SIZES = ['small', 'streamed', 'parts'] as const;
const SENDS = { small: 'PutObject', streamed: 'PutObject', parts: 'UploadPart' };

const files = {} as Record<Size, { file: string; content: Buffer }>;
let double: S3Double | undefined;

beforeAll(() => {
  Object.assign(process.env, DOUBLE_ENV);
  const folder = mkdtempSync(join(tmpdir(), 's3-faults-'));
  for (const [size, bytes] of Object.entries(SIZES) as [Size, number][]) {
    const content = Buffer.alloc(bytes, `${size} content, `);
    files[size] = { file: join(folder, size), content };
    writeFileSync(files[size].file, content);
  }
});
afterEach(async () => {
  await double?.stop();
  double = undefined;
});

async function open(behaviour: Partial<Behaviour> = {}, more: Partial<S3Options> = {}) {
  double = await S3Double.start(behaviour);
  const limits = { ...IN_SMALL_PARTS, idleMs: 2000, attempts: 5 };
  return {
    store: double,
    archive: openS3Archive({ bucket: 'bucket', prefix: 'p/' }, doubleOptions(double, { limits, ...more })),
  };
}

async function listed(archive: Archive): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const object of archive.list('')) objects.push(object);
  return objects;
}

function put(archive: Archive, size: Size) {
  const { file, content } = files[size];
  return archive.put(KEY, { file }, expectedOf(content));
}

/** Faults the first `times` requests of an operation on our object. */
function first(operation: string, times: number, fault: Fault) {
  let seen = 0;
  return (request: SeenRequest) => {
    if (request.operation !== operation || request.name !== NAME) return undefined;
    seen += 1;
    return seen <= times ? fault : undefined;
  };
}

function expectOnce(store: S3Double, size: Size): void {
  const versions = store.bucket.names.get(NAME) ?? [];
  expect(versions).toHaveLength(1);
  const content = Buffer.concat(versions.flatMap(({ parts }) => parts.flatMap((part) => [...part.read()])));
  expect(expectedOf(content)).toEqual(expectedOf(files[size].content));
  expect(store.bucket.uploads.size).toBe(0);
}

const slowDown: Fault = { kind: 'answer', status: 503, code: 'SlowDown' };

/** Combines each row with one of the sizes in turn. */
function bySize<Row extends [string, ...unknown[]]>(rows: readonly Row[]): [...Row, Size][] {
  return someRows(inTurn(rows, ALL_SIZES), ([[name]]) => name).map(([row, size]) => [...row, size]);
}

test.each(
  bySize<[string, (operation: string) => S3Double['fault']]>([
    ['a storm of 503', (operation) => first(operation, 4, slowDown)],
    ['an internal error', (operation) => first(operation, 1, { kind: 'answer', status: 500 })],
    ['a wait that the store asks for', (operation) => first(operation, 1, { ...slowDown, retryAfter: 1 } as Fault)],
    ['a conflict', (operation) => first(operation, 1, { kind: 'answer', status: 409, code: 'OperationAborted' })],
    ['a connection cut at the first byte', (operation) => first(operation, 2, { kind: 'cut-request', bytes: 1 })],
    ['a connection cut amid it', (operation) => first(operation, 2, { kind: 'cut-request', bytes: 900 })],
    ['success that nobody heard of', (operation) => first(operation, 1, { kind: 'done-then-cut' })],
    ['silence', (operation) => first(operation, 1, { kind: 'silence' })],
    ['damage on the way', (operation) => first(operation, 1, { kind: 'damage-request' })],
    ['a page of HTML', (operation) => first(operation, 1, { kind: 'answer', status: 502, body: '<html>Bad gateway' })],
  ]),
)('%s is overcome, and nothing is written twice', async (_name, fault, size) => {
  const { store, archive } = await open();
  await archive.limitations();
  store.fault = fault(SENDS[size]);
  await put(archive, size);
  expectOnce(store, size);
  expect(store.count(SENDS[size])).toBeGreaterThan(1);
});

test.each(
  bySize<[string, (operation: string) => S3Double['fault']]>([
    ['success that nobody heard of', (operation) => first(operation, 1, { kind: 'done-then-cut' })],
    ['a storm of 503', (operation) => first(operation, 4, slowDown)],
  ]),
)('%s writes nothing twice to a store that would let us', async (_name, fault, size) => {
  const { store, archive } = await open({ createOnly: 'ignored' });
  await archive.limitations();
  store.fault = fault(SENDS[size]);
  await put(archive, size);
  expectOnce(store, size);
});

test.each(
  bySize<[string, Fault, string, RegExp]>([
    ['503 for ever', slowDown, 'archive', /503 \(SlowDown\)/],
    ['silence for ever', { kind: 'silence' }, 'archive', /did not answer in time/],
    ['cuts for ever', { kind: 'cut-request', bytes: 1 }, 'archive', /could not store .*runs\/a\.zip/],
    ['damage for ever', { kind: 'damage-request' }, 'archive', /400 \((BadDigest|XAmzContentSHA256Mismatch)\)/],
    ['a refusal', { kind: 'answer', status: 403, code: 'AccessDenied' }, 'store-refused', /403 \(AccessDenied\)/],
    ['a refused token', { kind: 'answer', status: 400, code: 'ExpiredToken' }, 'store-refused', /ExpiredToken/],
    ['a wrong region', { kind: 'answer', status: 301, code: 'PermanentRedirect' }, 'config', /PermanentRedirect/],
  ]),
)('%s is an error with a next step, and leaves nothing', async (_name, fault, code, words, size) => {
  const { store, archive } = await open({}, { limits: { ...IN_SMALL_PARTS, idleMs: 1000, attempts: 2 } });
  await archive.limitations();
  store.fault = first(SENDS[size], Number.POSITIVE_INFINITY, fault);
  const error = await put(archive, size).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code, message: expect.stringMatching(words), nextStep: expect.stringMatching(/\w/) });
  expect(store.bucket.names.has(NAME)).toBe(false);
  expect(store.bucket.uploads.size).toBe(0);
  store.fault = () => undefined;
  expect(await put(archive, size)).toMatchObject({ state: 'created' });
});

describe.each(ALL_SIZES)('an object sent %s', (size) => {
  test('equal content that is there is success, other content an error that names both', async () => {
    const { store, archive } = await open();
    await put(archive, size);
    expect(await put(archive, size)).toMatchObject({ state: 'existing', version_id: expect.any(String) });
    const error = await archive
      .put(KEY, { bytes: Buffer.from('x') }, expectedOf('x'))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'conflict' });
    for (const content of [files[size].content, 'x'])
      expect((error as Error).message).toContain(expectedOf(content).sha256);
    expectOnce(store, size);
  });

  test('what a store gives back altered is noticed, unless the store attests its checksum', async () => {
    const { store, archive } = await open({ checksums: false });
    await archive.limitations();
    store.fault = first(SENDS[size], 1, { kind: 'damage-stored' });
    await expect(put(archive, size)).rejects.toMatchObject({
      code: 'archive',
      message: expect.stringContaining('returned SHA-256'),
    });
  });

  test('lock, hold and key are asked for with the object and compared when it is read back', async () => {
    const protection = {
      retention: { mode: 'governance', years: 3 },
      legalHold: true,
      kmsKeyId: 'archive-key',
    } as const;
    const { store, archive } = await open({}, protection);
    const before = Date.now();
    const { lock, legal_hold } = await put(archive, size);
    const until = Date.parse(lock?.retain_until ?? '');
    const years = (until - before) / (365.25 * 24 * 60 * 60 * 1000);
    expect([lock?.mode, legal_hold, Math.round(years * 100)]).toEqual(['governance', true, 300]);
    const [version] = store.bucket.names.get(NAME) ?? [];
    expect(version).toMatchObject({
      lock: { mode: 'GOVERNANCE', until: new Date(until) },
      legalHold: true,
      encryption: { algorithm: 'aws:kms', key: 'archive-key' },
      metadata: { 'x-amz-meta-sha256': expectedOf(files[size].content).sha256 },
    });
  });
});

test.each(
  bySize<[string, Partial<Behaviour>, RegExp]>([
    ['does not lock', { locks: 'claimed' }, /returned no lock/],
    ['does not encrypt', { encrypts: false }, /encrypted as nothing instead of aws:kms/],
  ]),
)('a store that says yes and %s is found out', async (_name, behaviour, words, size) => {
  const { archive } = await open(behaviour, { retention: { mode: 'compliance', years: 1 }, kmsKeyId: 'archive-key' });
  await expect(put(archive, size)).rejects.toMatchObject({ code: 'archive', message: expect.stringMatching(words) });
});

test.each(
  bySize<[string, Partial<S3Options>, RegExp]>([
    ['lock', { retention: { mode: 'compliance', years: 1 } }, /returned no lock/],
    ['hold', { legalHold: true }, /returned no legal hold/],
  ]),
)('what is there without the %s that the store only claims to set is no success', async (_what, more, words, size) => {
  const { store, archive } = await open({ locks: 'claimed' });
  await put(archive, size);
  const locking = openS3Archive({ bucket: 'bucket', prefix: 'p/' }, doubleOptions(store, more));
  await expect(put(locking, size)).rejects.toMatchObject({ code: 'archive', message: expect.stringMatching(words) });
});

test.each(ALL_SIZES)(
  'a source sent %s that is not what it was never becomes an object, though the store checks nothing',
  async (size) => {
    const { store, archive } = await open({ checksums: false });
    const { file, content } = files[size];
    const { bytes, sha256 } = expectedOf(content);
    for (const expected of [
      { bytes, sha256: expectedOf('other').sha256 },
      { bytes: bytes - 1, sha256 },
      { bytes: bytes + 1, sha256 },
    ])
      await expect(archive.put(KEY, { file }, expected)).rejects.toMatchObject({ code: 'unreadable' });
    expect([store.bucket.uploads.size, store.bucket.names.has(NAME)]).toEqual([0, false]);
  },
);

describe('parts', () => {
  test.each<[string, S3Double['fault']]>([
    ['the beginning fails at first', first('CreateMultipartUpload', 2, slowDown)],
    ['the beginning is not heard of', first('CreateMultipartUpload', 1, { kind: 'done-then-cut' })],
    ['the end fails at first', first('CompleteMultipartUpload', 2, slowDown)],
    ['the end is not heard of', first('CompleteMultipartUpload', 1, { kind: 'done-then-cut' })],
    [
      'the end conflicts',
      first('CompleteMultipartUpload', 1, { kind: 'answer', status: 409, code: 'ConditionalRequestConflict' }),
    ],
    ['another removed the upload', first('UploadPart', 1, { kind: 'answer', status: 404, code: 'NoSuchUpload' })],
  ])('are stored once where %s', async (_name, fault) => {
    const { store, archive } = await open();
    await archive.limitations();
    store.fault = fault;
    await put(archive, 'parts');
    expectOnce(store, 'parts');
  });

  test.each([
    ['equal content', 'parts' as const, { state: 'existing' }],
    ['other content', 'streamed' as const, { code: 'conflict' }],
  ])('that another overtook with %s leave no upload', async (_name, winner, expected) => {
    const { store, archive } = await open();
    const other = openS3Archive({ bucket: 'bucket', prefix: 'p/' }, doubleOptions(store));
    await archive.limitations();
    let overtaken: Promise<unknown> | null = null;
    store.fault = ({ operation }) => {
      // The other upload begins while the first part is under way, and wins.
      if (operation !== 'UploadPart' || overtaken !== null) return undefined;
      overtaken = put(other, winner);
      return { kind: 'silence' };
    };
    const result = await put(archive, 'parts').catch((error: unknown) => error);
    await overtaken;
    expect(result).toMatchObject(expected);
    expectOnce(store, winner);
  });

  test('of a removal that fails at first nothing stays', async () => {
    const { store, archive } = await open();
    await archive.limitations();
    const [refusal, storm] = [
      first('UploadPart', 1, { kind: 'answer', status: 403 }),
      first('AbortMultipartUpload', 3, slowDown),
    ];
    store.fault = (request) => refusal(request) ?? storm(request);
    await expect(put(archive, 'parts')).rejects.toMatchObject({ code: 'store-refused' });
    expect([store.bucket.uploads.size, store.count('AbortMultipartUpload')]).toEqual([0, 4]);
  });

  test('of an interrupted upload nothing stays', async () => {
    const controller = new AbortController();
    // Only the interruption ends the silence.
    const { store, archive } = await open({}, { signal: controller.signal, limits: { ...IN_SMALL_PARTS, idleMs: 0 } });
    await archive.limitations();
    store.fault = ({ operation }) => {
      if (operation !== 'UploadPart') return undefined;
      controller.abort(new Error('stop'));
      return { kind: 'silence' };
    };
    await expect(put(archive, 'parts')).rejects.toThrow('stop');
    expect([store.bucket.uploads.size, store.bucket.names.has(NAME)]).toEqual([0, false]);
  });

  test('that dead processes left are removed: of the same object at once, of others after a day', async () => {
    const { store, archive } = await open();
    const leave = (name: string, begun: Date) => {
      const rest = { metadata: {}, lock: undefined, legalHold: false, encryption: undefined };
      const id = store.bucket.newId();
      store.bucket.uploads.set(id, { id, name, begun, checksums: false, parts: new Map(), rest });
      return id;
    };
    const hours = (count: number) => new Date(Date.now() - count * 60 * 60 * 1000);
    leave(NAME, hours(0));
    leave('p/runs/b.zip', hours(25));
    const kept = [leave('p/runs/c.zip', hours(23)), leave('elsewhere/d.zip', hours(1000))];
    await put(archive, 'parts');
    expect([...store.bucket.uploads.keys()]).toEqual(kept);
  });
});

describe('reading', () => {
  test('goes on where the connection broke', async () => {
    const { store, archive } = await open();
    await put(archive, 'parts');
    store.fault = first('GetObject', 3, { kind: 'cut-answer', bytes: MEBIBYTE });
    const bytes = await archive.readBytes(KEY, SIZES.parts);
    expect(Buffer.from(bytes).equals(files.parts.content)).toBe(true);
    const ranges = store.requests
      .filter(({ operation }) => operation === 'GetObject')
      .map(({ headers }) => headers.range);
    expect(ranges).toEqual([undefined, ...[1, 2, 3].map((count) => `bytes=${count * MEBIBYTE}-`)]);
  });

  test.each<[string, Fault, string]>([
    ['breaks at once for ever', { kind: 'cut-answer', bytes: 1 }, 'archive'],
    ['is refused', { kind: 'answer', status: 403 }, 'store-refused'],
    ['fails for ever', slowDown, 'archive'],
    ['says that it is gone', { kind: 'answer', status: 404, code: 'NoSuchVersion' }, 'not-found'],
  ])('what %s ends with an error', async (_name, fault, code) => {
    const { store, archive } = await open();
    await put(archive, 'streamed');
    store.fault = first('GetObject', Number.POSITIVE_INFINITY, fault);
    await expect(archive.readBytes(KEY, SIZES.streamed)).rejects.toMatchObject({ code });
  });

  test('stays with the first version, whatever is put over it', async () => {
    const { store, archive } = await open({ pageSize: 2 });
    await putText(archive, KEY, 'evidence');
    const [own] = store.bucket.names.get(NAME) ?? [];
    if (own === undefined) throw new Error('nothing was stored');
    const covers: unknown[] = [];
    const putOver = async (times: number, over: Partial<typeof own>) => {
      for (let index = 0; index < times; index += 1) store.bucket.store(NAME, { ...own, ...over });
      covers.push(...(await listed(archive)));
    };
    await putOver(0, {});
    await putOver(5, {});
    await putOver(1, { etag: '"another"' });
    await putOver(5, {});
    await putOver(1, { marker: true });
    await putOver(5, {});
    const found = { key: KEY, bytes: 8, version_id: own.id };
    expect(covers).toEqual([
      found,
      { ...found, covered_by: 'same-content' },
      { ...found, covered_by: 'version' },
      { ...found, covered_by: 'same-content' },
      { ...found, covered_by: 'delete-marker' },
      { ...found, covered_by: 'same-content' },
    ]);
    const reader = openS3Archive({ bucket: 'bucket', prefix: 'p/' }, doubleOptions(store));
    expect(await textOf(reader, KEY)).toBe('evidence');
    expect(await putText(reader, KEY, 'evidence').catch((error: unknown) => error)).toMatchObject({
      state: 'existing',
    });
  });

  test.each<[string, 'same' | 'other', Fault | undefined, string, number, boolean]>([
    ['the same content', 'same', undefined, 'existing', 2, false],
    ['other content', 'other', undefined, 'conflict', 3, false],
    ['other content, and none may be copied', 'other', { kind: 'answer', status: 403 }, 'conflict', 2, true],
  ])('is what came first of two at once: %s', async (_name, rival, copying, outcome, versions, covered) => {
    const { store, archive } = await open({ createOnly: 'ignored' });
    await archive.limitations();
    await putText(openS3Archive({ bucket: 'bucket', prefix: 'rival/' }, doubleOptions(store)), KEY, rival);
    const [theirs] = store.bucket.names.get(`rival/${KEY}`) ?? [];
    if (theirs === undefined) throw new Error('nothing was stored');
    store.fault = ({ operation, name }) => {
      if (name === NAME && operation === 'CopyObject') return copying;
      // Stores another object between the archive's look and its write.
      if (name === NAME && operation === 'PutObject') store.bucket.store(NAME, theirs);
      return undefined;
    };
    const result = await putText(archive, KEY, 'same').catch((error: unknown) => error);
    expect(result).toMatchObject(outcome === 'conflict' ? { code: outcome } : { state: outcome });
    const own = store.bucket.names.get(NAME) ?? [];
    expect(own).toHaveLength(versions);
    const found = await listed(archive);
    expect(found.find(({ key }) => key === KEY)).toMatchObject({
      version_id: own[0]?.id,
      covered_by: covered ? 'version' : 'same-content',
    });
    expect(await textOf(archive, KEY)).toBe(rival);
    expect((await archive.limitations()).some(({ code }) => code === 'left-covered')).toBe(covered);
  });

  test.each<[string, Fault, RegExp]>([
    ['is no XML', { kind: 'answer', status: 200, body: 'hello' }, /could not be understood|does not/],
    ['is cut off', { kind: 'answer', status: 200, body: '<ListVersionsResult><Version>' }, /could not/],
    ['never ends', { kind: 'answer', status: 200, body: `<a>${'x'.repeat(17 * MEBIBYTE)}</a>` }, /more than/],
    [
      'goes round in circles',
      { kind: 'answer', status: 200, body: '<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>' },
      /does not continue/,
    ],
  ])('a listing that %s ends with an error', async (_name, fault, words) => {
    const { store, archive } = await open();
    store.fault = ({ operation }) => (operation === 'ListObjectVersions' ? fault : undefined);
    await expect(listed(archive)).rejects.toMatchObject({
      code: 'archive',
      message: expect.stringMatching(words),
    });
  });
});

describe('before anything is stored', () => {
  test.each<[string, Partial<Behaviour>, RunWarning['code'][]]>([
    ["as Amazon's", {}, []],
    ['without versions', { versioned: false, locks: false }, ['no-versions']],
    ['that ignores conditions', { createOnly: 'ignored' }, ['create-only-by-versions']],
    ['that refuses conditions', { createOnly: 'not-implemented' }, ['create-only-by-versions']],
    [
      'that ignores conditions and keeps no versions',
      { createOnly: 'ignored', versioned: false, locks: false },
      ['create-only-ignored'],
    ],
    ['without checksums', { checksums: false }, ['no-checksums']],
    ['that lists no versions', { listsVersions: false }, ['no-versions', 'versions-unlisted']],
    ['that lists no uploads', { listsUploads: false }, ['uploads-unlisted']],
    ['that hides locks', { locksShown: false }, ['locks-unread']],
  ])('a store %s is known for it, the first time and later', async (_name, behaviour, expected) => {
    const { store, archive } = await open(behaviour);
    for (const opened of [archive, openS3Archive({ bucket: 'bucket', prefix: 'p/' }, doubleOptions(store))])
      expect((await opened.limitations()).map(({ code }) => code)).toEqual(expected);
    expect(await listed(archive)).toEqual([]);
  });

  test.each<[string, Partial<Behaviour>, Partial<S3Options>, string, RegExp]>([
    [
      'a bucket without locks',
      { locks: false },
      { retention: { mode: 'compliance', years: 7 } },
      'config',
      /Object Lock/,
    ],
    ['a bucket without holds', { locks: false }, { legalHold: true }, 'config', /Object Lock/],
    ['an unknown key', {}, { kmsKeyId: 'other' }, 'config', /KMS\.NotFoundException/],
  ])('%s is refused', async (_name, behaviour, protection, code, words) => {
    const { store, archive } = await open(behaviour, protection);
    await expect(putText(archive, KEY, 'x')).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
    expect(store.bucket.names.size).toBe(0);
  });

  test('a lock that this identity may not see is not taken for missing', async () => {
    const { store, archive } = await open({ locksShown: false }, { retention: { mode: 'compliance', years: 7 } });
    expect(await putText(archive, KEY, 'x')).toEqual({ state: 'created', version_id: expect.any(String) });
    expect(store.bucket.names.get(NAME)?.[0]?.lock?.mode).toBe('COMPLIANCE');
  });

  test('a bucket that is not there is said to be', async () => {
    const { store } = await open();
    const archive = openS3Archive({ bucket: 'other', prefix: '' }, doubleOptions(store));
    await expect(archive.stat('a')).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('NoSuchBucket'),
    });
    await expect(putText(archive, 'a', 'x')).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('what a store says', () => {
  const secret = DOUBLE_ENV.AWS_SECRET_ACCESS_KEY;
  afterAll(() => Object.assign(process.env, DOUBLE_ENV));

  test('is repeated without our credentials and without control characters, and not for ever', async () => {
    const { store, archive } = await open();
    const said = `key ${DOUBLE_ENV.AWS_ACCESS_KEY_ID} with ${secret} \u001b[31m ${'x'.repeat(1000)}`;
    const body = `<Error><Code>AccessDenied</Code><Message>${said.replace('\u001b', '&#27;')}</Message></Error>`;
    store.fault = () => ({ kind: 'answer', status: 403, body });
    const error = (await putText(archive, KEY, 'x').catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain('key *** with ***');
    const everything = JSON.stringify([error.message, error.stack, error.cause, Object.entries(error.cause ?? {})]);
    expect(everything).not.toMatch(new RegExp(`${secret}|${DOUBLE_ENV.AWS_ACCESS_KEY_ID}|\\u001b|x{400}`));
  });

  test('of our key id in its own words', async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'AKIAUNKNOWNUNKNOWN01';
    const { archive } = await open();
    const error = (await putText(archive, KEY, 'x').catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({
      code: 'store-refused',
      message: expect.stringContaining('Key Id *** does not exist'),
    });
  });
});
