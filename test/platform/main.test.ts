import { type ChildProcess, spawn } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startPlatform } from '../../src/platform/app.ts';
import { sealHash } from '../../src/platform/audit/rules.ts';
import { sealKeyId } from '../../src/platform/audit/seal-keys.ts';
import type { WireEntry } from '../../src/platform/audit/wire.ts';
import type { Platform } from '../../src/platform/options.ts';
import { runToEnd } from '../support/process.ts';
import { runPlatform } from './command.ts';
import { PROGRAM } from './processes.ts';
import { call, entry } from './service.ts';

let folder: string;
let data: string;
const running = new Set<ChildProcess>();
const served: Platform[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-main-'));
  data = join(folder, 'data');
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
  for (const platform of served.splice(0)) await platform.close();
  await rm(folder, { recursive: true });
});

/** Runs the program as a separate process. */
function runProgram(args: string[], env: Record<string, string> = {}, cwd = folder) {
  return runToEnd(process.execPath, [PROGRAM, ...args], { cwd, env });
}

async function init(): Promise<string> {
  const { stdout } = await runPlatform(['init', '--data', data]);
  return /sk_\S+/.exec(stdout)?.[0] ?? '';
}

/** Serves the folder in this process. */
async function serveHere(): Promise<string> {
  const platform = await startPlatform({ dataDir: data, port: 0, logLevel: 'silent' });
  served.push(platform);
  return platform.auditUrl;
}

/** Starts `serve` and waits until it prints its address. */
async function serve(): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--data', data, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const [line] = await once(createInterface(child.stdout), 'line');
  return { child, url: `${/^listening on (http:\S+)$/.exec(line)?.[1]}/audit` };
}

describe('init', () => {
  test('makes a folder that only its owner reads, and prints a key that works and the next command', async () => {
    const { code, stdout } = await runProgram(['init', '--data', data]);
    expect(code).toBe(0);
    expect(stdout).toContain(`evidence-platform serve --data ${data}`);
    expect(stdout).toMatch(/^ {2}http:\/\/127\.0\.0\.1:8181\/app\/set-up\/[\w-]{43}$/m);
    expect((await stat(data)).mode & 0o777).toBe(0o700);
    for (const file of ['master.key', 'platform.sqlite'])
      expect((await stat(join(data, file))).mode & 0o777).toBe(0o600);
    const url = await serveHere();
    expect((await call(url, /sk_\S+/.exec(stdout)?.[0] ?? '', 'GET', '/stats/')).status).toBe(200);
  });

  test('refuses a folder that was initialised, and leaves it as it is', async () => {
    await init();
    const before = await readFile(join(data, 'master.key'));
    const { code, stdout, stderr } = await runPlatform(['init', '--data', data]);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain('is already initialized');
    expect(stderr).toContain('evidence-platform serve');
    expect(await readFile(join(data, 'master.key'))).toEqual(before);
  });

  test('of a folder whose database is elsewhere or lost says so, and names no way to begin anew', async () => {
    await init();
    await rm(join(data, 'platform.sqlite'));
    const { code, stderr } = await runPlatform(['people', 'list', '--data', data]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('has a master key but no database')]);
    expect(stderr).toContain('specify it with --postgres');
    expect(stderr).not.toContain('evidence-platform init');
  });

  test('whose key nobody gets keeps nothing, and can be run again', async () => {
    const { code, stderr: said } = await runToEnd(
      'sh',
      ['-c', `exec "$0" "$@" > /dev/full`, process.execPath, PROGRAM, 'init', '--data', data],
      { cwd: folder },
    );
    expect([code, said]).toEqual([3, expect.stringMatching(/ENOSPC.*\n.*it was discarded\nRun the command again/)]);
    expect(await readdir(data)).toEqual([]);
    expect(await init()).toMatch(/^sk_/);
  });

  test('keeps what else is in the folder', async () => {
    await mkdir(data);
    await writeFile(join(data, 'note'), 'mine');
    expect((await runPlatform(['init', '--data', data])).code).toBe(0);
    expect(await readFile(join(data, 'note'), 'utf8')).toBe('mine');
  });
});

describe('usage', () => {
  test.each([
    [[], 'evidence-platform serve'],
    [['serv'], 'Did you mean serve?'],
    [['serve', '--dat', 'x'], 'Did you mean --data? See `evidence-platform serve --help`.'],
    [['import', 'hots'], 'unexpected argument "hots"'],
    [['serve'], 'data'],
    [['init', '--data', 'x', '--data', 'y'], '--data is given more than once'],
    [['import', 'cloudtrail', 'x', '--ulr', 'y'], '--ulr is not a flag of `evidence-platform import cloudtrail`'],
    [['nonsense'], 'nonsense'],
    [['init', '--data', 'x', '--colour', 'red'], 'colour'],
    [['serve', '--data', 'x', '--port', '99999'], '--port is not a port number'],
    [['serve', '--data', 'x'], 'evidence-platform init --data x'],
    [['seal-keys', 'write', '--data', 'x', '--out', 'y'], 'evidence-platform init --data x'],
    [['keys'], 'create, list, rotate or revoke'],
    [['seal-keys'], 'write or rotate'],
    [['seal-keys', 'rotate', '--data', 'x'], 'specify streams with --stream, or all with --all'],
    [
      ['seal-keys', 'rotate', '--data', 'x', '--all', '--stream', 's'],
      'specify streams with --stream, or all with --all',
    ],
    [['deploy'], 'deploy requires a kind: systemd, docker, sensor'],
    [['deploy', 'kubernetes'], 'must be one of "systemd", "docker", "sensor"'],
    [['packages'], 'import, list or verify'],
    [['people'], 'set-up, list, disable or reset'],
    [['people', 'list', '--data', 'x'], 'evidence-platform init --data x'],
    [['keys', 'list', '--data', 'x'], 'evidence-platform init --data x'],
    [['keys', 'create', '--data', 'x', '--name', 'n', '--scope', 'audit:all'], '--scope: expected one of "audit:read"'],
    [
      ['keys', 'create', '--data', 'x', '--name', 'n', '--scope', 'audit:read', '--expires', 'soon'],
      '--expires: expected a time like 2026-01-31T00:00:00Z',
    ],
    [['keys', 'rotate', 'k', '--data', 'x', '--overlap', '-1'], '--overlap: expected a number of at least 0'],
  ])('%j is refused with 2 and says what is wrong', async (args, message) => {
    const { code, stdout, stderr } = await runPlatform(args);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  test('what is refused ends the program so, too', async () => {
    const { code, stdout, stderr } = await runProgram(['serv']);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('Did you mean serve?')]);
  });

  test('help says what --help does, explains commands and topics, and names what is near', async () => {
    const { code, stdout } = await runPlatform(['help']);
    expect([code, stdout]).toEqual([0, (await runPlatform(['--help'])).stdout]);
    expect(stdout).toMatch(/Topics, for `evidence-platform help TOPIC`:\n( {2}\S.*\n)* {2}run +Running the platform: /);
    // A command and a topic share this name; help shows both.
    const both = (await runPlatform(['help', 'backup'])).stdout;
    expect(both).toMatch(/New folder for the copy.*\n\nBackup and restore\n/s);
    const { stdout: said } = await runPlatform(['help', 'tls']);
    expect(said).toContain('nginx:');
    expect(said).toMatch(/evidence-platform help\s+limits/);
    const wrong = await runPlatform(['help', 'postgre']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean postgresql?')]);
  });

  test.each(['-V', '--version'])('%s says the version, and -h helps', async (flag) => {
    expect(await runPlatform([flag])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(await runPlatform(['-h'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('evidence-platform init'),
    });
  });

  test('paths are meant from where npm was called', async () => {
    const env = { npm_lifecycle_event: 'platform', INIT_CWD: folder };
    expect((await runProgram(['init', '--data', 'data'], env, tmpdir())).code).toBe(0);
    expect(await readdir(data)).toContain('master.key');
  });
});

describe('serve', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly on %s', async (signal) => {
    const key = await init();
    const { child, url } = await serve();
    expect((await call(url, key, 'POST', '/entries/', entry('s', 1))).status).toBe(201);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await readdir(data)).not.toContain('platform.sqlite-wal');
  });

  test('with the master key of another folder refuses to begin', async () => {
    await init();
    await writeFile(join(data, 'master.key'), Buffer.alloc(32, 1));
    const { code, stderr } = await runPlatform(['serve', '--data', data, '--port', '0']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('was initialized with a master key other than')]);
  });

  test('says when the port is taken', async () => {
    await init();
    const url = await serveHere();
    const { code, stderr } = await runPlatform(['serve', '--data', data, '--port', new URL(url).port]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot listen on 127.0.0.1 port \d+/);
  });

  test('killed while many write, it has every acknowledged entry and a clean chain', async () => {
    const key = await init();
    const { child, url } = await serve();
    const acknowledged: WireEntry[] = [];
    const gone = once(child, 'exit');
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let number = 0; ; number++) {
        try {
          const { status, body } = await call(url, key, 'POST', '/entries/', entry(`s${writer % 2}`, number));
          if (status !== 201) throw new Error(body.detail);
          acknowledged.push(body);
        } catch (error) {
          if (child.killed) return;
          throw error;
        }
        if (acknowledged.length === 200) child.kill('SIGKILL');
      }
    });
    await Promise.all(writers);
    expect(await gone).toEqual([null, 'SIGKILL']);
    const again = await serveHere();
    for (const stream of ['s0', 's1']) {
      const { body } = await call(again, key, 'POST', `/streams/${stream}/verify`);
      expect(body).toMatchObject({ verified: true, failures: [] });
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(200);
    for (const { stream_id, sequence, hash } of acknowledged) {
      const path = `/entries/?stream_id=${stream_id}&after_sequence=${sequence - 1}&limit=1`;
      expect((await call(again, key, 'GET', path)).body.data[0]).toMatchObject({ sequence, hash });
    }
  });
});

describe('keys', () => {
  const create = (...more: string[]) =>
    runPlatform(['keys', 'create', '--data', data, '--name', 'auditor', '--scope', 'audit:read', ...more]);
  const idOf = (stdout: string) => /^sk_(.{8})_/.exec(stdout)?.[1] ?? '';

  test('makes a key, and writes nothing else to standard output', async () => {
    await init();
    const { code, stdout, stderr } = await create('--expires', '2999-01-01T00:00:00Z');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^sk_\w{8}_\w{49}\n$/)]);
    expect(stderr).toMatch(
      /^Created the API key \w{8} \("auditor"\) with audit:read; it expires at 2999-01-01T00:00:00.000Z\./,
    );
    expect(stderr).not.toContain(stdout.slice(-20).trim());
    const url = await serveHere();
    expect((await call(url, stdout.trim(), 'GET', '/stats/')).status).toBe(200);
    expect((await call(url, stdout.trim(), 'POST', '/entries/', entry('s', 1))).status).toBe(403);
  });

  test('an end that is past is named by its flag', async () => {
    await init();
    const { code, stderr } = await create('--expires', '2020-01-01T00:00:00Z');
    expect([code, stderr]).toEqual([2, '--expires: 2020-01-01T00:00:00.000Z is in the past\n']);
  });

  test('rotates and revokes keys of a platform that is served, and lists them', async () => {
    await init();
    const url = await serveHere();
    const old = (await create()).stdout.trim();
    const statusOf = async (apiKey: string) => (await call(url, apiKey, 'GET', '/stats/')).status;
    const rotated = await runPlatform(['keys', 'rotate', idOf(old), '--data', data, '--overlap', '0']);
    expect([await statusOf(old), await statusOf(rotated.stdout.trim())]).toEqual([401, 200]);
    const revoked = await runPlatform(['keys', 'revoke', idOf(rotated.stdout), '--data', data]);
    expect([revoked.code, await statusOf(rotated.stdout.trim())]).toEqual([0, 401]);
    const { stdout } = await runPlatform(['keys', 'list', '--data', data]);
    const lines = stdout.split('\n').filter((line) => line.includes('auditor'));
    expect(lines.find((line) => line.startsWith(idOf(rotated.stdout)))).toMatch(
      new RegExp(`audit:read .* revoked \\S+Z .* ${idOf(old)}$`),
    );
    expect(stdout).not.toContain('sk_');
    const again = await runPlatform(['keys', 'rotate', idOf(old), '--data', data]);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('the API key expired at')]);
  });

  test.each(['create', 'rotate'])('%s keeps nothing of a key that nobody gets', async (command) => {
    await init();
    const id = idOf((await create()).stdout);
    const before = await runPlatform(['keys', 'list', '--data', data]);
    const words = command === 'create' ? ['--name', 'x', '--scope', 'audit:read'] : [id];
    const script = `exec "$0" "$@" > /dev/full`;
    const { code, stderr: said } = await runToEnd(
      'sh',
      ['-c', script, process.execPath, PROGRAM, 'keys', command, ...words, '--data', data],
      { cwd: folder },
    );
    expect([code, said]).toEqual([3, expect.stringContaining('so it was discarded')]);
    expect(await runPlatform(['keys', 'list', '--data', data])).toEqual(before);
  });
});

describe('seal-keys', () => {
  test('writes the key of every stream as a private file, and the configuration that names them', async () => {
    const key = await init();
    const url = await serveHere();
    const streams = ['payments', 'platform/administration', 'with space/ü'];
    const entries: WireEntry[] = [];
    for (const stream of ['payments', 'with space/ü']) await call(url, key, 'POST', '/entries/', entry(stream, 1));
    entries.push(...(await call(url, key, 'GET', '/entries/')).body.data);
    expect(entries.map(({ stream_id }) => stream_id).sort()).toEqual(streams);
    const { code, stdout } = await runPlatform(['seal-keys', 'write', '--data', data, '--out', join(folder, 'keys')]);
    expect(code).toBe(0);
    const { seal_keys } = parse(stdout).verify;
    expect((await readdir(seal_keys)).sort()).toEqual(streams.map((stream) => sealKeyId(stream)).sort());
    expect((await stat(join(folder, 'keys'))).mode & 0o777).toBe(0o700);
    for (const { seal_key_id, hash, seal } of entries) {
      const file = join(seal_keys, seal_key_id);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const hex = /^hex:([0-9a-f]{64})\n$/.exec(await readFile(file, 'utf8'))?.[1] ?? '';
      expect(sealHash(createSecretKey(Buffer.from(hex, 'hex')), hash)).toBe(seal);
    }
  });

  test('adds what is new and never writes over another key', async () => {
    const key = await init();
    const url = await serveHere();
    await call(url, key, 'POST', '/entries/', entry('a', 1));
    const args = ['seal-keys', 'write', '--data', data, '--out', join(folder, 'keys')];
    await runPlatform(args);
    await call(url, key, 'POST', '/entries/', entry('b', 1));
    expect((await runPlatform(args)).code).toBe(0);
    expect((await readdir(join(folder, 'keys'))).sort()).toEqual(
      ['a', 'b', 'platform/administration'].map((stream) => sealKeyId(stream)).sort(),
    );
    await writeFile(join(folder, 'keys', sealKeyId('a')), 'another');
    const { code, stderr } = await runPlatform(args);
    expect(code).toBe(2);
    expect(stderr).toContain('exists with a different key');
    expect(await readFile(join(folder, 'keys', sealKeyId('a')), 'utf8')).toBe('another');
  });

  test('of a stream whose key was rotated writes all that it had, so that every seal can be checked', async () => {
    const key = await init();
    const url = await serveHere();
    await call(url, key, 'POST', '/entries/', entry('a', 1));
    const rotated = await runPlatform(['seal-keys', 'rotate', '--data', data, '--stream', 'a']);
    expect([rotated.code, rotated.stdout]).toEqual([0, expect.stringContaining(sealKeyId('a', 2))]);
    await call(url, key, 'POST', '/entries/', entry('a', 2));
    const { stdout } = await runPlatform(['seal-keys', 'write', '--data', data, '--out', join(folder, 'keys')]);
    const { seal_keys } = parse(stdout).verify;
    expect(await readdir(seal_keys)).toEqual(expect.arrayContaining([sealKeyId('a', 1), sealKeyId('a', 2)]));
    const { data: entries } = (await call(url, key, 'GET', '/entries/?stream_id=a')).body;
    expect(entries).toHaveLength(3);
    for (const { seal_key_id, hash, seal } of entries) {
      const hex = (await readFile(join(seal_keys, seal_key_id), 'utf8')).trim().replace('hex:', '');
      expect(sealHash(createSecretKey(Buffer.from(hex, 'hex')), hash)).toBe(seal);
    }
    const all = await runPlatform(['seal-keys', 'rotate', '--data', data, '--all']);
    expect(all.stdout).toContain(sealKeyId('a', 3));
  });
});
