import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runPlatform } from '../../command.ts';
import { type Service, startService } from '../../service.ts';
import { ENDPOINTS, enrol } from '../http-sensor.ts';
import { file } from '../sensor-double.ts';
import { hexSha256 } from './deb-files.ts';
import { DebianArchive } from './debian-archive.ts';
import { SigningKey } from './signing-key.ts';

let key: SigningKey;
let archive: DebianArchive;
let service: Service;
beforeAll(async () => {
  key = new SigningKey();
  archive = new DebianArchive();
  service = await startService();
});
afterAll(async () => {
  await service.close();
  for (const made of [key, archive]) made.remove();
});

function packages(...words: readonly string[]) {
  return runPlatform(['packages', ...words, '--data', service.dataDir]);
}

const tool = (content: string) => [{ name: './usr/bin/tool', mode: 0o755, content }];

test('beside a platform that is served, what is good is known at once, and what is not is told', async () => {
  const sensor = await enrol(service);
  await sensor.report([file('/usr/bin/tool')]);
  const input = { from: 'latest_scan', name: 'first', reason: 'a new machine' };
  const { body } = await service.call('POST', `${ENDPOINTS}/hosts/${sensor.id}/baselines`, input);
  await service.call('POST', `${ENDPOINTS}/baselines/${body.baseline_id}/approve`, { reason: 'looked at' });
  await sensor.report([file('/usr/bin/tool', 'b', { sha256: hexSha256('second') })]);
  await archive.add({ version: '1.0', entries: tool('second') });
  const altered = await archive.add({ name: 'other', version: '1.0', entries: tool('third') });
  archive.publish(key);
  const good = readFileSync(altered);
  writeFileSync(altered, good.subarray(1));

  const first = await packages('import', archive.root, '--keyring', key.keyring);
  expect(first.code).toBe(3);
  expect(first.stdout.split('\n')).toEqual([
    'Test test',
    `  signed by Test Archive ${key.fingerprint}`,
    '  lists of packages: 1 read, 0 known before, 0 not there; 2 packages new',
    '1 package opened: 1 file. 0 packages known before.',
    '1 event that was open is explained now.',
    '',
  ]);
  expect(first.stderr).toMatch(
    /^1 file refused, and nothing of it is known:\n {2}\S+other_1\.0_amd64\.deb is not the signed other 1\.0/,
  );
  const { data } = (await service.call('GET', `${ENDPOINTS}/events/?endpoint_id=${sensor.id}`)).body;
  const explanation = {
    kind: 'signed_package',
    name: 'tool',
    version: '1.0',
    signed_by: `Test Archive ${key.fingerprint}`,
  };
  expect(data).toMatchObject([{ path: '/usr/bin/tool', severity: 'low', explanation }]);

  writeFileSync(altered, good);
  const second = await packages('import', archive.root, '--keyring', key.keyring);
  expect([second.code, second.stderr]).toEqual([0, '']);
  expect(second.stdout).toContain('1 package opened: 1 file. 1 package known before.');
  const listed = (await service.call('GET', `${ENDPOINTS}/packages/`)).body;
  expect(listed).toMatchObject({
    data: [{ archive: 'Test test', packages: 2, opened: 2, files: 2 }],
    next_cursor: null,
  });
  const { stdout } = await packages('list');
  expect(stdout).toContain(`Test test\n  signed by Test Archive ${key.fingerprint}\n`);
  expect(stdout).toContain('  2 packages, 2 opened: 2 files\n');
  expect((await packages('verify')).stdout).toBe('The files of 2 packages match their import.\n');
  await service.sql("UPDATE known_files SET path = '/usr/bin/sudo'");
  const changed = await packages('verify');
  expect([changed.code, changed.stderr]).toEqual([
    3,
    expect.stringMatching(/^2 findings:\n\w+ 1\.0 amd64: its files differ/),
  ]);
});

test.each([
  [['import', '/nonexistent'], '/nonexistent cannot be read'],
  [['import', '/etc/hostname'], '/etc/hostname is neither a folder nor a .deb file'],
  [['import', '/proc/self/fd'], 'there is no InRelease or .deb file'],
  [['import', '/', '--keyring', '/nonexistent'], 'the keyring /nonexistent cannot be read'],
])('%j is refused with 2 and says what is wrong', async (words, message) => {
  const { code, stderr } = await packages(...words, ...(words.includes('--keyring') ? [] : ['--keyring', key.keyring]));
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(2);
});
