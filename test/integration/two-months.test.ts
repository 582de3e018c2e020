import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runPlatform } from '../platform/command.ts';
import { cutOff, removeStream, rewriteHistory } from '../support/database-tampering.ts';
import { evidence } from '../support/evidence.ts';
import { type LyingService, lieAbout } from '../support/lying-service.ts';
import { postEntries, type ServedPlatform, serveAgain, servePlatform, someEntries } from '../support/platform.ts';
import { nodeToEnd, PLATFORM } from '../support/process.ts';
import { someRows } from '../support/some-rows.ts';

/** The service stamps its own time, so the tests choose the turn of the month. */
let platform: ServedPlatform;
let directory: string;
let turn: string;
let keys: string[];
/** Folders of the service and of October's export; each test continues with a copy. */
let original: { dataDir: string; directory: string };
/** Proxy with a constant address. */
let address: LyingService;

beforeAll(async () => {
  platform = await servePlatform();
  address = await lieAbout(
    () => platform.auditUrl,
    () => undefined,
  );
  directory = mkdtempSync(join(tmpdir(), 'months-test-'));
  original = { dataDir: platform.dataDir, directory };
  await postEntries(platform, [...someEntries('payments', 40), ...someEntries('logins', 10)]);
  const out = join(directory, 'keys');
  await nodeToEnd(PLATFORM, ['seal-keys', 'write', '--data', platform.dataDir, '--out', out], { cwd: directory });
  keys = readdirSync(out).flatMap((id) => ['--seal-key', `${id}=${join(out, id)}`]);
  const checkpoint = await fetch(`${platform.auditUrl}/streams/payments/checkpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.apiKey}` },
  });
  expect(checkpoint.status).toBe(201);
  turn = new Date(Date.now() + 1).toISOString();
  const october = await exportMonth('2026-10', '--to', turn);
  expect([october.code, october.run.outcome], october.stderr).toEqual([0, 'verified']);
  await platform.stop();
  // The second month begins once the clock has passed the turn.
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(turn)));
});
beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'months-test-'));
  cpSync(original.dataDir, join(folder, 'data'), { recursive: true });
  directory = join(folder, 'work');
  cpSync(original.directory, directory, { recursive: true });
  platform = await serveAgain(join(folder, 'data'), platform.apiKey);
  // One request waits for the writes of the start, so that tests can write to the database in this process.
  const headers = { authorization: `Bearer ${platform.apiKey}` };
  expect((await fetch(`${platform.auditUrl}/streams/logins/verify`, { method: 'POST', headers })).status).toBe(200);
});
afterEach(() => platform.stop());
afterAll(() => address.close());

const environment = () => ({ ...platform.env, EVIDENCE_AUDIT_URL: address.auditUrl });

async function exportMonth(name: string, ...flags: string[]) {
  const args = ['export', '--request', name, '--json', ...flags, ...keys];
  const { code, stdout, stderr } = await evidence(args, { cwd: directory, env: environment() });
  const run = JSON.parse(stdout);
  const payments = run.streams?.find((stream: { stream_id: string }) => stream.stream_id === 'payments');
  return { code, run, stderr, payments };
}

/** Returns the output for a reader at a terminal. */
async function words(name: string): Promise<string> {
  return (await evidence(['export', '--request', name, '--all-time'], { cwd: directory, env: environment() })).stdout;
}

const verifyArchive = async () => {
  const { code, stdout } = await evidence(['verify', 'evidence-archive', '--json', ...keys], { cwd: directory });
  return { code, report: JSON.parse(stdout) };
};

const ledgerHeads = () => {
  const folder = join(directory, 'evidence-archive/ledger');
  const newest = readdirSync(folder).sort().at(-1) ?? '';
  return JSON.parse(readFileSync(join(folder, newest), 'utf8')).heads;
};

describe('November', () => {
  const ALL: [words: string, flags: string[]] = ['with all of the history', ['--all-time']];
  const ALONE: [words: string, flags: string[]] = ['by itself', ['--from', 'turn']];

  test('follows October cleanly', async () => {
    await postEntries(platform, someEntries('payments', 5));
    const { code, payments, run } = await exportMonth('2026-11', '--from', turn);
    expect(payments.claims.continuity).toEqual({
      state: 'proved',
      basis: 'follows entry 40, the head of run 2026-10',
    });
    expect([payments.first_sequence, payments.head.sequence]).toEqual([41, 45]);
    // The other stream has no new entries.
    expect([code, run.outcome, run.reconciliation.empty]).toEqual([0, 'verified', 1]);
    expect(ledgerHeads().payments).toMatchObject({ sequence: 45, run_id: '2026-11' });
    expect(ledgerHeads().logins).toMatchObject({ sequence: 10, run_id: '2026-10' });
    expect((await verifyArchive()).code).toBe(0);
  });

  test.each(someRows([ALL, ALONE], () => 'rewritten'))(
    'after October was rewritten with the seal key: %s',
    async (_words, flags) => {
      const head = ledgerHeads().payments.hash;
      const [id = ''] = readdirSync(join(directory, 'keys')).filter((name) => keysOf('payments').includes(name));
      await postEntries(platform, someEntries('payments', 5));
      const roots = join(platform.dataDir, 'authority/root.pem');
      const key = Buffer.from(
        readFileSync(join(directory, 'keys', id), 'utf8')
          .trim()
          .replace('hex:', ''),
        'hex',
      );
      rewriteHistory(platform.dataDir, 'payments', 20, key);
      const { code, payments } = await exportMonth(
        '2026-11',
        '--timestamp-roots',
        roots,
        ...flags.map((flag) => (flag === 'turn' ? turn : flag)),
      );
      expect([payments.claims.order.state, payments.claims.content.state, payments.claims.seal.state]).toEqual([
        'proved',
        'proved',
        'proved',
      ]);
      expect([code, payments.status, payments.claims.continuity.state]).toEqual([1, 'refuted', 'refuted']);
      const finding = payments.findings.find((one: { code: string }) => one.code === 'continuity/rewritten');
      expect(finding).toMatchObject({
        sequence: 40,
        expected: head,
        message: 'entry 40 is not the one that run 2026-10 exported',
      });
      expect(finding.actual).not.toBe(head);
      // The old token covers entry 40, so the comparison needs a package that contains entry 40.
      if (flags.includes('--all-time'))
        expect(payments.findings).toContainEqual(
          expect.objectContaining({ code: 'anchor/imprint-mismatch', sequence: 40, expected: head }),
        );
      expect(ledgerHeads().payments).toMatchObject({ sequence: 40, hash: head, run_id: '2026-10' });
      expect((await verifyArchive()).report.objects.altered).toEqual([]);
    },
  );

  test.each(someRows([ALONE, ALL], () => 'cut off'))(
    'after the end of October was cut off: %s',
    async (_words, flags) => {
      cutOff(platform.dataDir, 'payments', 30);
      const { code, payments } = await exportMonth('2026-11', ...flags.map((flag) => (flag === 'turn' ? turn : flag)));
      expect([code, payments.claims.continuity.state]).toEqual([1, 'refuted']);
      expect(payments.findings).toContainEqual(
        expect.objectContaining({
          code: 'continuity/truncated',
          from: 31,
          to: 40,
          message: 'the stream now ends at entry 30; run 2026-10 exported it up to entry 40',
        }),
      );
      expect(ledgerHeads().payments).toMatchObject({ sequence: 40 });
    },
  );

  test('after a stream vanished, until that is explained', async () => {
    removeStream(platform.dataDir, 'payments');
    const { code, run } = await exportMonth('2026-11', '--from', turn);
    expect([code, run.outcome]).toEqual([1, 'refuted']);
    expect(run.vanished).toMatchObject([
      {
        stream_id: 'payments',
        head: { sequence: 40, run_id: '2026-10' },
        finding: { code: 'continuity/stream-vanished' },
      },
    ]);
    const accepted = await evidence(['ledger', 'accept', 'payments', '--reason', 'moved to payments-eu, OPS-411'], {
      cwd: directory,
    });
    expect([accepted.code, accepted.stdout]).toEqual([0, expect.stringContaining('no longer compared with entry 40')]);
    await acceptedByPlatform();
    const explained = await exportMonth('2026-12', '--all-time');
    expect([explained.code, explained.run.vanished]).toEqual([0, []]);
    expect(explained.run.acceptances).toMatchObject([
      { stream_id: 'payments', reason: 'moved to payments-eu, OPS-411' },
    ]);
    expect(await words('2027-01')).toMatch(/accepted payments: .*moved to payments-eu, OPS-411/);
    const { code: verified, report } = await verifyArchive();
    // The run of November stays refuted.
    expect([verified, report.ledger.state, report.objects.altered]).toEqual([1, 'intact', []]);
    expect(report.runs.flatMap(({ vanished }: { vanished: object[] }) => vanished)).toMatchObject([
      { stream_id: 'payments' },
    ]);
  });

  test('after a stream began anew on purpose', async () => {
    removeStream(platform.dataDir, 'payments');
    await postEntries(platform, someEntries('payments', 3));
    expect((await exportMonth('2026-11', '--all-time')).code).toBe(1);
    await evidence(['ledger', 'accept', 'payments', '--reason', 'new database'], { cwd: directory });
    await acceptedByPlatform();
    const { code, payments } = await exportMonth('2026-12', '--all-time');
    expect([code, payments.claims.continuity.state]).toEqual([0, 'proved']);
    expect(payments.claims.continuity.basis).toMatch(
      /^contains entry 3, the head of run 2026-11, unchanged; a restart or an end after entry 40 of run 2026-10 was accepted .*: new database/,
    );
    const { code: verified, report } = await verifyArchive();
    // The refuted run stays refuted.
    expect([verified, report.ledger.state, report.objects.altered]).toEqual([1, 'intact', []]);
  });
});

/** Makes the platform accept that a stream is gone, as its operator does. */
async function acceptedByPlatform(): Promise<void> {
  const { code } = await runPlatform(['fsck', '--data', platform.dataDir, '--accept', 'OPS-411']);
  expect(code).toBe(0);
}

test('an acceptance that was altered or removed is found', async () => {
  removeStream(platform.dataDir, 'payments');
  expect((await exportMonth('2026-11', '--all-time')).code).toBe(1);
  await evidence(['ledger', 'accept', 'payments', '--reason', 'new database'], { cwd: directory });
  const folder = join(directory, 'evidence-archive/acceptances');
  const [name = ''] = readdirSync(folder);
  chmodSync(join(folder, name), 0o644);
  writeFileSync(join(folder, name), readFileSync(join(folder, name), 'utf8').replace('new database', 'old database'));
  const altered = await verifyArchive();
  expect([altered.code, altered.report.objects.altered[0].key]).toEqual([1, `acceptances/${name}`]);
  rmSync(join(folder, name));
  const missing = await verifyArchive();
  expect([missing.code, missing.report.objects.missing[0].key]).toEqual([1, `acceptances/${name}`]);
});

test('nothing can be accepted for a stream that the ledger does not know', async () => {
  const { code, stderr } = await evidence(['ledger', 'accept', 'unknown', '--reason', 'x'], { cwd: directory });
  expect([code, stderr]).toEqual([2, expect.stringContaining('the ledger has no head of a stream "unknown"')]);
});

/** Returns the ids of the seal keys in a stream's exported entries. */
function keysOf(streamId: string): string[] {
  const folder = join(directory, 'evidence-archive/runs/2026-10/streams');
  const record = readdirSync(folder).find((name) => name.startsWith(streamId) && name.endsWith('.json')) ?? '';
  expect(JSON.parse(readFileSync(join(folder, record), 'utf8')).claims.seal.state).toBe('proved');
  return [`e1-${createHash('sha256').update(streamId).digest('hex').slice(0, 16)}`];
}
