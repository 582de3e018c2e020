import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ageKey } from '../support/age.ts';
import { versionsIn } from '../support/bucket.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { EVIDENCE, nodeToEnd, run } from '../support/process.ts';
import { adminClient, makeBucket, useRadosgw } from '../support/radosgw.ts';

const KILLED_AFTER = resolve(import.meta.dirname, '../support/killed-after.ts');
const STREAMS = ['payments', 'logins'];

let platform: ServedPlatform;
const keys = mkdtempSync(join(tmpdir(), 'encryption-keys-'));
const auditor = ageKey(keys, 'auditor');
const other = ageKey(keys, 'other');
let directory: string;

beforeAll(async () => {
  platform = await servePlatform();
  for (const [index, stream] of STREAMS.entries()) await postEntries(platform, someEntries(stream, 5 + index));
});
afterAll(() => platform.stop());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'encryption-test-'));
  configure({ encrypt_to: [auditor.recipient] });
});

function configure(archive: Record<string, unknown>): void {
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ archive }));
}

function program(...args: string[]): Promise<Ended> {
  return evidence(args, { cwd: directory, env: platform.env });
}

async function exported(): Promise<void> {
  const { code, stderr } = await program('export', '--request', 'A', '--all-time');
  expect(code, stderr).toBe(0);
}

const at = (path: string) => join(directory, 'evidence-archive', path);
const bundles = () => readdirSync(at('runs/A/streams')).filter((name) => !name.endsWith('.json'));

interface Report {
  exit_code: number;
  warnings: string[];
  runs: { streams: { encrypted: boolean; claims: { order: { state: string } } }[] }[];
  objects: { altered: { code: string; key: string }[]; unexpected: unknown[] };
}

async function verify(...flags: string[]): Promise<Report> {
  const { stdout, stderr } = await program('verify', 'evidence-archive', '--json', ...flags);
  return stdout === '' ? expect.unreachable(stderr) : JSON.parse(stdout);
}

describe('an archive that is encrypted', () => {
  let archived: string;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'encryption-archive-'));
    configure({ encrypt_to: [auditor.recipient] });
    await exported();
    archived = directory;
  });
  beforeEach(() => {
    cpSync(archived, directory, { recursive: true });
  });

  test("holds bundles that Debian's age opens, and records what is stored and what is in it", async () => {
    expect(bundles()).toEqual([expect.stringMatching(/\.zip\.age$/), expect.stringMatching(/\.zip\.age$/)]);
    const record = JSON.parse(readFileSync(at('runs/A/run.json'), 'utf8'));
    for (const { bundle } of record.streams) {
      await run('age', ['-d', '-i', auditor.file, '-o', 'bundle.zip', at(bundle.key)], directory);
      const digest = async (file: string) => (await run('sha256sum', [file], directory)).slice(0, 64);
      expect([await digest('bundle.zip'), await digest(at(bundle.key))]).toEqual([
        bundle.encrypted.sha256,
        bundle.sha256,
      ]);
      expect(statSync(join(directory, 'bundle.zip')).size).toBe(bundle.encrypted.bytes);
      expect(bundle.encrypted.recipients).toEqual([auditor.recipient]);
      const verified = await program('verify', 'bundle.zip');
      expect([verified.code, verified.stderr]).toEqual([0, '']);
      rmSync(join(directory, 'bundle.zip'));
    }
    const text = await run('pdftotext', [at('runs/A/report.pdf'), '-'], directory);
    expect(text.replace(/\s+/g, '')).toContain(auditor.recipient);
  });

  test('shows of the entries nothing but what the records and reports state', async () => {
    const readable = readdirSync(at('.'), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(at(name)).isFile() && !/\.(age|pdf)$/.test(name))
      .map((name) => readFileSync(at(name), 'utf8'));
    const texts = [...readable, await run('pdftotext', [at('runs/A/report.pdf'), '-'], directory)];
    expect(texts.length).toBeGreaterThan(8);
    // Members of every entry: the actor, the resource, and the metadata.
    for (const secret of [/svc-backup/, /Zoë/, /["'>,\s]r\/0["'<,\s]/, / brace }/])
      expect(texts.filter((text) => secret.test(text))).toEqual([]);
    expect(texts.some((text) => text.includes('secret.read'))).toBe(true);
  });

  test('verifies without a key as far as that goes, which is said, and with one in full', async () => {
    const without = await verify();
    expect([without.exit_code, without.objects.unexpected]).toEqual([4, []]);
    expect(without.runs[0]?.streams.map(({ encrypted }) => encrypted)).toEqual([true, true]);
    expect(without.runs[0]?.streams.map(({ claims }) => claims.order.state)).toEqual(['recorded', 'recorded']);
    expect(without.warnings).toEqual([expect.stringMatching(/2 of 2 bundles are encrypted and were not opened here/)]);
    const inFull = await verify('--identity', auditor.file);
    expect([inFull.exit_code, inFull.warnings]).toEqual([0, []]);
    expect(inFull.runs[0]?.streams.map(({ encrypted }) => encrypted)).toEqual([false, false]);
    expect(await program('verify', 'evidence-archive', '--identity', other.file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none of the given identities can decrypt any of the 2 encrypted bundles'),
    });
    expect((await verify('--identity', other.file, '--identity', auditor.file)).warnings).toEqual([]);
  });

  test.each([
    ['without a key', () => []],
    ['with one', () => ['--identity', auditor.file]],
  ])('with one byte edited is refuted, %s', async (_what, flags) => {
    const [name = ''] = bundles();
    const path = at(`runs/A/streams/${name}`);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    chmodSync(path, 0o600);
    writeFileSync(path, bytes);
    const { exit_code, objects } = await verify(...flags());
    expect([exit_code, objects.altered]).toEqual([
      1,
      [expect.objectContaining({ code: 'object/altered', key: `runs/A/streams/${name}` })],
    ]);
  });

  test('is verified under a digest of the zip that is not its own as altered', async () => {
    const path = at('runs/A/run.json');
    const record = JSON.parse(readFileSync(path, 'utf8'));
    record.streams[0].bundle.encrypted.sha256 = '0'.repeat(64);
    chmodSync(path, 0o600);
    writeFileSync(path, `${JSON.stringify(record, null, 2)}\n`);
    const { objects } = await verify('--identity', auditor.file);
    expect(objects.altered.map(({ key }) => key)).toContain(record.streams[0].bundle.key);
  });

  test('a bundle by itself is verified with a key, and without one nothing is said of it', async () => {
    const target = `evidence-archive/runs/A/streams/${bundles()[0]}`;
    const { code, stdout } = await program('verify', target, '--identity', auditor.file);
    expect([code, stdout]).toEqual([0, expect.stringContaining('verified')]);
    for (const flags of [[], ['--identity', other.file]])
      expect(await program('verify', target, ...flags)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--identity FILE'),
      });
  });

  test('a key that others can read is refused', async () => {
    const loose = join(directory, 'loose.key');
    cpSync(auditor.file, loose);
    chmodSync(loose, 0o644);
    const { code, stderr } = await program('verify', 'evidence-archive', '--identity', loose);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/can be read or changed by other users\nRestrict access: chmod 600/),
    ]);
  });

  test('something beside what was written down of bundles is found', async () => {
    const [name = ''] = readdirSync(at('runs/A/encrypted'));
    const announced = at(`runs/A/encrypted/${name}`);
    cpSync(announced, at(`runs/A/encrypted/${'0'.repeat(64)}.json`));
    expect((await verify()).exit_code).toBe(1);
    rmSync(at(`runs/A/encrypted/${'0'.repeat(64)}.json`), { force: true });
    chmodSync(announced, 0o600);
    writeFileSync(announced, readFileSync(announced, 'utf8').replace(/"stream_id": "[^"]*"/, '"stream_id": "x"'));
    expect((await verify()).objects.altered).toEqual([
      expect.objectContaining({ code: 'object/altered', key: `runs/A/encrypted/${name}` }),
    ]);
  });

  test('is shared as it is, and the letter says how to decrypt it', async () => {
    expect((await program('share', 'A', '--out', 'shared')).code).toBe(0);
    const folder = join(directory, 'shared');
    const steps = readFileSync(join(folder, 'letter.txt'), 'utf8');
    const [, commands = ''] = /The content of the bundles\n.*?\n\n(.*?)\n\n/s.exec(steps) ?? [];
    const said = await run('bash', ['-ec', commands.replace('IDENTITY', auditor.file)], folder);
    expect(said.match(/: OK$/gm)).toHaveLength(STREAMS.length);
    expect(steps).toContain('evidence verify . --run A --identity IDENTITY');
    const { code, stderr } = await program('verify', 'shared', '--run', 'A', '--identity', auditor.file);
    expect([code, stderr]).toEqual([0, '']);
  });
});

test.each(['.zip.age', 'encrypted/[0-9a-f]+.json'])(
  'killed after %s was stored, an export goes on with the same bundle',
  async (ending) => {
    const options = { cwd: directory, nodeFlags: ['--import', KILLED_AFTER] };
    const env = { ...platform.env, KILLED_AFTER: ending };
    const killed = await nodeToEnd(EVIDENCE, ['export', '--request', 'A', '--all-time'], { ...options, env });
    expect(killed.signal).toBe('SIGKILL');
    const stored = () =>
      new Map(
        readdirSync(at('runs/A'), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.age'))
          .map((name) => [basename(name), readFileSync(at(`runs/A/${name}`)).toString('base64')]),
      );
    const left = stored();
    expect(left.size > 0).toBe(ending === '.zip.age');
    await exported();
    for (const [name, content] of left) expect(stored().get(name)).toBe(content);
    expect(bundles()).toHaveLength(STREAMS.length);
    expect(await verify('--identity', auditor.file)).toMatchObject({ exit_code: 0, warnings: [] });
  },
);

test('a run that was begun without encryption goes on with what is there', async () => {
  configure({});
  const options = { cwd: directory, nodeFlags: ['--import', KILLED_AFTER] };
  const env = { ...platform.env, KILLED_AFTER: '.zip' };
  await nodeToEnd(EVIDENCE, ['export', '--request', 'A', '--all-time'], { ...options, env });
  configure({ encrypt_to: [auditor.recipient] });
  await exported();
  expect(await verify('--identity', auditor.file)).toMatchObject({ exit_code: 0, warnings: [] });
});

test('two exports of the same run at once end in one, also in S3 under locks', async () => {
  const gateway = await useRadosgw();
  const bucket = await makeBucket(gateway, 'lock');
  const archive = {
    url: `s3://${bucket}/prod`,
    endpoint: gateway.endpoint,
    retention: { mode: 'governance', years: 1 },
  };
  configure({ ...archive, encrypt_to: [auditor.recipient] });
  const env = { ...platform.env, ...gateway.env };
  const start = (...args: string[]) => evidence(args, { cwd: directory, env });
  const both = await Promise.all([1, 2].map(() => start('export', '--request', 'A', '--all-time')));
  expect(both.map(({ code, stderr }) => [code, code === 0 ? '' : stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const client = adminClient(gateway);
  const stored = (await versionsIn(client, bucket)).filter(({ Key }) => Key?.endsWith('.age'));
  client.destroy();
  expect(new Set(stored.map(({ Key }) => Key)).size).toBe(STREAMS.length);
  const { code, stdout } = await start(
    ...['verify', archive.url, '--config', 'evidence.yaml', '--identity', auditor.file, '--json'],
  );
  const { locks, warnings } = JSON.parse(stdout);
  // This store sometimes ignores create-only writes that arrive at the same moment.
  const others = warnings.filter((warning: string) => !warning.includes('is stored more than once'));
  expect([code, locks.state, others]).toEqual([0, 'proved', []]);
});

test('a recipient that is none is named by the export, before it asks for anything, and by the doctor', async () => {
  configure({ encrypt_to: [auditor.recipient, 'age1nobody'] });
  const words = 'archive.encrypt_to[1] is not a recipient of age: "age1nobody"';
  const env = { ...platform.env, EVIDENCE_AUDIT_URL: 'http://127.0.0.1:9/audit' };
  const refused = await evidence(['export', '--all-time'], { cwd: directory, env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(words)]);
  const doctor = await program('doctor');
  expect([doctor.code, doctor.stdout]).toEqual([2, expect.stringContaining(words)]);
  configure({ encrypt_to: [auditor.recipient] });
  expect((await program('doctor')).stdout).toMatch(/^✓ encryption +bundles are encrypted to 1 recipient$/m);
});
