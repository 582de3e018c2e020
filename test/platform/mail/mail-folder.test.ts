import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startPlatform } from '../../../src/platform/app.ts';
import { initPlatform } from '../../../src/platform/init.ts';
import { call, startService } from '../service.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mail-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

const ready = async (origin: string) =>
  (await call(origin, '', 'GET', '/ready', undefined, { authorization: '' })).body;

describe('a folder of mails into which nothing can be written', () => {
  let taken: Server;
  beforeEach(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise<void>((resolve) => taken.close(() => resolve())));

  test.each([
    ['that is a file', 'file'],
    ['below a file', 'file/mails'],
  ])('%s has the platform not start, before it would listen', async (_what, path) => {
    const dataDir = join(folder, 'data');
    await initPlatform({ dataDir });
    await writeFile(join(folder, 'file'), '');
    const mails = join(folder, path);
    // The folder is checked before the port, which is in use.
    const { port } = taken.address() as { port: number };
    const started = startPlatform({ dataDir, port, logLevel: 'silent', mail: { folder: mails } });
    await expect(started).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`mail_folder: mails cannot be written to ${mails}: `),
      nextStep: expect.stringMatching(/write access, or set mail_folder to another folder/),
    });
    const again = startPlatform({ dataDir, port, logLevel: 'silent' });
    await expect(again).rejects.toMatchObject({ message: expect.stringContaining(String(port)) });
  });

  test('that nobody may write to is one', async () => {
    for (const [mode, outcome] of [
      [0o755, 'written'],
      [0o555, 'EACCES'],
    ] as const) {
      const mails = join(folder, outcome);
      await mkdir(mails, { mode });
      expect(await withoutPrivileges(mails)).toContain(outcome);
    }
  });
});

/** Checks a folder that the test made. Root, who may write anywhere, drops its capabilities first. */
async function withoutPrivileges(path: string): Promise<string> {
  const module = new URL('../../../src/platform/mail/open.ts', import.meta.url).href;
  const program = `const { requireMail } = await import(${JSON.stringify(module)});
    const [folder] = process.argv.slice(1);
    process.stdout.write(await requireMail({ folder }).then(() => 'written', ({ message }) => message));`;
  const node = [process.execPath, '--no-warnings', '--input-type=module', '--eval', program, path];
  const [command = '', ...words] = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', ...node] : node;
  return (await promisify(execFile)(command, words)).stdout;
}

test('a folder that goes away while the platform runs is told by /ready, and that it is back', async () => {
  const mails = join(folder, 'mails');
  const service = await startService({ mail: { folder: mails } });
  try {
    expect(await readdir(folder)).toEqual(['mails']);
    await expect.poll(() => ready(service.origin), { timeout: 10_000 }).toMatchObject({ ready: true });
    await rename(mails, `${mails}.away`);
    await writeFile(mails, '');
    await expect
      .poll(() => ready(service.origin), { timeout: 10_000 })
      .toMatchObject({ ready: false, checks: { mail_folder: false, database: true } });
    await rm(mails);
    await expect.poll(() => ready(service.origin), { timeout: 10_000 }).toMatchObject({ ready: true });
  } finally {
    await service.close();
  }
});

test('where mails go to a server nobody looks at a folder', async () => {
  const smtp = { url: 'smtp://127.0.0.1:1', from: 'evidence@example.com', password: null };
  const service = await startService({ mail: { smtp } });
  try {
    expect((await ready(service.origin)).checks).not.toHaveProperty('mail_folder');
    expect(await readdir(service.dataDir)).not.toContain('mail');
  } finally {
    await service.close();
  }
});
