import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { readRoots } from '../../src/core/timestamp/roots.ts';
import { openDirectoryArchive } from '../../src/exporter/archive/directory/archive.ts';
import { readPublicKey } from '../../src/verifier/signature/key.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import type { ArchiveReport } from '../../src/verifier/verify/archive-report.ts';
import { shellLines } from '../support/documents.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { unusedUrl } from '../support/fault-server.ts';
import { InterruptedExports } from '../support/interrupted-exports.ts';
import { type KeyFiles, KINDS, makeKey, opensslVerifies } from '../support/openssl-keys.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { run } from '../support/process.ts';
import { sigstoreVerifies } from '../support/sigstore.ts';
import { someRows } from '../support/some-rows.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../support/tsa.ts';

// Each test runs several processes, on machines that do other work too.

const PASSPHRASE = 'correct horse battery staple';
const TSA_PASSWORD = 'tsa-Pa55word';

let platform: ServedPlatform;
let authority: OpensslAuthority;
const keyFolder = mkdtempSync(join(tmpdir(), 'signing-test-keys-'));
let key: KeyFiles;
let directory: string;

beforeAll(async () => {
  platform = await servePlatform();
  await postEntries(platform, [...someEntries('payments', 12), ...someEntries('logins', 3)]);
  authority = await startOpensslAuthority(join(keyFolder, 'tsa'));
  key = await makeKey(keyFolder, 'signing.pem', 'ed25519');
});
afterAll(async () => {
  await authority.close();
  await platform.stop();
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signing-test-'));
});

/** Writes the signing section of evidence.yaml. */
function configure(sign: Record<string, string>, verify: Record<string, string[]> = {}): void {
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ sign, verify }));
}
const stamped = () => ({ tsa_url: authority.url, tsa_roots: authority.rootFile });

const exportRun = (request: string, env: Record<string, string> = {}, ...flags: string[]) =>
  evidence(['export', '--request', request, '--all-time', ...flags], {
    cwd: directory,
    env: { ...platform.env, ...env },
  });
/** Verifies in this process as `evidence verify` does. */
async function verify(keys: readonly KeyFiles[], ...rootFiles: string[]): Promise<ArchiveReport> {
  const archive = await openDirectoryArchive(inArchive('.'), { create: false });
  const roots = rootFiles.flatMap((file) => readRoots(readFileSync(file, 'utf8'), file));
  const trust = {
    publicKeys: keys.map(({ publicFile }) => readPublicKey(readFileSync(publicFile, 'utf8'), publicFile)),
    stampRoots: roots.length === 0 ? null : roots,
  };
  const rest = { contract: null, sealKeys: new Map(), roots: null, now: new Date(), workDirectory: directory };
  return verifyArchive({ archive, ...trust, ...rest });
}
const inArchive = (path: string) => join(directory, 'evidence-archive', path);
const filesOfArchive = () =>
  readdirSync(inArchive('.'), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(inArchive('.').length + 1))
    .sort();
const said = ({ stdout, stderr }: Ended) => stdout + stderr;

describe.each(KINDS)('a run signed with %s and time-stamped', (kind) => {
  test('is accepted by openssl and by sigstore, and by verify under key and root', async () => {
    const files = await makeKey(keyFolder, `${kind}.pem`, kind);
    configure({ key_file: files.file, ...stamped() });
    const exported = await exportRun('AUD-1');
    expect([exported.code, exported.stdout]).toEqual([
      0,
      expect.stringMatching(/Signature +runs\/AUD-1\/run.dsse.json\nTime-stamp +runs\/AUD-1\/run.tsr/),
    ]);

    const envelope = JSON.parse(readFileSync(inArchive('runs/AUD-1/run.dsse.json'), 'utf8'));
    expect(sigstoreVerifies(envelope, readFileSync(files.publicFile, 'utf8'))).toBe(true);
    const payload = Buffer.from(envelope.payload, 'base64');
    const encoded = `DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${payload.length} ${payload.toString('latin1')}`;
    const [{ sig }] = envelope.signatures;
    expect(await opensslVerifies(directory, kind, files, Buffer.from(encoded, 'latin1'), sig)).toBe(true);

    // The subjects are the files that auditors receive, with digests that sha256sum confirms.
    const { _type, subject } = JSON.parse(payload.toString());
    expect(_type).toBe('https://in-toto.io/Statement/v1');
    const names = subject.map(({ name }: { name: string }) => name);
    expect(names).toEqual(
      filesOfArchive().filter(
        (name) => /^runs\//.test(name) && !/run\.(tsr|dsse\.json)$|streams\/[^/]+\.json$/.test(name),
      ),
    );
    expect(names).toHaveLength(8);
    for (const { name, digest } of subject)
      expect(
        createHash('sha256')
          .update(readFileSync(inArchive(name)))
          .digest('hex'),
      ).toBe(digest.sha256);

    // Manual verification as in the topic: the ledger entry without its signature, and the token over run.json.
    const entry = await run('jq', ['del(.signature)', inArchive('ledger/00000001.json')], directory);
    const { signature } = JSON.parse(readFileSync(inArchive('ledger/00000001.json'), 'utf8'));
    const type = 'application/vnd.evidence-exporter.ledger-entry-sha256';
    const digest = createHash('sha256').update(entry).digest('hex');
    const entryEncoded = `DSSEv1 ${type.length} ${type} 64 ${digest}`;
    expect(await opensslVerifies(directory, kind, files, Buffer.from(entryEncoded), signature.sig)).toBe(true);
    expect(
      await run(
        'openssl',
        [
          'ts',
          '-verify',
          '-data',
          inArchive('runs/AUD-1/run.json'),
          '-in',
          inArchive('runs/AUD-1/run.tsr'),
          '-CAfile',
          authority.rootFile,
        ],
        directory,
      ),
    ).toMatch(/Verification: OK/);

    const flags = ['--public-key', files.publicFile, '--stamp-roots', authority.rootFile];
    const { code, stdout } = await evidence(['verify', 'evidence-archive', '--json', ...flags], { cwd: directory });
    const report = JSON.parse(stdout);
    expect([code, report.signatures]).toEqual([0, { state: 'proved', keys: [files.id], from: 1, findings: [] }]);
    expect(report.runs[0]).toMatchObject({
      signed_by: files.id,
      stamps: [{ state: 'proved', authority: 'CN=Test Authority' }],
    });
  });
});

test('a bundle, a record, the envelope, the token: what is altered or exchanged is named', async () => {
  configure({ key_file: key.file, ...stamped() });
  await exportRun('AUD-1');
  await exportRun('AUD-2');
  const [bundle = ''] = filesOfArchive().filter((name) => /AUD-1\/streams\/.*zip$/.test(name));
  const rows: [path: string, from: string, codes: string[]][] = [
    [
      bundle,
      bundle.replace('AUD-1', 'AUD-2'),
      ['object/altered', 'record/differs', 'record/differs', 'record/differs', 'record/differs'],
    ],
    ['runs/AUD-1/run.dsse.json', 'runs/AUD-2/run.dsse.json', ['signature/differs']],
    ['runs/AUD-1/run.tsr', 'runs/AUD-2/run.tsr', ['stamp/refuted']],
  ];
  for (const [path, from, codes] of rows) {
    const before = readFileSync(inArchive(path));
    rmSync(inArchive(path));
    copyFileSync(inArchive(from), inArchive(path));
    const { exit_code, runs } = await verify([key], authority.rootFile);
    expect([path, exit_code, runs[0]?.findings.map((finding) => finding.code)]).toEqual([path, 1, codes]);
    rmSync(inArchive(path));
    writeFileSync(inArchive(path), before);
  }
  expect((await verify([key], authority.rootFile)).exit_code).toBe(0);
});

describe('killed, and started again by the same command', () => {
  let interrupted: InterruptedExports;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'signing-test-'));
    configure({ key_file: key.file, ...stamped() });
    const words = ['export', '--request', 'AUD-1', '--all-time'];
    interrupted = await InterruptedExports.make(words, { cwd: directory, env: platform.env });
  });

  const ENDINGS: [ending: RegExp, how: string][] = [
    [/archive\.json$/, 'begun'],
    [/asked\.json$/, 'begun'],
    [/run-draft\.json$/, 'frozen'],
    [/report\.pdf$/, 'frozen'],
    [/index\.csv$/, 'frozen'],
    [/report\.html$/, 'frozen'],
    [/runs\/AUD-1\/run\.json$/, 'finalized'],
    [/\.pem$/, 'its key stored'],
    [/run\.dsse\.json$/, 'signed'],
    [/ledger\/00000001\.json$/, 'recorded'],
    [/run\.tsr$/, 'stamped'],
  ];
  test.each(someRows(ENDINGS, ([, how]) => how))(
    'after %s was stored (%s), it ends as if nothing had happened',
    async (ending, how) => {
      configure({ key_file: key.file, ...stamped() });
      interrupted.leave(ending, inArchive('.'));
      const left = filesOfArchive();
      expect(left.some((name) => ending.test(name))).toBe(true);
      expect(left.includes('runs/AUD-1/run.tsr')).toBe(how === 'stamped');

      const again = await exportRun('AUD-1');
      expect([again.code, again.stderr.match(/evidence: .*/)]).toEqual([0, null]);
      const outside = filesOfArchive().filter((name) => !/streams\//.test(name));
      expect(outside).toEqual([
        'archive.json',
        `keys/${key.id}.pem`,
        'ledger/00000001.json',
        'runs/AUD-1/asked.json',
        'runs/AUD-1/index.csv',
        'runs/AUD-1/report.html',
        'runs/AUD-1/report.pdf',
        'runs/AUD-1/run-draft.json',
        'runs/AUD-1/run.dsse.json',
        'runs/AUD-1/run.json',
        'runs/AUD-1/run.tsr',
      ]);
      const { outcome, signatures, runs } = await verify([key], authority.rootFile);
      expect([outcome, signatures.state, runs[0]?.stamps[0]?.state]).toEqual(['verified', 'proved', 'proved']);
    },
  );
});

test('an authority that is out of reach: the run is finalized, exit 3 says what is missing, the same command adds it', async () => {
  configure({ key_file: key.file, tsa_url: `${await unusedUrl()}/tsr`, tsa_roots: authority.rootFile });
  const first = await exportRun('AUD-1');
  expect([first.code, first.stdout]).toEqual([
    3,
    expect.stringMatching(
      /Time-stamp +missing: the time-stamping authority .* does not answer: .*\n.*run the same command again/,
    ),
  ]);
  expect(filesOfArchive()).toEqual(
    expect.arrayContaining(['ledger/00000001.json', 'runs/AUD-1/run.dsse.json', 'runs/AUD-1/run.json']),
  );
  const before = await verify([key], authority.rootFile);
  expect([before.exit_code, before.outcome, before.warnings]).toEqual([
    3,
    'incomplete',
    [expect.stringMatching(/^Run AUD-1 lacks its time-stamp by http/)],
  ]);
  const json = JSON.parse((await exportRun('AUD-1', {}, '--json')).stdout);
  expect(json).toMatchObject({ outcome: 'incomplete', exit_code: 3, unstamped: { reason: expect.any(String) } });

  configure({ key_file: key.file, ...stamped() });
  expect((await exportRun('AUD-1')).code).toBe(0);
  expect((await verify([key], authority.rootFile)).exit_code).toBe(0);
});

test('a key that changes: old runs stay under the old one, and the auditor pins both', async () => {
  const next = await makeKey(keyFolder, 'next.pem', 'ecdsa-p256');
  configure({ key_file: key.file });
  await exportRun('AUD-1');
  configure({ key_file: next.file });
  // Without the old key, the export cannot verify the heads that it compares with.
  const { code, stderr } = await exportRun('AUD-2');
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/00000001.json is signed with the unknown key .*\n.*public_keys/),
  ]);
  expect(existsSync(inArchive('runs/AUD-2'))).toBe(false);
  configure({ key_file: next.file }, { public_keys: [key.publicFile] });
  expect((await exportRun('AUD-2')).code).toBe(0);
  const both = await verify([key, next]);
  expect([both.exit_code, both.signatures]).toEqual([
    0,
    { state: 'proved', keys: [key.id, next.id], from: 1, findings: [] },
  ]);
  // Each later entry covers all before it. With the old key alone, entries signed by the new one remain unproved.
  const onlyNew = await verify([next]);
  expect([onlyNew.exit_code, onlyNew.signatures.state]).toEqual([0, 'proved']);
  const onlyOld = await verify([key]);
  expect([onlyOld.exit_code, onlyOld.signatures.findings]).toEqual([
    3,
    expect.arrayContaining([
      expect.objectContaining({ code: 'signature/unknown-key', key: 'ledger/00000002.json', actual: next.id }),
    ]),
  ]);
  const none = await verify([]);
  expect([none.exit_code, none.signatures.state, none.signatures.reason]).toEqual([
    0,
    'unproved',
    expect.stringMatching(/no public key was given/),
  ]);
  // The archive names the old key by its id, and holds the key that was published.
  expect(readFileSync(inArchive(`keys/${key.id}.pem`), 'utf8')).toBe(readFileSync(key.publicFile, 'utf8'));
});

test('a signed ledger is not gone on with unsigned: nothing is attempted', async () => {
  configure({ key_file: key.file });
  await exportRun('AUD-1');
  const before = filesOfArchive();
  configure({});
  const unsigned = await exportRun('AUD-2');
  expect([unsigned.code, unsigned.stderr]).toEqual([
    2,
    expect.stringMatching(/is signed, but no signing key is given\n.*sign.key_file/),
  ]);
  const words = ['ledger', 'accept', 'payments', '--reason', 'moved'];
  expect((await evidence(words, { cwd: directory })).code).toBe(2);
  expect(filesOfArchive()).toEqual(before);
  // Reporting a finalized run needs no key.
  expect((await exportRun('AUD-1')).code).toBe(0);

  configure({ key_file: key.file });
  expect((await evidence(words, { cwd: directory })).stderr).toMatch(/nothing to accept/);
  const { exit_code, signatures, ledger } = await verify([key]);
  expect([exit_code, signatures.state, ledger.entries]).toEqual([0, 'proved', 1]);
});

test('without a key the run is unsigned, and says so everywhere', async () => {
  configure({});
  const { code, stdout } = await exportRun('AUD-1');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/Signature +none: anyone who can replace the archive can do so undetected/),
  ]);
  expect(JSON.parse(readFileSync(inArchive('runs/AUD-1/run.json'), 'utf8'))).toMatchObject({
    signed: false,
    timestamp_authority: null,
  });
  const words = await evidence(['verify', 'evidence-archive'], { cwd: directory });
  expect([words.code, words.stdout]).toEqual([
    0,
    expect.stringMatching(/Signatures +internal consistency only: nothing here is signed/),
  ]);
  const refuted = await evidence(['verify', 'evidence-archive', '--public-key', key.publicFile], { cwd: directory });
  expect([refuted.code, refuted.stdout]).toEqual([
    1,
    expect.stringMatching(/signature\/missing ledger\/00000001.json/),
  ]);
});

describe('a run is stamped anew', () => {
  const restamp = async (...words: string[]) => {
    const { code, stdout, stderr } = await evidence(['restamp', '--json', ...words], { cwd: directory });
    return { code, stderr, ...JSON.parse(stdout) };
  };

  test('where the certificate ends soon, by an authority whose ends later; openssl can follow', async () => {
    configure({ key_file: key.file, ...stamped() });
    await exportRun('AUD-1');
    const notDue = await restamp('--all', '--within', '20d');
    expect([notDue.code, notDue.runs]).toMatchObject([0, [{ run_id: 'AUD-1', state: 'not-due' }]]);
    const same = await restamp('--all');
    expect([same.code, same.runs]).toMatchObject([
      3,
      [{ state: 'failed', reason: expect.stringMatching(/still uses a certificate/) }],
    ]);

    const later = await startOpensslAuthority(join(directory, 'later'), 400);
    try {
      writeFileSync(
        join(directory, 'roots.pem'),
        readFileSync(authority.rootFile, 'utf8') + readFileSync(later.rootFile, 'utf8'),
      );
      configure({ key_file: key.file, tsa_url: later.url, tsa_roots: join(directory, 'roots.pem') });
      const renewed = await restamp('AUD-1');
      expect([renewed.code, renewed.runs]).toMatchObject([0, [{ state: 'stamped' }]]);
      expect(Date.parse(renewed.runs[0].until) - Date.now()).toBeGreaterThan(390 * 86_400_000);
      expect((await restamp('--all')).runs).toMatchObject([{ state: 'not-due' }]);

      expect(await followTopic()).toMatch(
        /^Signature Verified Successfully\n(Using configuration .*\n)*Verification: OK\n(Using configuration .*\n)*Verification: OK\n$/,
      );
      const { exit_code, runs } = await verify([key], join(directory, 'roots.pem'));
      expect([exit_code, runs[0]?.stamps.map(({ state }) => state)]).toEqual([0, ['proved', 'proved']]);
      expect(runs[0]?.restamps).toEqual([
        expect.objectContaining({
          ordered_by: { user: userInfo().username, host: hostname() },
          timestamp_authority: new URL(later.url).href,
          token: { key: 'runs/AUD-1/run.2.tsr', sha256: sha256(readFileSync(inArchive('runs/AUD-1/run.2.tsr'))) },
        }),
      ]);
      const told = (await evidence(['verify', 'evidence-archive'], { cwd: directory })).stdout;
      expect(told).toContain(`restamp runs/AUD-1/run.2.tsr from ${new URL(later.url).href}, by ${userInfo().username}`);
    } finally {
      await later.close();
    }
  });

  /** Runs the commands of the topic, with the names of key, root and run replaced. */
  async function followTopic(): Promise<string> {
    const words = shellLines('signatures', 5)
      .replaceAll('2026-10', 'AUD-1')
      .replace('-inkey PUB', `-inkey ${key.publicFile}`);
    return run('sh', ['-euc', words.replaceAll('root.pem', 'roots.pem')], directory);
  }

  test('where there is no token yet; never on top of one that does not hold', async () => {
    configure({});
    await exportRun('AUD-1');
    configure(stamped());
    expect((await restamp('AUD-1')).runs).toMatchObject([{ state: 'stamped' }]);
    expect((await verify([], authority.rootFile)).runs[0]?.stamps).toMatchObject([{ state: 'proved' }]);
    const token = inArchive('runs/AUD-1/run.tsr');
    const bytes = readFileSync(token);
    rmSync(token);
    writeFileSync(token, bytes.fill(0, bytes.length - 4));
    const refuted = await restamp('AUD-1', '--within', '9000d');
    expect([refuted.code, refuted.runs]).toMatchObject([
      1,
      [{ state: 'refuted', reason: expect.stringMatching(/run.tsr is not valid/) }],
    ]);
    expect(existsSync(inArchive('runs/AUD-1/run.2.tsr'))).toBe(false);
  });
});

test('neither key nor passphrase nor password is in any object or word', async () => {
  const encrypted = join(directory, 'encrypted.pem');
  await run(
    'openssl',
    ['pkcs8', '-topk8', '-in', key.file, '-out', encrypted, '-passout', `pass:${PASSPHRASE}`],
    directory,
  );
  writeFileSync(join(directory, 'passphrase'), `${PASSPHRASE}\n`);
  const url = authority.url.replace('//', `//me:${TSA_PASSWORD}@`);
  const heard: Ended[] = [];
  const passphrase = { key_file: encrypted, passphrase_file: 'passphrase', tsa_roots: authority.rootFile };
  const rows: [Record<string, string>, Record<string, string>, number][] = [
    [{ key_file: encrypted }, {}, 2],
    [passphrase, { EVIDENCE_SIGNING_PASSPHRASE: `${PASSPHRASE} not` }, 2],
    [{ ...passphrase, tsa_url: `${await unusedUrl()}/?x=${TSA_PASSWORD}` }, {}, 3],
    [{ ...passphrase, tsa_url: url }, { EVIDENCE_SIGNING_PASSPHRASE: PASSPHRASE }, 0],
  ];
  for (const [sign, env, code] of rows) {
    configure(sign);
    heard.push(await exportRun('AUD-1', env));
    expect([sign, heard.at(-1)?.code]).toEqual([sign, code]);
  }
  const lines = [key.file, encrypted].map((file) => readFileSync(file, 'utf8').split('\n')[1] ?? 'none');
  for (const secret of [PASSPHRASE, TSA_PASSWORD, ...lines]) {
    for (const words of heard) expect(said(words)).not.toContain(secret);
    for (const name of filesOfArchive()) expect(readFileSync(inArchive(name)).includes(secret), name).toBe(false);
  }
});
