import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { contentOf, versionsIn } from '../support/bucket.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { run } from '../support/process.ts';
import { adminClient, makeBucket, type Radosgw, useRadosgw } from '../support/radosgw.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../support/tsa.ts';

const RECIPIENT = 'J. Smith, Example Audit';

let platform: ServedPlatform;
let authority: OpensslAuthority;
let gateway: Radosgw;
let client: S3Client;
/** Folder with two keys, and with an archive of two runs in a folder and in a bucket. */
let place: string;
let bucket: string;

beforeAll(async () => {
  [platform, gateway] = await Promise.all([servePlatform(), useRadosgw()]);
  client = adminClient(gateway);
  await postEntries(platform, [...someEntries('payments', 5), ...someEntries('生产/支付', 7)]);
  bucket = await makeBucket(gateway, 'lock');
  place = mkdtempSync(join(tmpdir(), 'share-test-'));
  authority = await startOpensslAuthority(join(place, 'tsa'));
  for (const type of ['ed25519', 'ecdsa-p256'])
    expect((await program('keygen', '--out', `${type}.pem`, '--type', type)).code).toBe(0);
  const retention = { mode: 'governance', years: 1 };
  configure('s3.yaml', {
    archive: { url: s3(), endpoint: gateway.endpoint, retention },
    sign: { key_file: 'ed25519.pem' },
  });
  const stamped = { tsa_url: authority.url, tsa_roots: authority.rootFile };
  configure('evidence.yaml', { sign: { key_file: 'ecdsa-p256.pem', ...stamped } });
  for (const config of ['evidence.yaml', 's3.yaml'])
    for (const request of ['AUD-1', 'AUD-2']) {
      const { code, stderr } = await program('export', '--all-time', '--request', request, '--config', config);
      expect(code, stderr).toBe(0);
    }
});
afterAll(async () => {
  client.destroy();
  await authority.close();
  await platform.stop();
});

const s3 = () => `s3://${bucket}/prod`;

function configure(name: string, parts: Record<string, unknown>): void {
  writeFileSync(join(place, name), JSON.stringify({ ...parts, report: { organisation: 'Acme Ltd' } }));
}

function program(...args: string[]): Promise<Ended> {
  return evidence(args, { cwd: place, env: { ...platform.env, ...gateway.env } });
}

const share = (...args: string[]) => program('share', ...args);

/** Runs the commands of the letter in its folder, except for the last step. */
async function typeAll(folder: string, key: string): Promise<string> {
  const steps = readFileSync(join(folder, 'letter.txt'), 'utf8')
    .split(/^\d+\. /m)
    .slice(1);
  let said = '';
  for (const step of steps) {
    const command = step
      .split('\n')
      .filter((line) => /^ {4}(grep|jq|for|\{|openssl) /.test(line))
      .join('\n')
      .replace('PUBLIC_KEY', join(place, `${key}.pem.pub`))
      .replace('STAMP_ROOTS', authority.rootFile);
    if (command !== '') said += await run('bash', ['-e', '-o', 'pipefail', '-c', command], folder);
  }
  return said;
}

/** Runs the last step of the letter. */
async function verified(
  folder: string,
  runId: string,
  key: string,
): Promise<{ exit_code: number; warnings: string[] }> {
  const letter = readFileSync(resolve(place, folder, 'letter.txt'), 'utf8');
  const [command = ''] = /evidence verify \. .*/.exec(letter) ?? [];
  // The last step uses the authority's root if an earlier step does.
  const roots = letter.includes('-CAfile STAMP_ROOTS') ? ' --stamp-roots STAMP_ROOTS' : '';
  expect(command).toBe(`evidence verify . --run ${runId} --public-key PUBLIC_KEY${roots}`);
  const { stdout } = await program('verify', folder, '--run', runId, '--public-key', `${key}.pem.pub`, '--json');
  return JSON.parse(stdout);
}

const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(folder, name)).isFile());

describe('links', () => {
  let shared: Ended;
  let folder: string;
  let letter: string;

  beforeAll(async () => {
    shared = await share('AUD-2', '--config', 's3.yaml', '--for', RECIPIENT, '--expires', '1h', '--json');
    expect(shared.code, shared.stderr).toBe(0);
    folder = join(place, JSON.parse(shared.stdout).folder);
    letter = readFileSync(join(folder, 'letter.txt'), 'utf8');
  });

  test('are in the letter alone, which nobody else can read', async () => {
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).sort()).toEqual(['letter.pdf', 'letter.txt']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const secrets = [
      /X-Amz/i,
      /Signature=/,
      ...Object.values(gateway.env)
        .slice(0, 2)
        .map((text) => new RegExp(text)),
    ];
    const objects = await Promise.all(
      (await versionsIn(client, bucket)).map(async (version) =>
        (await contentOf(client, bucket, version)).toString('latin1'),
      ),
    );
    for (const text of [shared.stdout, shared.stderr, ...objects])
      for (const secret of secrets) expect(text).not.toMatch(secret);
    expect(letter).toMatch(/^url = ".*X-Amz-Signature=[0-9a-f]{64}.*"$/m);
    expect(letter).not.toContain(gateway.env.AWS_SECRET_ACCESS_KEY);
  });

  test('give an auditor, who types what the letter says, all that it takes to verify the run', async () => {
    const auditor = mkdtempSync(join(tmpdir(), 'auditor-'));
    cpSync(join(folder, 'letter.txt'), join(auditor, 'letter.txt'));
    const said = await typeAll(auditor, 'ed25519');
    expect(said.match(/: OK$/gm)?.length).toBeGreaterThan(20);
    expect(said).toContain('Signature Verified Successfully');
    const report = await verified(auditor, 'AUD-2', 'ed25519');
    expect(report).toMatchObject({ exit_code: 0, warnings: [], signatures: { state: 'proved' } });
    // The share contains no object of the other run.
    expect(filesBelow(auditor).filter((name) => name.includes('AUD-1'))).toEqual([]);
  });

  test('lead to the version that was archived, whatever is put over it, and to nothing else', async () => {
    const [, url = '', path = ''] = /^url = "(.*)"\noutput = "(.*\.zip)"$/m.exec(letter) ?? [];
    const [, digest] = new RegExp(`^([0-9a-f]{64})  ${path}$`, 'm').exec(letter) ?? [];
    const isOf = ({ Key }: { Key?: string | undefined }) => Key === `prod/${path}`;
    await client.send(new PutObjectCommand({ Bucket: bucket, Key: `prod/${path}`, Body: 'forged' }));
    expect((await run('bash', ['-c', `curl -sf '${url}' | sha256sum`], place)).slice(0, 64)).toBe(digest);
    const [latest] = (await versionsIn(client, bucket)).filter((version) => isOf(version) && version.IsLatest);
    const { VersionId = '' } = latest ?? {};
    expect(await statusOf(url.replace(/versionId=[^&]*/, `versionId=${VersionId}`))).toBe('403');
    expect(await statusOf(url.replace('AUD-2', 'AUD-1'))).toBe('403');
    await client.send(
      new DeleteObjectCommand({ Bucket: bucket, Key: `prod/${path}`, VersionId, BypassGovernanceRetention: true }),
    );
  });

  test('are recorded, without being in the record, and the record is locked and verified with the rest', async () => {
    const { runs, locks, objects } = JSON.parse(
      (await program('verify', `${s3()}/runs/AUD-2`, '--config', 's3.yaml', '--json')).stdout,
    );
    expect(runs[0].shares).toEqual([
      {
        key: JSON.parse(shared.stdout).key,
        shared_with: RECIPIENT,
        shared_by: { user: expect.any(String), host: expect.any(String) },
        shared_at: expect.any(String),
        form: 'links',
        expires_at: expect.any(String),
        objects: expect.any(Number),
      },
    ]);
    expect(Date.parse(runs[0].shares[0].expires_at) - Date.parse(runs[0].shares[0].shared_at)).toBeLessThanOrEqual(
      3_600_000,
    );
    expect([locks.state, objects.unlocked]).toEqual(['proved', []]);
  });

  test('end when they were to end', async () => {
    const { code, stdout } = await share(
      'AUD-1',
      '--config',
      's3.yaml',
      '--for',
      RECIPIENT,
      '--expires',
      '2s',
      '--json',
      '--quiet',
    );
    const { folder: brief, expires_at, shared_at } = JSON.parse(stdout);
    expect([code, Date.parse(expires_at) - Date.parse(shared_at) <= 2000]).toEqual([0, true]);
    const [, url = ''] = /^url = "(.*)"$/m.exec(readFileSync(join(place, brief, 'letter.txt'), 'utf8')) ?? [];
    const { status } = await vi.waitFor(
      async () => {
        const answer = await statusOf(url);
        if (answer !== '403') throw new Error(`answered ${answer}`);
        return { status: answer };
      },
      { timeout: 20_000, interval: 200 },
    );
    expect(status).toBe('403');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at));
  });

  test('end sooner with the credentials that sign them, and it is said so', async () => {
    const end = new Date(Date.now() + 1_800_000);
    const env = { ...platform.env, ...gateway.env, AWS_CREDENTIAL_EXPIRATION: end.toISOString() };
    const { code, stdout } = await evidence(['share', 'AUD-1', '--for', 'A. Uditor', '--config', 's3.yaml', '--json'], {
      cwd: place,
      env,
    });
    const { expires_at, warnings, folder: brief } = JSON.parse(stdout);
    expect([code, expires_at, warnings]).toEqual([0, end.toISOString(), [expect.stringContaining(end.toISOString())]]);
    expect(readFileSync(join(place, brief, 'letter.txt'), 'utf8')).toContain(`${end.toISOString()} at the latest`);
  });
});

test('--out copies from S3 too, and the copies have no links', async () => {
  const { code, stdout } = await share('AUD-1', '--config', 's3.yaml', '--out', 'from-s3');
  expect([code, stdout]).toEqual([0, expect.stringContaining('as copies.')]);
  expect(readFileSync(join(place, 'from-s3/letter.txt'), 'utf8')).not.toMatch(/https?:/);
  expect((await verified('from-s3', 'AUD-1', 'ed25519')).exit_code).toBe(0);
});

describe('copies', () => {
  const folder = () => join(place, 'for-the-auditor');

  beforeAll(async () => {
    const { code, stderr } = await share('AUD-2', '--for', RECIPIENT, '--out', 'for-the-auditor');
    expect(code, stderr).toBe(0);
  });

  test('are for the user alone, verify by hand and by program, and hold nothing of another run', async () => {
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    for (const name of filesBelow(folder()))
      expect([name, statSync(join(folder(), name)).mode & 0o777]).toEqual([name, 0o600]);
    const typed = join(place, 'typed');
    cpSync(folder(), typed, { recursive: true });
    const said = await typeAll(typed, 'ecdsa-p256');
    for (const words of ['Signature Verified Successfully', 'Verification: OK']) expect(said).toContain(words);
    for (const verifiable of [folder(), typed])
      expect(await verified(verifiable, 'AUD-2', 'ecdsa-p256')).toMatchObject({
        exit_code: 0,
        signatures: { state: 'proved' },
      });
    expect(filesBelow(folder()).filter((name) => /AUD-1|hold-log/.test(name))).toEqual([]);
  });

  test.each([
    ['an edited bundle', (at: string) => appendFileSync(join(at, bundleIn(at)), 'x'), 'object/altered'],
    ['a lost bundle', (at: string) => rmSync(join(at, bundleIn(at))), 'object/missing'],
    ['a lost ledger entry', (at: string) => rmSync(join(at, 'ledger/00000001.json')), 'ledger/gap'],
  ])('with %s do not verify', async (_what, change, code) => {
    const copy = mkdtempSync(join(place, 'changed-'));
    cpSync(folder(), copy, { recursive: true });
    for (const name of filesBelow(copy)) chmodSync(join(copy, name), 0o600);
    change(copy);
    const { stdout } = await program('verify', copy, '--run', 'AUD-2', '--json');
    expect(JSON.parse(stdout).exit_code).toBe(1);
    expect(stdout).toContain(`"${code}"`);
  });

  test('are not verified as an archive, and make no archive pass for what was shared of it', async () => {
    const archive = join(place, 'marked');
    cpSync(join(place, 'evidence-archive'), archive, { recursive: true });
    cpSync(join(folder(), 'share.json'), join(archive, 'share.json'));
    for (const target of [folder(), archive]) {
      const { code, stderr } = await program('verify', target);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`evidence verify ${target} --run AUD-2`)]);
    }
  });
});

const bundleIn = (folder: string) => filesBelow(folder).find((name) => name.endsWith('.zip')) ?? '';

const KEY_OF = (name: string) => `runs/AUD-1/${name}`;

test.each<[string, (archive: string) => void, number, RegExp]>([
  [
    'is not there',
    (at) => rmSync(join(at, 'runs/AUD-1'), { recursive: true }),
    2,
    /no finalized run AUD-1\n?.*evidence runs/s,
  ],
  ['is not finalized', (at) => rmSync(join(at, KEY_OF('run.json'))), 2, /was started but is not finalized/],
  ['is not in the ledger', (at) => rmSync(join(at, 'ledger'), { recursive: true }), 2, /no ledger entry records it/],
  ['lacks its signature', (at) => rmSync(join(at, KEY_OF('run.dsse.json'))), 2, /run\.dsse\.json is missing/],
  ['lacks its key', (at) => rmSync(join(at, 'keys'), { recursive: true }), 2, /has no keys\//],
  [
    'lacks a bundle',
    (at) => rmSync(join(at, bundleIn(at))),
    3,
    /\.zip differs from the record: it is recorded but missing/,
  ],
  [
    'has a longer bundle',
    (at) => appendFileSync(join(at, bundleIn(at)), 'x'),
    3,
    /\.zip differs from the record: it has/,
  ],
  ['has an edited bundle', (at) => edit(join(at, bundleIn(at))), 3, /\.zip differs from the record: its SHA-256 is/],
  [
    'has an edited record',
    (at) => edit(join(at, KEY_OF('run.json'))),
    3,
    /run\.json (differs from the record|is not (the record|JSON))/,
  ],
])('a run that %s is not shared', async (_what, change, code, words) => {
  const archive = mkdtempSync(join(place, 'broken-'));
  cpSync(join(place, 'evidence-archive/'), archive, { recursive: true });
  for (const name of filesBelow(archive)) chmodSync(join(archive, name), 0o600);
  rmSync(join(archive, 'runs/AUD-2'), { recursive: true });
  change(archive);
  const out = `${archive}.out`;
  const result = await share('AUD-1', '--archive', archive, '--out', out);
  expect([result.code, result.stderr]).toEqual([code, expect.stringMatching(words)]);
  expect([existsSync(out), existsSync(join(archive, 'runs/AUD-1/hold-log'))]).toEqual([false, false]);
});

/** Flips one byte in the middle of a file. */
function edit(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test.each([
  ['a time that is none', ['--expires', 'soon'], /--expires soon is not a time/],
  ['no time', ['--expires', '0s'], /--expires 0s is not a time/],
  ['more time than S3 allows', ['--expires', '8d'], /longer than 7 days/],
  ['an end of copies', ['--expires', '1d', '--out', 'new'], /copies do not expire/],
  ['control characters', ['--for', 'J\u001b[2J'], /--for J\\u\{1b\}\[2J contains control characters/],
  ['another line', ['--for', 'J\nurl = "x"'], /control characters/],
  ['nobody', ['--for', ' '], /--for is empty/],
  ['a long name', ['--for', 'x'.repeat(201)], /more than 200/],
  ['a folder that is there', ['--out', 'evidence-archive'], /is never overwritten/],
  ['a run of a path', ['--out', 'new', '--archive', 'evidence-archive/runs'], /no finalized run/],
])('%s is bad input', async (_what, flags, words) => {
  const { code, stderr } = await share('AUD-1', ...flags);
  expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  expect(existsSync(join(place, 'new'))).toBe(false);
});

async function statusOf(url: string): Promise<string> {
  return run('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', url], place);
}
