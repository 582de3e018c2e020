import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runKeygen } from '../../../../src/exporter/cli/commands/keygen.ts';
import { commandIn } from '../../../support/command.ts';
import { evidence } from '../../../support/evidence.ts';
import { KINDS, type Kind } from '../../../support/openssl-keys.ts';
import { run } from '../../../support/process.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keygen-'));
});

const keygen = (out: string, type: Kind = 'ed25519') => {
  const { context, printed } = commandIn(directory);
  const flags = { out, type, json: true, quiet: false, _: [], $0: '' };
  return runKeygen(flags, context).then((code) => ({ code, ...printed }));
};

test.each(KINDS)('%s: a pair that openssl can use, the private one for the user alone', async (type) => {
  const { code, stdout, stderr } = await keygen('my.pem', type);
  expect([code, stderr]).toEqual([0, '']);
  expect(statSync(join(directory, 'my.pem')).mode & 0o777).toBe(0o600);
  const publicKey = await run('openssl', ['pkey', '-in', 'my.pem', '-pubout'], directory);
  expect(readFileSync(join(directory, 'my.pem.pub'), 'utf8')).toBe(publicKey);
  await run('openssl', ['pkey', '-in', 'my.pem', '-pubout', '-outform', 'DER', '-out', 'der'], directory);
  const id = createHash('sha256')
    .update(readFileSync(join(directory, 'der')))
    .digest('hex');
  expect(JSON.parse(stdout)).toMatchObject({ key_id: id, type, private_key: 'my.pem', public_key: 'my.pem.pub' });
  expect(stdout).not.toContain(readFileSync(join(directory, 'my.pem'), 'utf8').split('\n')[1]);
});

test('as a command, whatever the umask', async () => {
  const words = `umask 000; exec ${process.execPath} ${join(import.meta.dirname, '../../../../src/exporter/cli/main.ts')} keygen --out my.pem`;
  const stdout = await run('sh', ['-c', words], directory);
  expect(stdout).toMatch(/^Key id +[0-9a-f]{64}\nPrivate key +my.pem .*\nPublic key +my.pem.pub /);
  expect(statSync(join(directory, 'my.pem')).mode & 0o777).toBe(0o600);
  const again = await evidence(['keygen', '--out', 'my.pem'], { cwd: directory });
  expect([again.code, again.stderr]).toEqual([2, expect.stringMatching(/exists, and keys are never overwritten/)]);
});

test.each([[['my.pem']], [['my.pem.pub']], [['my.pem', 'my.pem.pub']]])('never overwrites %j', async (names) => {
  for (const name of names) writeFileSync(join(directory, name), 'mine');
  await expect(keygen('my.pem')).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/exists, and keys are never overwritten/),
  });
  expect(readdirSync(directory)).toEqual(names);
  for (const name of names) expect(readFileSync(join(directory, name), 'utf8')).toBe('mine');
});

test('a folder that is not there is named', async () => {
  await expect(keygen('y/my.pem')).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/y\/my.pem.pub cannot be written/),
    nextStep: expect.stringMatching(/--out/),
  });
});
