import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDirectoryArchive } from '../../../src/exporter/archive/directory/archive.ts';
import type { StoredObject } from '../../../src/verifier/archive/archive.ts';
import { describeArchive, expectedOf, keysOf, putText, textOf } from '../../conformance/archive.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'directory-archive-'));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

describeArchive('a directory', () => openDirectoryArchive(join(root, 'made', 'on', 'demand'), { create: true }));

describe('opening', () => {
  it('makes no folder unless told to', async () => {
    const opening = openDirectoryArchive(join(root, 'none'), { create: false });
    await expect(opening).rejects.toMatchObject({ code: 'not-found' });
    expect(await readdir(root)).toEqual([]);
  });

  it('refuses a file', async () => {
    await writeFile(join(root, 'file'), '');
    for (const create of [true, false]) {
      await expect(openDirectoryArchive(join(root, 'file'), { create })).rejects.toMatchObject({ code: 'config' });
    }
  });

  it('says what to do where nothing can be made', async () => {
    const opening = openDirectoryArchive('/proc/self/evidence-archive', { create: true });
    await expect(opening).rejects.toMatchObject({ code: 'archive', nextStep: expect.any(String) });
  });

  it('follows a link to the archive itself', async () => {
    await symlink(root, `${root}-link`);
    const archive = await openDirectoryArchive(`${root}-link`, { create: false });
    await putText(archive, 'a', 'x');
    await rm(`${root}-link`);
    expect(await textOf(archive, 'a')).toBe('x');
  });
});

describe('objects on disk', () => {
  it('are read-only, whole and alone', async () => {
    const archive = await openDirectoryArchive(root, { create: true });
    await putText(archive, 'runs/a', 'x');
    const stats = await stat(join(root, 'runs/a'));
    expect([stats.mode & 0o777, stats.nlink]).toEqual([0o444, 1]);
    expect(await archive.fetchFile('runs/a', '/nowhere')).toBe(join(root, 'runs/a'));
    expect(await readdir(join(root, '.incoming'))).toEqual([]);
    await archive.close();
    expect(await readdir(root)).toEqual(['runs']);
  });

  it('never replace a folder or lie below a file', async () => {
    const archive = await openDirectoryArchive(root, { create: true });
    await putText(archive, 'a/b', 'x');
    await expect(putText(archive, 'a', 'y')).rejects.toMatchObject({ code: 'archive' });
    await expect(putText(archive, 'a/b/c', 'y')).rejects.toMatchObject({ code: 'archive' });
    expect(await readdir(join(root, '.incoming'))).toEqual([]);
    expect(await textOf(archive, 'a/b')).toBe('x');
  });

  it('are not sought or stored after links', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    await writeFile(join(outside, 'a'), 'x');
    await symlink(outside, join(root, 'folder'));
    await symlink(join(outside, 'a'), join(root, 'object'));
    const archive = await openDirectoryArchive(root, { create: true });
    const refused = { code: 'unreadable', message: expect.stringContaining('is a link') };
    for (const key of ['folder/a', 'folder/new', 'folder/deep/new', 'object']) {
      await expect(putText(archive, key, 'x')).rejects.toMatchObject(refused);
      await expect(archive.read(key)).rejects.toMatchObject(refused);
      await expect(archive.readBytes(key, 9)).rejects.toMatchObject(refused);
      await expect(archive.stat(key)).rejects.toMatchObject(refused);
      await expect(archive.fetchFile(key, root)).rejects.toMatchObject(refused);
    }
    expect(await readdir(outside)).toEqual(['a']);
    await rm(outside, { recursive: true });
  });

  it('are listed with everything that is none', async () => {
    const archive = await openDirectoryArchive(root, { create: true });
    await putText(archive, 'b/object', 'x');
    await writeFile(join(root, '.hidden'), '12');
    await symlink('/etc', join(root, 'b/link'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await mkdir(join(root, 'empty'));
    await writeFile(Buffer.concat([Buffer.from(`${root}/z`), Buffer.from([0xff])]), '');
    await writeFile(join(root, '.incoming', 'half'), 'half');
    const found: StoredObject[] = [];
    for await (const object of archive.list('')) found.push(object);
    expect(found).toEqual([
      { key: '.hidden', bytes: 2 },
      { key: 'b/link', bytes: 4, irregular: 'link' },
      { key: 'b/object', bytes: 1 },
      { key: 'pipe', bytes: 0, irregular: 'special' },
      { key: 'z\ufffd', bytes: 0, irregular: 'unreadable' },
    ]);
    await expect(archive.read('pipe')).rejects.toMatchObject({ code: 'unreadable' });
  });
});

describe('what is left half written', () => {
  const host = hostname().replace(/[^A-Za-z0-9.]/g, '_');
  const deadPid = () => Number(execFileSync('sh', ['-c', 'echo $$']).toString());
  const random = '0123456789abcdef';

  it('is removed when its process is dead or a day has passed, and kept otherwise', async () => {
    const incoming = join(root, '.incoming');
    await mkdir(incoming);
    const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 60 * 60 * 1000);
    const leftovers: [name: string, modified: Date, isKept: boolean][] = [
      [`${host}-${deadPid()}-${random}`, new Date(), false],
      [`${host}-${process.ppid}-${random}`, new Date(), true],
      [`${host}-${process.pid}-${random}`, new Date(), true],
      [`${host}-${process.pid}-a${random.slice(1)}`, daysAgo(0.9), false],
      [`another-host-${deadPid()}-${random}`, new Date(), true],
      [`another-host-${process.pid}-${random}`, daysAgo(1.1), false],
      ['of-unknown-origin', daysAgo(0.9), true],
      ['of-unknown-origin-and-old', daysAgo(1.1), false],
    ];
    for (const [name, modified] of leftovers) {
      await writeFile(join(incoming, name), 'half');
      await utimes(join(incoming, name), modified, modified);
    }
    await (await openDirectoryArchive(root, { create: false })).close();
    expect(await readdir(incoming)).toHaveLength(leftovers.length);
    await (await openDirectoryArchive(root, { create: true })).close();
    expect((await readdir(incoming)).sort()).toEqual(
      leftovers.flatMap(([name, , isKept]) => (isKept ? [name] : [])).sort(),
    );
  });

  it('is not looked for behind a link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'));
    await writeFile(join(outside, `${host}-${deadPid()}-${random}`), 'not ours');
    const archive = await openDirectoryArchive(root, { create: true });
    await symlink(outside, join(root, '.incoming'));
    await expect(openDirectoryArchive(root, { create: true })).rejects.toMatchObject({ code: 'archive' });
    await expect(putText(archive, 'a', 'x')).rejects.toMatchObject({ code: 'archive' });
    expect(await readdir(outside)).toHaveLength(1);
    await rm(outside, { recursive: true });
  });

  it('survives kill -9 nowhere but in .incoming', async () => {
    const script = fileURLToPath(new URL('crash-writer.ts', import.meta.url));
    const leftovers = () => readdir(join(root, '.incoming')).catch(() => []);
    const stored: string[] = [];
    let interrupted = 0;
    let round = 0;
    // Repeats until enough kills have interrupted a put.
    for (; (interrupted < 3 || round < 12) && round < 100; round += 1) {
      const writer = spawn(process.execPath, [script, root, String(round)], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(writer, 'close');
      let seen = 0;
      for await (const key of createInterface({ input: writer.stdout })) {
        stored.push(key);
        seen += 1;
        if (seen !== 1 + (round % 5)) continue;
        while (writer.exitCode === null && (await leftovers()).length === 0);
        writer.kill('SIGKILL');
      }
      await ended;
      interrupted += (await leftovers()).length > 0 ? 1 : 0;
    }
    const archive = await openDirectoryArchive(root, { create: true });
    const keys = await keysOf(archive, '');
    for (const key of keys) {
      const whole = expectedOf(Buffer.alloc(1024 * 1024, key));
      expect(expectedOf(await archive.readBytes(key, 1 << 21)), key).toEqual(whole);
    }
    expect(new Set(keys)).toEqual(new Set([...keys, ...stored]));
    expect(interrupted).toBeGreaterThanOrEqual(3);
    await archive.close();
    expect(await readdir(root)).toEqual(['runs']);
  });

  it('is not left by a put that the disk refuses', async () => {
    const archive = await openDirectoryArchive(root, { create: true });
    await writeFile(join(root, 'runs'), 'in the way');
    await chmod(join(root, 'runs'), 0o400);
    const failure = await putText(archive, 'runs/a', 'x').catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'archive', nextStep: expect.any(String) });
    expect(await readdir(join(root, '.incoming'))).toEqual([]);
  });
});
