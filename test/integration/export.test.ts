import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { claimVerified, lieAbout } from '../support/lying-service.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { nodeToEnd, PLATFORM, run } from '../support/process.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'export-test-'));
});

describe('a service with three streams', () => {
  let platform: ServedPlatform;
  beforeAll(async () => {
    platform = await servePlatform();
    await postEntries(platform, [
      ...someEntries('payments', 120),
      ...someEntries('prod/база данных', 7),
      ...someEntries('../../etc/passwd', 1),
    ]);
  });
  afterAll(() => platform.stop());

  const exportAll = (...flags: string[]) =>
    evidence(['export', '--all-time', ...flags], { cwd: directory, env: platform.env });

  test('all of it is exported, verified and finalized', async () => {
    const { code, stdout } = await exportAll('--json');
    const run = JSON.parse(stdout);
    expect(run.reconciliation).toEqual({
      listed: 3,
      exported: 3,
      partial: 0,
      failed: 0,
      empty: 0,
      excluded: 0,
      supplements: { configured: 0, collected: 0, missing: 0 },
    });
    expect(
      run.streams.map((stream: { stream_id: string; entries: number; status: string }) => [
        stream.stream_id,
        stream.entries,
        stream.status,
      ]),
    ).toEqual([
      ['../../etc/passwd', 1, 'verified'],
      ['payments', 120, 'verified'],
      ['prod/база данных', 7, 'verified'],
    ]);
    for (const stream of run.streams) {
      const states = Object.entries(stream.claims as Record<string, { state: string; reason?: string }>);
      expect(states.filter(([, { state }]) => state === 'proved').map(([name]) => name)).toEqual([
        'order',
        'content',
        'continuity',
        'completeness',
        'agreement',
      ]);
      expect(states.filter(([, { state, reason }]) => state !== 'proved' && !reason)).toEqual([]);
    }
    expect([run.outcome, run.exit_code, code]).toEqual(['verified', 0, 0]);
    const streams = readdirSync(join(directory, 'evidence-archive', 'runs', run.run_id, 'streams'));
    expect(streams.filter((name) => name.endsWith('.zip'))).toHaveLength(3);
    expect(existsSync(join(directory, 'evidence-archive', 'ledger', '00000001.json'))).toBe(true);
  });

  test('the same command again changes nothing and says so; --revise exports anew, continuing the first', async () => {
    await exportAll();
    const before = listFiles(directory);
    const again = await exportAll();
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(' and never changes.');
    expect(listFiles(directory)).toEqual(before);
    const { stdout, code } = await exportAll('--revise', '--json');
    const revised = JSON.parse(stdout);
    expect([code, revised.run_id]).toEqual([0, expect.stringMatching(/^all-time-\d{4}-\d\d-\d\d\.r2$/)]);
    expect(revised.streams[1].claims.continuity.basis).toMatch(/contains entry 120, the head of run all-time/);
    expect(revised.streams[1].entries).toBe(120);
  });

  test('a request that is finalized is not answered for another period', async () => {
    await exportAll('--request', 'AUD-7');
    const other = await evidence(['export', '--request', 'AUD-7', '--period', '2026-01'], {
      cwd: directory,
      env: platform.env,
    });
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringContaining('run AUD-7 was finalized with different options: period: '),
    ]);
  });

  test('the seal is proved with the keys of the service and unproved without', async () => {
    const out = join(directory, 'keys');
    await nodeToEnd(PLATFORM, ['seal-keys', 'write', '--data', platform.dataDir, '--out', out], { cwd: directory });
    const pairs = readdirSync(out).map((id) => `${id}=${join(out, id)}`);
    expect(pairs).toHaveLength(3);
    const { stdout } = await exportAll('--json', ...pairs.flatMap((pair) => ['--seal-key', pair]));
    for (const stream of JSON.parse(stdout).streams) expect(stream.claims.seal.state).toBe('proved');
  });

  test('--stream and --exclude choose, and what is left out is counted', async () => {
    const { stdout } = await exportAll('--stream', 'prod/*', '--stream', 'payments', '--exclude', 'pay*', '--json');
    const run = JSON.parse(stdout);
    expect(run.streams.map((stream: { stream_id: string }) => stream.stream_id)).toEqual(['prod/база данных']);
    expect(run.reconciliation).toMatchObject({ listed: 3, exported: 1, excluded: 2 });
  });

  test('--dry-run says what would be done and writes nothing', async () => {
    const { code, stdout } = await exportAll('--dry-run');
    expect(code).toBe(0);
    expect(stdout).toContain('3 streams would be exported');
    expect(listFiles(directory)).toEqual([]);
  });

  test('a period without entries ends with 4 and every stream empty', async () => {
    const { code, stdout } = await evidence(['export', '--period', '2020-02', '--json'], {
      cwd: directory,
      env: platform.env,
    });
    const run = JSON.parse(stdout);
    expect([code, run.outcome]).toEqual([4, 'empty']);
    expect(run.reconciliation).toMatchObject({ listed: 3, empty: 3 });
  });

  test('a wrong key is refused with 5, and the key is in no message', async () => {
    const env = { ...platform.env, EVIDENCE_API_KEY: 'sk_wrongwro_ngwrongwrong' };
    const { code, stderr, stdout } = await evidence(['export', '--all-time'], { cwd: directory, env });
    expect(code).toBe(5);
    expect(stderr).toMatch(/answered 401.*\n.*API key/);
    expect(stderr + stdout).not.toContain('ngwrongwrong');
  });

  test('what a run wrote holds no API key and no path of this machine', async () => {
    await exportAll();
    const secrets = [platform.apiKey, directory, tmpdir()];
    for (const path of listFiles(directory)) {
      const bytes = path.endsWith('.zip')
        ? Buffer.from(await run('unzip', ['-p', path], directory), 'utf8')
        : readFileSync(path);
      for (const secret of secrets) expect(bytes.includes(secret), `${secret} in ${path}`).toBe(false);
    }
  });

  test('streams shows what was exported', async () => {
    await exportAll();
    const { code, stdout } = await evidence(['streams'], { cwd: directory, env: platform.env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/payments +120 +verified .* 120, by all-time/);
  });
});

describe('a service whose database was changed by hand', () => {
  test('the edited entry is found, and the bundle archived all the same; a lying verdict is shown', async () => {
    const platform = await servePlatform();
    await postEntries(platform, someEntries('payments', 60));
    const database = readdirSync(platform.dataDir).find((name) => /\.(db|sqlite)$/.test(name)) ?? '';
    await run(
      'sqlite3',
      [
        join(platform.dataDir, database),
        '.timeout 5000',
        "DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE sequence = 30 AND stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'payments');",
      ],
      directory,
    );
    const liar = await lieAbout(platform.auditUrl, claimVerified);
    try {
      const honest = await evidence(['export', '--all-time', '--json'], { cwd: directory, env: platform.env });
      const [stream] = JSON.parse(honest.stdout).streams;
      expect([honest.code, stream.status, stream.claims.content.state]).toEqual([1, 'refuted', 'refuted']);
      expect(
        stream.findings.map((finding: { code: string; sequence: number }) => [finding.code, finding.sequence]),
      ).toEqual([['content/mismatch', 30]]);
      expect(existsSync(join(directory, 'evidence-archive', stream.bundle.key))).toBe(true);
      const env = { ...platform.env, EVIDENCE_AUDIT_URL: liar.auditUrl };
      const lied = await evidence(['export', '--all-time', '--archive', 'second', '--json'], { cwd: directory, env });
      const [deceived] = JSON.parse(lied.stdout).streams;
      expect(lied.code).toBe(1);
      expect(deceived.findings.map((finding: { code: string }) => finding.code)).toEqual([
        'content/mismatch',
        'agreement/vendor-verdict-differs',
      ]);
      const verified = await evidence(['verify', 'second', '--json'], { cwd: directory });
      expect([verified.code, JSON.parse(verified.stdout).objects.altered]).toEqual([1, []]);
    } finally {
      liar.close();
      await platform.stop();
    }
  });
});

describe('a service that cannot be exported from', () => {
  test('without any stream the exit code is 4 and nothing is finalized', async () => {
    const platform = await servePlatform();
    try {
      const { code, stdout } = await evidence(['export', '--all-time'], { cwd: directory, env: platform.env });
      expect(code).toBe(4);
      expect(stdout).toContain('No streams are in scope');
      expect(listFiles(directory)).toEqual([]);
    } finally {
      await platform.stop();
    }
  });

  test('a service that is not there ends with 3 within its time limits', async () => {
    const port = await freePort();
    const env = { EVIDENCE_AUDIT_URL: `http://127.0.0.1:${port}/audit`, EVIDENCE_API_KEY: 'sk_none' };
    const began = performance.now();
    const { code, stderr } = await evidence(['export', '--all-time'], { cwd: directory, env });
    expect(code).toBe(3);
    expect(stderr).toMatch(/ECONNREFUSED .*\n.*run the same command again/);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test.each([
    ['archiv:\n  url: x\n', /evidence\.yaml:1:1: unknown key "archiv"\n.*"archive"/],
    ['source:\n  audit_ur: http://x\n', /evidence\.yaml:2:3: unknown key "source.audit_ur"\n.*"audit_url"/],
  ])('an unknown configuration key ends with 2 and a suggestion: %j', async (yaml, message) => {
    writeFileSync(join(directory, 'evidence.yaml'), yaml);
    const { code, stderr } = await evidence(['export', '--all-time'], { cwd: directory });
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test.each([
    [['export', '--al-time']],
    [['exprot']],
    [['export', '--period', 'May']],
    [[]],
    [['verify', 'nothing-here']],
  ])('a command line that makes no sense ends with 2: %j', async (args) => {
    const { code, stderr, stdout } = await evidence(args, { cwd: directory });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^evidence(: .+| <command>)/);
  });
});

/** Maps every file below a folder by its path. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
