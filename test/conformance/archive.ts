import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Archive } from '../../src/exporter/archive/archive.ts';
import type { Expected } from '../../src/verifier/archive/archive.ts';

export function expectedOf(bytes: Uint8Array | string): Expected {
  const buffer = Buffer.from(bytes);
  return { sha256: createHash('sha256').update(buffer).digest('hex'), bytes: buffer.length };
}

export function putText(archive: Archive, key: string, text: string) {
  return archive.put(key, { bytes: Buffer.from(text) }, expectedOf(text));
}

export async function textOf(archive: Archive, key: string): Promise<string> {
  return Buffer.from(await archive.readBytes(key, 1 << 20)).toString();
}

export async function keysOf(archive: Archive, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of archive.list(prefix)) keys.push(key);
  return keys;
}

const BAD_KEYS = [
  '',
  '/a',
  'a/',
  'a//b',
  '../a',
  'a/../b',
  'a/..',
  './a',
  'a/.b',
  '.incoming/a',
  'a\\b',
  'a\nb',
  'a\u0000b',
  'a\u007fb',
  'a\ud800',
  'x'.repeat(256),
  `${'x/'.repeat(600)}x`,
];

const ODD_KEYS = [
  'a b',
  '-rf',
  "it's",
  'q"uote',
  '100%25',
  'a?b#c&d',
  'päymënts/日本語/🔒',
  '$(id)',
  'a;b|c',
  '*',
  'x'.repeat(255),
];

/** Describes the contract of every store. `open` returns an empty archive, which each test closes at its end. */
export function describeArchive(name: string, open: () => Promise<Archive>): void {
  describe(`${name} as an archive`, () => {
    let archive: Archive;
    let work: string;

    beforeEach(async () => {
      archive = await open();
      work = await mkdtemp(join(tmpdir(), 'archive-contract-'));
    });

    afterEach(async () => {
      await archive.close();
      await rm(work, { recursive: true });
    });

    it('gives back what was put, by every way of reading', async () => {
      expect(await putText(archive, 'runs/a.json', 'content')).toMatchObject({ state: 'created' });
      expect(await textOf(archive, 'runs/a.json')).toBe('content');
      expect(Buffer.concat(await (await archive.read('runs/a.json')).toArray()).toString()).toBe('content');
      expect(await archive.stat('runs/a.json')).toMatchObject({ bytes: 7 });
      expect(await readFile(await archive.fetchFile('runs/a.json', work), 'utf8')).toBe('content');
    });

    it('keeps an empty object', async () => {
      expect(await putText(archive, 'empty', '')).toMatchObject({ state: 'created' });
      expect(await archive.stat('empty')).toMatchObject({ bytes: 0 });
      expect(await textOf(archive, 'empty')).toBe('');
    });

    it('takes the same content again as success', async () => {
      await putText(archive, 'a', 'same');
      expect(await putText(archive, 'a', 'same')).toMatchObject({ state: 'existing' });
    });

    it('refuses anything else where "same" is kept, and names key and both digests', async () => {
      await putText(archive, 'k/a', 'same');
      for (const text of ['other', 'samf', '']) {
        const failure = await putText(archive, 'k/a', text).catch((error: unknown) => error);
        expect(failure, text).toMatchObject({ code: 'conflict' });
        for (const part of ['k/a', expectedOf('same').sha256, expectedOf(text).sha256])
          expect((failure as Error).message).toContain(part);
        expect(await textOf(archive, 'k/a'), text).toBe('same');
      }
      expect(await keysOf(archive, '')).toEqual(['k/a']);
    });

    it('lets exactly one of many concurrent puts win', async () => {
      const texts = Array.from({ length: 16 }, (_, index) => `writer ${index}`);
      const results = await Promise.allSettled(texts.map((text) => putText(archive, 'ledger/1', text)));
      const won = results.flatMap((result, index) => (result.status === 'fulfilled' ? [index] : []));
      expect(won).toHaveLength(1);
      expect(await textOf(archive, 'ledger/1')).toBe(texts[won[0] ?? -1]);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' });
      }
    });

    it('creates once when the same content is put many times at once', async () => {
      const results = await Promise.all(Array.from({ length: 16 }, () => putText(archive, 'x/y/z', 'same')));
      expect(results.filter(({ state }) => state === 'created')).toHaveLength(1);
    });

    it('lists by the bytes of the key, below any prefix', async () => {
      const keys = ['a', 'b-c', 'b.c', 'b/c', 'b/c.d/e', 'b/c0', 'b0', 'runs/2026-1', 'runs/2026-10/x', 'ﬀ', '𝒳'];
      for (const key of keys.toReversed()) await putText(archive, key, key);
      expect(await keysOf(archive, '')).toEqual(keys);
      expect(await keysOf(archive, 'b')).toEqual(['b-c', 'b.c', 'b/c', 'b/c.d/e', 'b/c0', 'b0']);
      expect(await keysOf(archive, 'b/')).toEqual(['b/c', 'b/c.d/e', 'b/c0']);
      expect(await keysOf(archive, 'b/c')).toEqual(['b/c', 'b/c.d/e', 'b/c0']);
      expect(await keysOf(archive, 'runs/2026-1')).toEqual(['runs/2026-1', 'runs/2026-10/x']);
      expect(await keysOf(archive, 'runs/2026-10')).toEqual(['runs/2026-10/x']);
      expect(await keysOf(archive, 'c')).toEqual([]);
      expect(await keysOf(archive, '..')).toEqual([]);
    });

    it('lists sizes', async () => {
      await putText(archive, 'a', 'four');
      expect(await archive.list('')[Symbol.asyncIterator]().next()).toMatchObject({
        done: false,
        value: { key: 'a', bytes: 4 },
      });
    });

    it('stores a large file from disk', async () => {
      const bytes = randomBytes(24 * 1024 * 1024 + 7);
      await writeFile(join(work, 'large'), bytes);
      await archive.put('large', { file: join(work, 'large') }, expectedOf(bytes));
      const hash = createHash('sha256');
      for await (const block of await archive.read('large')) hash.update(block as Buffer);
      expect(hash.digest('hex')).toBe(expectedOf(bytes).sha256);
      expect(await archive.stat('large')).toMatchObject({ bytes: bytes.length });
    });

    it('leaves nothing of a source that fails', async () => {
      const text = 'source';
      const right = expectedOf(text);
      const file = join(work, 'source');
      await writeFile(file, text);
      await mkdir(join(work, 'folder'));
      const cases = [
        [{ file: join(work, 'missing') }, right, 'not-found'],
        [{ file: join(work, 'folder') }, right, 'unreadable'],
        [{ file }, { ...right, bytes: 5 }, 'unreadable'],
        [{ file }, { ...right, sha256: expectedOf('other').sha256 }, 'unreadable'],
        [{ bytes: Buffer.from(text) }, { ...right, bytes: 7 }, 'unreadable'],
        [{ bytes: Buffer.from('sourcf') }, right, 'unreadable'],
      ] as const;
      for (const [source, expected, code] of cases) {
        await expect(archive.put('deep/er/key', source, expected)).rejects.toMatchObject({ code });
      }
      expect(await archive.stat('deep/er/key')).toBeNull();
      expect(await keysOf(archive, '')).toEqual([]);
      expect(await archive.put('deep/er/key', { file }, right)).toMatchObject({ state: 'created' });
    });

    it('keeps objects under odd keys', async () => {
      for (const key of ODD_KEYS) await putText(archive, key, key);
      for (const key of ODD_KEYS) {
        expect(await textOf(archive, key)).toBe(key);
        expect(await readFile(await archive.fetchFile(key, work), 'utf8')).toBe(key);
      }
      expect((await keysOf(archive, '')).toSorted()).toEqual(ODD_KEYS.toSorted());
    });

    it('takes bad keys for defects', async () => {
      for (const key of BAD_KEYS) {
        const words = JSON.stringify(key);
        await expect(putText(archive, key, 'x'), words).rejects.toBeInstanceOf(TypeError);
        await expect(archive.read(key), words).rejects.toBeInstanceOf(TypeError);
        await expect(archive.readBytes(key, 10), words).rejects.toBeInstanceOf(TypeError);
        await expect(archive.stat(key), words).rejects.toBeInstanceOf(TypeError);
        await expect(archive.fetchFile(key, work), words).rejects.toBeInstanceOf(TypeError);
      }
      expect(await keysOf(archive, '')).toEqual([]);
    });

    it('says that there is no such object', async () => {
      await putText(archive, 'runs/a', 'x');
      for (const key of ['missing', 'runs', 'runs/a/below']) {
        expect(await archive.stat(key), key).toBeNull();
        const notFound = { code: 'not-found', message: expect.stringContaining(key) };
        await expect(archive.read(key), key).rejects.toMatchObject(notFound);
        await expect(archive.readBytes(key, 10), key).rejects.toMatchObject(notFound);
        await expect(archive.fetchFile(key, work), key).rejects.toMatchObject(notFound);
      }
    });

    it('reads no more at once than it is told', async () => {
      await putText(archive, 'a', '0123456789');
      expect(await archive.readBytes('a', 10)).toHaveLength(10);
      await expect(archive.readBytes('a', 9)).rejects.toMatchObject({ code: 'unreadable' });
    });
  });
}
