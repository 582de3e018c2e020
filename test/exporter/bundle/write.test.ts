import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packZip } from '../../../src/exporter/bundle/pack.ts';
import { contentSource, openSources } from '../../../src/exporter/bundle/source.ts';
import { problemsOf, SLUG, sampleOptions, writeSample } from '../../verifier/bundle/sample.ts';

let work: string;
let target: string;

beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'bundle-write-'));
  target = join(work, 'bundle.zip');
});

afterEach(async () => {
  await rm(work, { recursive: true });
});

const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: work, encoding: 'utf8' });
const digestOf = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

describe('a bundle', () => {
  it('is one that unzip, sha256sum and python read, file by file as reported', async () => {
    const written = await writeSample(target);
    expect(run('unzip', '-t', target)).toContain('No errors detected');
    run('unzip', '-q', target);
    const folder = join(work, SLUG);
    for (const manifest of ['manifest-sha256.txt', 'tagmanifest-sha256.txt']) {
      const checked = execFileSync('sha256sum', ['--strict', '-c', manifest], { cwd: folder, encoding: 'utf8' });
      expect(checked).not.toContain('FAILED');
    }
    const names = run('python3', '-c', `import zipfile; print(*zipfile.ZipFile('${target}').namelist(), sep='\\n')`);
    expect(names.trim().split('\n')).toEqual(written.files.map(({ path }) => `${SLUG}/${path}`));
    for (const { path, bytes, sha256 } of written.files) {
      const content = await readFile(join(folder, path));
      expect([content.length, digestOf(content)], path).toEqual([bytes, sha256]);
    }
    expect(written.identity).toBe(digestOf(await readFile(join(folder, 'manifest-sha256.txt'))));
    const zip = await readFile(target);
    expect([written.bytes, written.sha256]).toEqual([zip.length, digestOf(zip)]);
  });

  it('says in bag-info.txt what it was given, its date and its payload', async () => {
    await writeSample(target);
    expect(run('unzip', '-p', target, `${SLUG}/bag-info.txt`)).toBe(
      'External-Identifier: payments\nEvidence-Status: COMPLETE\nBagging-Date: 2026-11-01\nPayload-Oxum: 701.3\n',
    );
  });

  it('carries the given date and one mode, never those of the moment', async () => {
    await writeSample(target);
    const script = `import zipfile
print({(entry.date_time, oct(entry.external_attr >> 16)) for entry in zipfile.ZipFile('${target}').infolist()})`;
    expect(run('python3', '-c', script).trim()).toBe("{((2026, 11, 1, 0, 0, 0), '0o100644')}");
  });

  it('is the same bytes in every time zone and process', async () => {
    const script = fileURLToPath(new URL('sample-writer.ts', import.meta.url));
    const zones = ['UTC', 'Asia/Kolkata', 'America/St_Johns'];
    const digests = zones.map((zone, index) => {
      const path = join(work, `${index}.zip`);
      execFileSync(process.execPath, [script, path], { env: { ...process.env, TZ: zone } });
      return run('sha256sum', path).slice(0, 64);
    });
    expect(new Set(digests)).toEqual(new Set([(await writeSample(target)).sha256]));
  });

  it('keeps its identity under another compression and date, and changes it with its content', async () => {
    const { identity, sha256 } = await writeSample(target);
    const stored = await writeSample(target, { compressionLevel: 0, date: '1999-01-01T00:00:00Z' });
    expect(stored.identity).toBe(identity);
    expect(stored.sha256).not.toBe(sha256);
    const other = await writeSample(target, { payload: [{ path: 'data/evidence.json', content: '{}' }] });
    expect(other.identity).not.toBe(identity);
    expect(await problemsOf(target)).toEqual([]);
  });

  it('takes files from disk, hashed before or not', async () => {
    const bytes = Buffer.alloc(3_000_000, 'some evidence ');
    await writeFile(join(work, 'e'), bytes);
    const known = { path: 'data/evidence.json', file: join(work, 'e'), sha256: digestOf(bytes), bytes: bytes.length };
    const unknown = { path: 'data/summary.json', file: join(work, 'e') };
    const { files } = await writeSample(target, { payload: [unknown, known] });
    const expected = { bytes: bytes.length, sha256: digestOf(bytes) };
    expect(files.filter(({ path }) => path.startsWith('data/'))).toEqual([
      { path: 'data/evidence.json', ...expected },
      { path: 'data/summary.json', ...expected },
    ]);
  });

  it('can be read under everybody’s limits even if it holds what compresses like a bomb', async () => {
    await writeFile(join(work, 'zeros'), '');
    await truncate(join(work, 'zeros'), 20 * 1024 * 1024);
    const payload = [{ path: 'data/evidence.pdf', file: join(work, 'zeros') }];
    const { bytes } = await writeSample(target, { payload, compressionLevel: 9 });
    expect(bytes).toBeGreaterThan(20 * 1024 * 1024);
    expect(await problemsOf(target)).toEqual([]);
  });
});

describe('a source that is not what it should be', () => {
  const evidence = 'the evidence that was received';
  let file: string;

  beforeEach(async () => {
    file = join(work, 'evidence');
    await writeFile(file, evidence);
    await mkdir(join(work, 'folder'));
  });

  it.each([
    ['missing', { file: 'missing' }, 'not-found'],
    ['a folder', { file: 'folder' }, 'unreadable'],
    ['shorter than stated', { file: 'evidence', bytes: evidence.length + 1 }, 'unreadable'],
    ['altered since its digest was taken', { file: 'evidence', sha256: digestOf('another') }, 'unreadable'],
  ])('%s makes no bundle', async (_, source, code) => {
    const payload = [{ path: 'data/evidence.json', ...source, file: join(work, source.file) }];
    await expect(writeSample(target, { payload })).rejects.toMatchObject({
      code,
      message: expect.stringContaining('data/evidence.json'),
    });
    expect(await readdir(work)).toEqual(['evidence', 'folder']);
  });

  it.each([
    ['grew', () => appendFile(file, 'more')],
    ['shrank', () => truncate(file, 5)],
    ['was emptied', () => truncate(file, 0)],
  ])('%s after it was opened', async (_, change) => {
    const [source] = await openSources([{ path: 'data/evidence.json', file }]);
    await change();
    const files = source === undefined ? [] : [{ path: source.path, source: () => source }];
    const options = { target, folder: SLUG, files, date: new Date(0), level: 1, stored: new Set<string>() };
    await expect(packZip(options)).rejects.toMatchObject({ code: 'unreadable' });
    await source?.close();
  });

  it('fails while it is read, between two others', async () => {
    const broken = { ...contentSource('data/b', ''), sha256: undefined, bytes: 9 };
    async function* read() {
      yield Buffer.from('begin');
      throw new Error('the disk is gone');
    }
    const sources = [contentSource('data/a', 'a'), { ...broken, read }, contentSource('data/c', 'c')];
    const files = sources.map((source) => ({ path: source.path, source: () => source }));
    const options = { target, folder: SLUG, files, date: new Date(0), level: 1, stored: new Set<string>() };
    await expect(packZip(options)).rejects.toThrow('the disk is gone');
  });
});

describe('a target that cannot be written', () => {
  it('in a missing folder', async () => {
    const missing = join(work, 'missing', 'bundle.zip');
    await expect(writeSample(missing)).rejects.toMatchObject({ code: 'archive', nextStep: expect.any(String) });
  });

  it('on a full disk', async () => {
    await symlink('/dev/full', `${target}.part`);
    const large = { path: 'data/evidence.json', content: Buffer.alloc(4_000_000, 'x') };
    for (const payload of [sampleOptions(target).payload, [large]]) {
      const failure = await writeSample(target, { payload, compressionLevel: 0 }).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'archive', message: expect.stringContaining('ENOSPC') });
      expect(await readdir(work)).toEqual([]);
      await symlink('/dev/full', `${target}.part`);
    }
  });

  it('keeps the bundle that was there before', async () => {
    const { sha256 } = await writeSample(target);
    const payload = [{ path: 'data/evidence.json', file: join(work, 'missing') }];
    await expect(writeSample(target, { payload })).rejects.toMatchObject({ code: 'not-found' });
    expect(digestOf(await readFile(target))).toBe(sha256);
  });
});

describe('a defect of the caller', () => {
  it.each([
    ['a slug that is a path', { slug: '../a' }],
    ['no slug', { slug: '' }],
    ['a payload beside data/', { payload: [{ path: 'evidence.json', content: '' }] }],
    ['a payload outside', { payload: [{ path: 'data/../../x', content: '' }] }],
    ['a name sha256sum -c cannot check', { payload: [{ path: 'data/50%', content: '' }] }],
    ['two files of one name', { payload: ['data/a', 'data/A'].map((path) => ({ path, content: '' })) }],
    ['a tag file in place of a manifest', { tagFiles: [{ name: 'manifest-sha256.txt', content: '' }] }],
    ['a tag file in a folder', { tagFiles: [{ name: 'a/b', content: '' }] }],
    ['a derived field', { bagInfo: [['Payload-Oxum', '0.0']] as const }],
    ['no date', { date: 'today' }],
  ])('%s', async (_, changes) => {
    await expect(writeSample(target, changes)).rejects.toBeInstanceOf(TypeError);
    expect(await readdir(work)).toEqual([]);
  });
});
