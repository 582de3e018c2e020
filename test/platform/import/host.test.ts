import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importHost } from '../../../src/platform/import/host.ts';
import { type EntryService, startEntryService } from '../../support/entry-service.ts';

let service: EntryService;
let folder: string;
let checkout: string;
let logs: string;

beforeEach(async () => {
  service = await startEntryService();
  folder = await mkdtemp(join(tmpdir(), 'import-host-'));
  checkout = join(folder, 'checkout');
  logs = join(folder, 'log');
  await mkdir(checkout);
  await mkdir(logs);
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const run = (directory = checkout) =>
  importHost({ directory, logDirectory: logs, url: service.url, apiKey: service.apiKey });

const entriesOf = (stream: string) => service.recorded.filter(({ stream_id }) => stream_id === stream);

function git(...words: string[]): string {
  const who = {
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.org',
    GIT_COMMITTER_NAME: 'Bob',
    GIT_COMMITTER_EMAIL: 'bob@example.org',
  };
  const dates = { GIT_AUTHOR_DATE: '2024-05-01T10:00:00+02:00', GIT_COMMITTER_DATE: '2024-05-02T10:00:00Z' };
  const none = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  return execFileSync('git', words, {
    cwd: checkout,
    env: { ...process.env, ...who, ...dates, ...none },
    encoding: 'utf8',
  }).trim();
}

async function commit(subject: string, files: Record<string, string>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(checkout, path, '..'), { recursive: true });
    await writeFile(join(checkout, path), content);
  }
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', subject);
  return git('rev-parse', 'HEAD');
}

async function installed(packages: Record<string, unknown>, time = '2024-06-01T00:00:00.000Z'): Promise<void> {
  const lockfile = join(checkout, 'node_modules', '.package-lock.json');
  await mkdir(join(lockfile, '..'), { recursive: true });
  await writeFile(lockfile, JSON.stringify({ name: 'x', lockfileVersion: 3, packages }));
  await utimes(lockfile, new Date(time), new Date(time));
}

describe('git history', () => {
  it('is one entry for each commit and top-level folder, oldest first', async () => {
    git('init', '--quiet');
    git('remote', 'add', 'origin', 'https://user:secret@git.example/x');
    const first = await commit('First: ä "quoted"\n\nbody', { 'src/a.ts': 'a', 'src/deep/b.ts': 'b', README: 'r' });
    const second = await commit('Second', { 'src/a.ts': 'changed', 'odd\nname/ü ': 'x' });
    await run();
    expect(entriesOf('git/src')).toEqual([
      {
        stream_id: 'git/src',
        actor: 'ada@example.org',
        action: 'commit',
        resource_type: 'git.tree',
        resource_id: 'src',
        metadata: {
          commit: first,
          parents: [],
          committer: 'bob@example.org',
          subject: 'First: ä "quoted"',
          file_count: 2,
          files: [
            { status: 'A', path: 'src/a.ts' },
            { status: 'A', path: 'src/deep/b.ts' },
          ],
          import_key: `git:${first}:src`,
        },
        occurred_at: '2024-05-01T10:00:00+02:00',
        idempotency_key: `git:${first}:src`,
      },
      expect.objectContaining({
        metadata: expect.objectContaining({
          commit: second,
          parents: [first],
          files: [{ status: 'M', path: 'src/a.ts' }],
        }),
      }),
    ]);
    expect(entriesOf('git/(root)')).toMatchObject([{ metadata: { files: [{ status: 'A', path: 'README' }] } }]);
    expect(entriesOf('git/odd\nname')).toMatchObject([{ metadata: { files: [{ path: 'odd\nname/ü ' }] } }]);
    expect(JSON.stringify(service.recorded)).not.toContain('git.example');
  });

  it('names 200 files of a folder and counts all', async () => {
    git('init', '--quiet');
    await commit('many', Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`src/${index}`, 'x'])));
    await run();
    expect(entriesOf('git/src')[0]?.metadata).toMatchObject({ file_count: 250, files: { length: 200 } });
  });

  it('tells of a merge what it changed itself, and counts commits that change nothing', async () => {
    git('init', '--quiet', '--initial-branch', 'main');
    await commit('base', { 'src/a': 'base' });
    git('checkout', '--quiet', '-b', 'other');
    await commit('theirs', { 'src/a': 'theirs' });
    git('checkout', '--quiet', 'main');
    await commit('ours', { 'src/a': 'ours' });
    expect(() => git('merge', '--quiet', 'other')).toThrow();
    const merge = await commit('merged', { 'src/a': 'both' });
    await commit('nothing', {});
    const result = await run();
    expect(entriesOf('git/src').map(({ metadata }) => metadata['subject'])).toContain('merged');
    expect(entriesOf('git/src').find(({ metadata }) => metadata['commit'] === merge)?.metadata).toMatchObject({
      parents: { length: 2 },
      files: [{ status: 'MM', path: 'src/a' }],
    });
    expect(result.skipped).toEqual([{ reason: expect.stringContaining('change no file'), count: 1 }]);
  });

  it('says that a shallow checkout tells its oldest commit as if it had created everything', async () => {
    git('init', '--quiet');
    await commit('one', { a: '1' });
    await commit('two', { b: '2' });
    const shallow = join(folder, 'shallow');
    git('clone', '--quiet', '--depth', '1', `file://${checkout}`, shallow);
    expect((await run(shallow)).notes).toContainEqual(expect.stringContaining('shallow'));
  });

  it('is a note when the folder is no checkout', async () => {
    const result = await run();
    expect(result.notes).toContainEqual('No git history: this folder is not in a git checkout');
    expect([...result.streams.keys()]).toEqual(['npm']);
  });
});

describe('packages that npm installed', () => {
  it('are named with version and integrity, without where they came from', async () => {
    await installed({
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-AA==', resolved: 'https://t0ken@npm.internal/a.tgz' },
      'node_modules/a/node_modules/@s/b': { version: '2.0.0', dev: true, resolved: 'file:../secret' },
      'node_modules/alias': { name: 'real', version: '3.0.0' },
      'packages/linked': { version: '1.0.0', link: true },
    });
    const result = await run();
    expect(entriesOf('npm')).toEqual([
      {
        stream_id: 'npm',
        actor: 'npm',
        action: 'package.install',
        resource_type: 'npm.package',
        resource_id: 'a@1.0.0',
        metadata: {
          path: 'node_modules/a',
          integrity: 'sha512-AA==',
          dev: false,
          occurred_at_is: expect.any(String),
          import_key: 'npm:node_modules/a:sha512-AA==',
        },
        occurred_at: '2024-06-01T00:00:00.000Z',
        idempotency_key: 'npm:node_modules/a:sha512-AA==',
      },
      expect.objectContaining({ resource_id: '@s/b@2.0.0', metadata: expect.objectContaining({ dev: true }) }),
      expect.objectContaining({ resource_id: 'real@3.0.0' }),
    ]);
    expect(JSON.stringify(service.recorded)).not.toMatch(/npm\.internal|secret/);
    expect(result.skipped).toEqual([{ reason: expect.stringContaining('linked'), count: 1 }]);
  });

  it('are those of this program where the folder has none', async () => {
    await run();
    expect(entriesOf('npm').map(({ resource_id }) => resource_id.replace(/@[^@]*$/, ''))).toContain('undici');
  });

  it('stay as first recorded when npm ran again, and what is new is added', async () => {
    await installed({ 'node_modules/a': { version: '1.0.0' } });
    await run();
    await installed(
      { 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } },
      '2024-07-01T00:00:00.000Z',
    );
    expect(await run()).toMatchObject({
      created: 1,
      skipped: [{ reason: expect.stringContaining('already recorded'), count: 1 }],
    });
    expect(entriesOf('npm').map(({ occurred_at }) => occurred_at)).toEqual([
      '2024-06-01T00:00:00.000Z',
      '2024-07-01T00:00:00.000Z',
    ]);
  });

  it('are refused with the name of a lockfile that is none', async () => {
    await installed({});
    await writeFile(join(checkout, 'node_modules', '.package-lock.json'), '{"packages":7}');
    await expect(run()).rejects.toMatchObject({
      code: 'unreadable',
      message: expect.stringContaining('.package-lock.json'),
    });
  });
});

describe('the log of dpkg', () => {
  it.each([
    ['install curl:amd64 <none> 7.88', 'package.install', 'deb.package', 'curl:amd64 7.88'],
    ['upgrade curl:amd64 7.88 7.89', 'package.upgrade', 'deb.package', 'curl:amd64 7.89'],
    ['remove curl:amd64 7.89 <none>', 'package.remove', 'deb.package', 'curl:amd64 7.89'],
    ['purge curl:amd64 7.89 <none>', 'package.purge', 'deb.package', 'curl:amd64 7.89'],
    ['trigproc libc-bin:amd64 2.36 <none>', 'package.trigproc', 'deb.package', 'libc-bin:amd64 2.36'],
    ['status half-configured curl:amd64 7.89', 'package.status', 'deb.package', 'curl:amd64 7.89'],
    ['startup archives unpack', 'dpkg.startup', 'dpkg.run', 'archives unpack'],
    ['conffile /etc/curlrc keep', 'conffile.decision', 'file', '/etc/curlrc'],
  ])('tells "%s"', async (told, action, resourceType, resourceId) => {
    await writeFile(join(logs, 'dpkg.log'), `2024-05-01 10:00:00 ${told}\n`);
    await run();
    expect(entriesOf('dpkg')).toMatchObject([
      {
        action,
        resource_type: resourceType,
        resource_id: resourceId,
        metadata: { line: `2024-05-01 10:00:00 ${told}` },
      },
    ]);
    expect(entriesOf('dpkg')[0]?.occurred_at).toBe(new Date('2024-05-01T10:00:00').toISOString());
  });

  it('is read with its rotations, oldest first, each of equal lines for itself', async () => {
    const line = (day: number) => `2024-05-0${day} 10:00:00 status installed curl:amd64 ${day}\n`;
    await writeFile(join(logs, 'dpkg.log.10.gz'), gzipSync(line(1)));
    await writeFile(join(logs, 'dpkg.log.2.gz'), gzipSync(line(2) + line(2)));
    await writeFile(join(logs, 'dpkg.log.1'), line(3));
    await writeFile(join(logs, 'dpkg.log'), `${line(4)}nonsense\n`);
    await writeFile(join(logs, 'alternatives.log'), line(5));
    const result = await run();
    expect(entriesOf('dpkg').map(({ resource_id }) => resource_id.at(-1))).toEqual(['1', '2', '2', '3', '4']);
    expect(result.skipped).toEqual([{ reason: expect.stringContaining('dpkg log'), count: 1 }]);
  });

  it('is a note when there is none', async () => {
    expect((await run()).notes).toContainEqual(expect.stringContaining('No readable dpkg log'));
  });
});

describe('importHost', () => {
  it('records nothing twice', async () => {
    git('init', '--quiet');
    await commit('first', { 'src/a': 'a', b: 'b' });
    await installed({ 'node_modules/a': { version: '1.0.0' } });
    await writeFile(join(logs, 'dpkg.log'), '2024-05-01 10:00:00 startup archives unpack\n'.repeat(2));
    const first = await run();
    expect(first).toMatchObject({ created: 5, repeated: 0 });
    expect(await run()).toMatchObject({ created: 0, repeated: 5, skipped: [] });
    service.forgetKeys();
    expect(await run()).toMatchObject({ created: 0, repeated: 5, skipped: [] });
    expect(service.recorded).toHaveLength(5);
  });

  it('says that the folder does not exist', async () => {
    await expect(run(join(folder, 'nowhere'))).rejects.toMatchObject({ code: 'not-found' });
    expect(service.requests()).toBe(0);
  });
});
