import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { writeBundle } from '../../src/exporter/bundle/write.ts';
import { deriveBindingKey } from '../../src/exporter/export/binding.ts';
import { parseBagInfo } from '../../src/verifier/bundle/layout.ts';
import { openBundle } from '../../src/verifier/bundle/read.ts';
import type { Asked } from '../../src/verifier/records/question.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { InterruptedExports } from '../support/interrupted-exports.ts';
import { type Lie, type LyingService, lieAbout } from '../support/lying-service.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { someRows } from '../support/some-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'recovery-attacks-'));
const NOT_OURS = /is not accepted for this run: it is not bound to .*\nNothing was overwritten.*--revise/;

let platform: ServedPlatform;
/** Another operator's service, with streams of the same names. */
let other: ServedPlatform;
let service: LyingService;
let lie: Lie = () => undefined;
let key: KeyFiles;
let otherKey: KeyFiles;
/** Archive with a run R1 that another operator made. */
let foreign: string;
let directory: string;

const inArchive = (path: string, root = directory) => join(root, 'evidence-archive', path);
const filesOf = (path: string, root = directory) =>
  existsSync(inArchive(path, root)) ? readdirSync(inArchive(path, root), { recursive: true, encoding: 'utf8' }) : [];

function configure(root: string, sign: object, verify: object = {}): void {
  writeFileSync(join(root, 'evidence.yaml'), JSON.stringify({ sign, verify }));
}

function startExport(more: string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  const words = ['export', '--request', 'R1', '--all-time', ...more];
  return evidence(words, { cwd: directory, env: { ...ourEnv(), ...env } });
}

function ourEnv() {
  return { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: platform.apiKey };
}

/** Interrupted exports of one run; the first test that needs them creates them. */
let interrupted: InterruptedExports | undefined;

/** Leaves a run as an interruption does. @param ending pattern of the last object name that is stored. */
async function interrupt(ending: RegExp): Promise<void> {
  if (interrupted === undefined) {
    const cwd = mkdtempSync(join(folder, 'interrupted-'));
    configure(cwd, { key_file: key.file });
    interrupted = await InterruptedExports.make(['export', '--request', 'R1', '--all-time'], { cwd, env: ourEnv() });
  }
  interrupted.leave(ending, inArchive('.'));
}

function put(path: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(inArchive(path)), { recursive: true });
  if (existsSync(inArchive(path))) chmodSync(inArchive(path), 0o600);
  writeFileSync(inArchive(path), bytes);
}

function edit(path: string, change: (text: string) => string): void {
  const before = readFileSync(inArchive(path), 'utf8');
  const after = change(before);
  expect(after).not.toBe(before);
  put(path, after);
}

const verifyUnder = (publicKey: KeyFiles) =>
  evidence(['verify', 'evidence-archive', '--public-key', publicKey.publicFile], { cwd: directory });

beforeAll(async () => {
  [platform, other] = await Promise.all([servePlatform(), servePlatform()]);
  await postEntries(platform, someEntries('payments', 12));
  await postEntries(other, [...someEntries('payments', 10), ...someEntries('ghost', 3)]);
  service = await lieAbout(platform.auditUrl, (path, answer) => lie(path, answer));
  key = await makeKey(folder, 'ours.pem', 'ed25519');
  otherKey = await makeKey(folder, 'theirs.pem', 'ed25519');
  foreign = mkdtempSync(join(folder, 'foreign-'));
  configure(foreign, { key_file: otherKey.file });
  const made = await evidence(['export', '--request', 'R1', '--all-time'], { cwd: foreign, env: other.env });
  expect(made.code, made.stderr).toBe(0);
});
afterAll(async () => {
  service.close();
  await Promise.all([platform.stop(), other.stop()]);
});
beforeEach(() => {
  lie = () => undefined;
  directory = mkdtempSync(join(folder, 'ours-'));
  configure(directory, { key_file: key.file });
});

describe('put there before the first export of the run', () => {
  const OTHER_SERVICE = /run R1 was finalized with different options: audit service: http/;
  type Row = [kind: string, words: string, planted: RegExp, code?: number, said?: RegExp];
  const ROWS: Row[] = [
    ['of a stream', 'a bundle', /^streams\/payments-.*\.zip$/],
    ['of a stream', 'a bundle and its record', /^streams\/payments-.*\.(zip|json)$/],
    ['unlisted', 'a bundle of a stream that the service does not list', /^streams\/ghost-.*\.zip$/],
    ['unlisted', 'bundle and record of a stream that the service does not list', /^streams\/ghost-.*\.(zip|json)$/],
    ['closed', 'all records, bundles and reports of a run', /^(?!run\.).*/],
    ['finalized', 'all of a run but signature and ledger entry', /^(?!run\.dsse)/, 2, OTHER_SERVICE],
  ];
  test.each(someRows(ROWS, ([kind]) => kind))(
    '%s: %s is neither believed nor signed, and the run is exported as a revision',
    async (_kind, _words, planted, wanted = 3, said = NOT_OURS) => {
      for (const name of filesOf('runs/R1', foreign))
        if (planted.test(name) && /\.[a-z]+$/.test(name))
          put(`runs/R1/${name}`, readFileSync(inArchive(`runs/R1/${name}`, foreign)));
      const before = filesOf('').toSorted();
      const { code, stderr } = await startExport();
      expect([code, stderr]).toEqual([wanted, expect.stringMatching(said)]);
      expect(filesOf('').toSorted()).toEqual(before);

      const revised = await startExport(['--revise']);
      expect(revised.code, revised.stderr).toBe(0);
      const run = JSON.parse(readFileSync(inArchive('runs/R1.r2/run.json'), 'utf8'));
      expect(run).toMatchObject({ recovered: 0, left_over: [], streams: [{ stream_id: 'payments', entries: 12 }] });
      // The report names the superseded run, and verification counts none of its results.
      expect(run.supersedes).toEqual(['R1']);
      const verified = await verifyUnder(key);
      expect([verified.code, verified.stdout]).toEqual([
        0,
        expect.stringContaining('Run R1 was not finished, and run R1.r2 replaces it'),
      ]);
    },
  );

  test.each([
    ['a signature for a record that is not there yet', 'run.dsse.json'],
    ['a time-stamp', 'run.tsr'],
    ['a report', 'report.pdf'],
    ['an order about a run that is not finalized', 'hold-log/2026-01-01T00-00-00.000Z-hold.json'],
  ])('%s stops the export', async (_words, name) => {
    put(`runs/R1/${name}`, '{}');
    const { code, stderr } = await startExport();
    expect([code, stderr]).toEqual([3, expect.stringContaining(`runs/R1/${name} is not accepted for this run`)]);
    expect(filesOf('runs/R1').filter((path) => path.includes('streams'))).toEqual([]);
  });
});

describe('an interrupted run of our own', () => {
  const STORED = /\.zip$/;
  const RECORDED = /streams\/payments-.*\.json$/;
  const DRAFTED = /run-draft\.json$/;

  test('goes on with what it left, and says how much of it that was', async () => {
    await interrupt(STORED);
    const { code, stderr } = await startExport();
    expect(code, stderr).toBe(0);
    const run = JSON.parse(readFileSync(inArchive('runs/R1/run.json'), 'utf8'));
    expect(run).toMatchObject({ recovered: 1, left_over: [], warnings: [] });
    expect((await verifyUnder(key)).code).toBe(0);
  });

  const RECORD = /^runs\/R1\/streams\/payments-.*\.json$/;
  const named = (pattern: RegExp) => {
    const found = filesOf('').find((path) => pattern.test(path));
    return found ?? expect.unreachable(`nothing is named ${pattern}`);
  };

  type Row = [words: string, ending: RegExp, change: () => void | Promise<void>, said: RegExp];
  const REWRITTEN = '0'.repeat(64);
  test.each<Row>([
    [
      'its record altered',
      RECORDED,
      () => edit(named(RECORD), (text) => text.replace('"entries": 12', '"entries": 13')),
      NOT_OURS,
    ],
    [
      'the record put under another stream',
      RECORDED,
      () => put('runs/R1/streams/ghost-00000000.json', readFileSync(inArchive(named(RECORD)))),
      /is not accepted for this run/,
    ],
    [
      'its draft altered',
      DRAFTED,
      () => edit('runs/R1/run-draft.json', (text) => text.replace('"exit_code": 0', '"exit_code": 4')),
      NOT_OURS,
    ],
    [
      'the service ends earlier now',
      STORED,
      () => {
        lie = restate({ head_sequence: 11 });
      },
      /holds entries up to 12, and the service now ends at 11/,
    ],
    [
      'the service has another head now',
      RECORDED,
      () => {
        lie = restate({ head_hash: REWRITTEN });
      },
      /now states another digest of entry 12/,
    ],
    [
      'the service lists another entry now',
      STORED,
      () => {
        lie = relist;
      },
      /listed with another digest: the service now lists different entries/,
    ],
  ])('%s: nothing is finalized', async (_words, ending, change, said) => {
    await interrupt(ending);
    await change();
    const { code, stderr } = await startExport();
    expect([code, stderr]).toEqual([3, expect.stringMatching(said)]);
    expect(filesOf('runs/R1')).not.toContain('run.json');
    expect(filesOf('ledger')).toEqual([]);
  });

  test('a stream that the service no longer lists is named, and not counted as listed', async () => {
    await interrupt(STORED);
    await postEntries(platform, someEntries('payments', 0));
    lie = (path, answer) => (path.includes('/streams/?') ? { ...answer, data: [] } : undefined);
    const { code } = await startExport();
    const run = JSON.parse(readFileSync(inArchive('runs/R1/run.json'), 'utf8'));
    expect([code, run.reconciliation.listed, run.reconciliation.exported]).toEqual([1, 0, 0]);
    expect(run.vanished).toMatchObject([{ stream_id: 'payments', head: { sequence: 12, run_id: 'R1' } }]);
    const { stdout, stderr } = await verifyUnder(key);
    expect(stdout + stderr).not.toMatch(/record\/differs/);
  });

  type Forged = [words: string, change: (path: string, text: string) => string, said: RegExp];
  test.each<Forged>([
    [
      'states a claim as proved that it is not',
      (path, text) =>
        path === 'data/verification.json'
          ? text.replace(/"seal": \{\s*"state": "unproved"/, '"seal": {"state": "proved"')
          : text,
      /keys, roots or this program have changed|verification\.json/,
    ],
    [
      'has an entry that is not the one hashed',
      (path, text) => (path === 'data/evidence.json' ? text.replace('svc-backup', 'svc-backuq') : text),
      /evidence\.json|transfer-log\.json/,
    ],
    [
      'is of another run',
      (path, text) => (path === 'data/verification.json' ? text.replace('"run_id": "R1"', '"run_id": "R2"') : text),
      /another run|run R2|bag-info\.txt/,
    ],
    [
      'comes from elsewhere',
      (path, text) =>
        path === 'data/transfer-log.json'
          ? text.replace(/"audit_url": "[^"]*"/, '"audit_url": "http://elsewhere"')
          : text,
      /http:\/\/elsewhere/,
    ],
  ])('even a bundle of ours is not taken that %s', async (_words, change, said) => {
    await interrupt(STORED);
    await rebind(named(/\.zip$/), change);
    const { code, stderr } = await startExport();
    expect([code, stderr]).toEqual([3, expect.stringMatching(said)]);
    expect(filesOf('runs/R1')).not.toContain('run.json');
  });
});

describe('the ledger that an export goes on with', () => {
  const next = (...more: string[]) =>
    evidence(['export', '--request', 'R2', '--all-time', ...more], { cwd: directory, env: ourEnv() });
  const digestOf = (path: string) => sha256(readFileSync(inArchive(path)));
  const withoutHeads = (text: string) => text.replace(/"heads": \{[\s\S]*?\n {2}\}/, '"heads": {}');

  test.each<[words: string, sign: () => object, change: () => void, code: number, said: RegExp]>([
    [
      'signed, and its heads taken out',
      () => ({ key_file: key.file }),
      () => edit('ledger/00000001.json', withoutHeads),
      3,
      /is not the entry that the key .* signed/,
    ],
    [
      'unsigned, and its heads taken out',
      () => ({}),
      () => edit('ledger/00000001.json', withoutHeads),
      3,
      /is not the entry that follows from its record/,
    ],
    [
      'replaced by one under another key',
      () => ({ key_file: key.file }),
      () => cpSync(inArchive('ledger', foreign), inArchive('ledger'), { recursive: true, force: true }),
      2,
      /is signed with the unknown key/,
    ],
    [
      'moved on, the first entry gone',
      () => ({ key_file: key.file }),
      () => put('ledger/00000003.json', readFileSync(inArchive('ledger/00000001.json'))),
      3,
      /00000002.json is missing/,
    ],
  ])('%s', async (_words, sign, change, wanted, said) => {
    configure(directory, sign());
    expect((await startExport()).code).toBe(0);
    change();
    const { code, stderr } = await next();
    expect([code, stderr]).toEqual([wanted, expect.stringMatching(said)]);
    expect(filesOf('runs/R2')).toEqual([]);
  });

  const accept = (...more: string[]) =>
    evidence(['ledger', 'accept', 'payments', '--reason', 'moved', ...more], { cwd: directory });

  test('unsigned, where a signed one was: it is signed only by who says that signing begins, and the run says so', async () => {
    expect((await startExport()).code).toBe(0);
    for (const part of ['ledger', 'runs']) rmSync(inArchive(part), { recursive: true });
    configure(directory, {});
    expect((await startExport()).code).toBe(0);
    configure(directory, { key_file: key.file });
    const before = filesOf('').toSorted();
    // No command reports the foreign run as ours.
    for (const { code, stderr } of [await next(), await accept(), await startExport()])
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /00000001.json is not signed: .*\nNothing was signed.*verify the archive.*--begin-signing/,
        ),
      ]);
    expect(filesOf('').toSorted()).toEqual(before);

    const begun = await next('--begin-signing');
    expect([begun.code, begun.stdout]).toEqual([0, expect.stringContaining('before entry 2 of the ledger were not')]);
    const { warnings } = JSON.parse(readFileSync(inArchive('runs/R2/run.json'), 'utf8'));
    expect(warnings).toEqual([
      { code: 'unsigned-before', message: 'runs before entry 2 of the ledger were not signed' },
    ]);
    // `--begin-signing` works once: a command that repeats it every month would sign anything that it finds.
    expect((await accept('--begin-signing')).code).toBe(2);
    expect((await accept()).stderr).toMatch(/nothing to accept/);
  });

  test('signing never begins without a key, nor with an acceptance of nothing', async () => {
    configure(directory, {});
    expect((await startExport()).code).toBe(0);
    expect((await next('--begin-signing')).stderr).toMatch(/--begin-signing needs a signing key/);
    configure(directory, { key_file: key.file });
    expect((await accept('--begin-signing')).stderr).toMatch(/nothing to accept/);
    expect(filesOf('ledger')).toHaveLength(1);
  });

  test('an entry that comes while the export runs is not signed, nor is the run; mended, the same command ends well', async () => {
    expect((await startExport()).code).toBe(0);
    lie = () => {
      const first = JSON.parse(readFileSync(inArchive('ledger/00000001.json'), 'utf8'));
      const { signature: _signature, ...entry } = first;
      const planted = { ...entry, number: 2, previous_sha256: digestOf('ledger/00000001.json'), spans: {}, heads: {} };
      put('ledger/00000002.json', `${JSON.stringify(planted, null, 2)}\n`);
      return undefined;
    };
    const { code, stderr } = await next();
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/00000002.json was added to the ledger in the meantime.*\n.*verify/),
    ]);
    expect(filesOf('runs/R2')).not.toContain('run.dsse.json');
    expect(filesOf('ledger')).toHaveLength(2);

    lie = () => undefined;
    expect((await next()).code).toBe(3);
    rmSync(inArchive('ledger/00000002.json'));
    expect((await next()).code).toBe(0);
    expect((await verifyUnder(key)).code).toBe(0);
  });

  test('an acceptance that it does not name accepts nothing', async () => {
    expect((await startExport()).code).toBe(0);
    const acceptance = {
      format: 'evidence-acceptance/7',
      stream_id: 'payments',
      reason: 'trust me',
      accepted_by: { user: 'mallory', host: 'm' },
      accepted_at: '2026-01-01T00:00:00.000Z',
      head: { sequence: 12, hash: REWRITTEN_HEAD, run_id: 'R1' },
    };
    put('acceptances/payments-x.json', `${JSON.stringify(acceptance, null, 2)}\n`);
    expect((await next()).code).toBe(0);
    expect(JSON.parse(readFileSync(inArchive('runs/R2/run.json'), 'utf8')).acceptances).toEqual([]);
    expect((await verifyUnder(key)).code).toBe(1);
  });
});

const REWRITTEN_HEAD = 'b'.repeat(64);

/** Changes the streams in the service's list. */
function restate(statement: object): Lie {
  return (path, answer) =>
    path.includes('/streams/?')
      ? { ...answer, data: answer.data.map((stream: object) => ({ ...stream, ...statement })) }
      : undefined;
}

/** Changes a digest in the listing of entries and leaves the list of streams unchanged. */
const relist: Lie = (path, answer) =>
  path.includes('/entries/?')
    ? {
        ...answer,
        data: answer.data.map((entry: { sequence: number }) =>
          entry.sequence === 5 ? { ...entry, hash: 'c'.repeat(64) } : entry,
        ),
      }
    : undefined;

/** Rebuilds the bundle with other content, and binds it as an attacker with our key would. */
async function rebind(path: string, change: (path: string, text: string) => string): Promise<void> {
  const file = inArchive(path);
  const bundle = await openBundle(file);
  const contents = new Map<string, string>();
  for (const { path: name } of bundle.entries)
    contents.set(name, change(name, Buffer.from(await bundle.readFile(name, 1e7)).toString('latin1')));
  await bundle.close();
  const { readSigningKey } = await import('../../src/exporter/ledger/signing-key.ts');
  const signingKey = readSigningKey(readFileSync(key.file, 'utf8'), null, 'key');
  const asked: Asked = JSON.parse(readFileSync(inArchive('runs/R1/asked.json'), 'utf8'));
  const info = parseBagInfo(contents.get('bag-info.txt') ?? '') ?? [];
  const target = join(folder, 'rebound.zip');
  await writeBundle({
    target,
    slug: bundle.folder,
    bagInfo: info.filter(([label]) => !/^(Payload-Oxum|Bagging-Date)$/.test(label)),
    date: info.find(([label]) => label === 'Bagging-Date')?.[1] ?? '',
    tagFiles: [{ name: 'README.txt', content: Buffer.from(contents.get('README.txt') ?? '', 'latin1') }],
    payload: [...contents]
      .filter(([name]) => name.startsWith('data/'))
      .map(([name, text]) => ({ path: name, content: Buffer.from(text, 'latin1') })),
    binding: { key: await deriveBindingKey(asked, { signingKey, apiKey: '' }), place: path },
  });
  put(path, readFileSync(target));
}
