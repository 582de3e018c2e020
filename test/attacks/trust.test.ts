import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import type { FlagsOf } from '../../src/exporter/cli/commands/flags-of.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { toPem } from '../../src/verifier/signature/key.ts';
import { archivePackage, RUN } from '../support/archived-package.ts';
import { chainOf, packageOf, SEAL_KEY, type SentEntry, sealed } from '../support/chain.ts';
import { commandIn } from '../support/command.ts';
import { evidence } from '../support/evidence.ts';
import { json, startFaultServer } from '../support/fault-server.ts';
import { genTimeAt, newAuthority } from '../support/forging-authority.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { newKey } from '../support/signed-archive.ts';
import { forge, statusInfo } from '../support/tsa-forge.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON that `--json` prints.
type Report = any;
type Flags = Partial<FlagsOf<'verify'>>;

/** Keys and roots of the reader. */
const mine = mkdtempSync(join(tmpdir(), 'reader-'));
/** Folder that the reader received; `theirs` in it has the attacker's files. */
const sent = mkdtempSync(join(tmpdir(), 'received-'));
/** Empty folder. */
const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));

const CONFIGURATION = `
verify: { public_keys: [theirs/key.pem], seal_keys: { k2: theirs/k2 }, timestamp_roots: theirs/root.pem, require: [order] }
sign: { tsa_roots: theirs/root.pem }
archive: { endpoint: "http://127.0.0.1:1" }
source: { api_key_file: theirs/none }
`;

beforeAll(async () => {
  const [attacker, reader] = [newKey(), newKey()];
  const authority = await newAuthority('Attacker');
  mkdirSync(join(sent, 'theirs'));
  writeFileSync(join(sent, 'theirs/key.pem'), toPem(attacker));
  writeFileSync(join(sent, 'theirs/k2'), 'the key of somebody else');
  writeFileSync(join(sent, 'theirs/root.pem'), authority.root.pem);
  writeFileSync(join(sent, 'evidence.yaml'), CONFIGURATION);
  writeFileSync(join(mine, 'key.pem'), toPem(reader));
  writeFileSync(join(mine, 'root.pem'), (await newAuthority('Reader')).root.pem);
  writeFileSync(join(mine, 'k1'), SEAL_KEY);
  const token = (digest: string) =>
    forge(authority.signer, {
      imprint: Buffer.from(digest, 'hex'),
      genTime: genTimeAt('2026-11-02T00:00:00Z'),
      status: statusInfo(0),
    });
  const evidenceOf = (entries: SentEntry[]) => {
    const { sequence = 0, hash = '' } = entries.at(-1) ?? {};
    const anchor = { status: 'anchored', tsa_url: null, gen_time: null, token: token(hash).toString('base64') };
    const checkpoint = { checkpoint_id: 'c', stream_id: 'payments/prod', sequence, hash, created_at: '', anchor };
    return JSON.stringify(packageOf(entries, { checkpoints: [{ ...checkpoint, created_at: '2026-11-01T00:00:00Z' }] }));
  };
  const chain = chainOf(12);
  writeFileSync(join(sent, 'package.json'), evidenceOf(chain));
  writeFileSync(join(sent, 'resealed.json'), evidenceOf(resealed(chain, 7)));
  const plain = Buffer.from(JSON.stringify(packageOf(chain)));
  const lenient = { evidence: plain, required: [] };
  await writePackageBundle({ target: join(sent, 'bundle.zip'), ...lenient });
  await writePackageBundle({ target: join(sent, 'strict.zip'), evidence: plain, required: ['order', 'seal'] });
  await archivePackage(join(sent, 'archive'), { bundle: lenient, key: attacker });
  await archivePackage(join(sent, 'of-strict-run'), {
    bundle: lenient,
    required: ['order', 'content', 'seal', 'anchor'],
  });
  const record = readFileSync(join(sent, 'archive/runs', RUN, 'run.json'));
  writeFileSync(join(sent, 'archive/runs', RUN, 'run.tsr'), token(sha256(record)));
});

/** Rewrites a chain from one entry on and seals the entries with the attacker's key. */
function resealed(chain: readonly SentEntry[], from: number): SentEntry[] {
  const entries = [...chain.slice(0, from - 1)];
  for (const entry of chain.slice(from - 1)) {
    const prev_hash = entries.at(-1)?.hash ?? '';
    const made = sealed({ ...entry, actor: 'nobody', seal_key_id: 'k2', prev_hash });
    const seal = createHmac('sha256', 'the key of somebody else').update(made.hash).digest('hex');
    entries.push({ ...made, seal });
  }
  return entries;
}

/** Runs the command in `directory`. */
async function verify(target: string, flags: Flags = {}, directory = elsewhere, environment = {}) {
  const { context, printed } = commandIn(directory);
  const code = await runVerify({ targets: [join(sent, target)], ...flags } as FlagsOf<'verify'>, {
    ...context,
    environment,
  });
  const report: Report = JSON.parse(printed.stdout);
  const streams = [...(report.streams ?? []), ...(report.runs ?? []).flatMap((run: Report) => run.streams)];
  const claims = Object.fromEntries(
    streams.flatMap(({ claims }: Report) => Object.entries(claims).map(([name, { state }]: Report) => [name, state])),
  );
  return { code, report, claims };
}

const MY_KEY = { 'public-key': [join(mine, 'key.pem')] };
const MY_ROOT = { 'timestamp-roots': join(mine, 'root.pem'), 'stamp-roots': join(mine, 'root.pem') };
const MY_TOKEN_ROOT = { 'timestamp-roots': MY_ROOT['timestamp-roots'] };
const MY_SEAL_KEY = { 'seal-key': [`k1=${join(mine, 'k1')}`] };

interface Row {
  name: string;
  target: string;
  flags?: Flags;
  code: number;
  claims?: Record<string, string>;
  signatures?: string;
  stamps?: string[];
}

const ROWS: Row[] = [
  {
    name: 'an archive that the attacker signed, and my key',
    target: 'archive',
    flags: { ...MY_KEY, run: RUN },
    code: 1,
    signatures: 'refuted',
  },
  {
    name: 'an archive that the attacker signed and stamped, my key and my root',
    target: 'archive',
    flags: { ...MY_KEY, ...MY_ROOT, run: RUN },
    code: 1,
    signatures: 'refuted',
    stamps: ['unproved'],
  },
  {
    name: 'an archive that the attacker signed and stamped, and nothing of mine',
    target: 'archive',
    flags: { run: RUN },
    code: 0,
    signatures: 'unproved',
    stamps: ['unproved'],
  },
  { name: 'a package with a token of the attacker', target: 'package.json', code: 0, claims: { anchor: 'unproved' } },
  {
    name: 'a package with a token of the attacker, and my root',
    target: 'package.json',
    flags: MY_TOKEN_ROOT,
    code: 0,
    claims: { anchor: 'unproved' },
  },
];

describe('a configuration that lies where the command stands, in and above the target, is not read', () => {
  test.each(ROWS)('$name', async ({ target, flags, code, claims = {}, signatures, stamps }) => {
    const far = await verify(target, flags, elsewhere);
    expect(far.code).toBe(code);
    expect(far.claims).toMatchObject(claims);
    if (signatures !== undefined) expect(far.report.signatures.state).toBe(signatures);
    if (stamps !== undefined) expect(far.report.runs[0].stamps.map(({ state }: Report) => state)).toEqual(stamps);
    for (const near of [sent, join(sent, 'archive')])
      expect(await verify(target, flags, near)).toEqual({ ...far, report: expect.anything() });
    expect((await verify(target, flags, sent)).report).toEqual(far.report);
    expect(far.report.trust.configuration).toBeNull();
  });

  test('entries that the attacker sealed anew, and my seal key: the seal is not proved', async () => {
    for (const directory of [elsewhere, sent])
      expect((await verify('resealed.json', MY_SEAL_KEY, directory)).claims['seal']).not.toBe('proved');
  });

  test.each([
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('%s of its name holds nothing up', async (_words, make) => {
    const cwd = mkdtempSync(join(tmpdir(), 'received-'));
    make(join(cwd, 'evidence.yaml'));
    const child = startNode(EVIDENCE, ['verify', join(sent, 'bundle.zip'), '--json'], { cwd });
    const limit = setTimeout(() => child.kill('SIGKILL'), 15_000);
    expect(await finish(child)).toMatchObject({ code: 0, signal: null });
    clearTimeout(limit);
  });

  test('no credential goes to a host that it names', async (context) => {
    const refuse = json({}, { status: 403 });
    const [theirs, own] = [await startFaultServer(refuse), await startFaultServer(refuse)];
    context.onTestFinished(async () => {
      await theirs.close();
      await own.close();
    });
    const cwd = mkdtempSync(join(tmpdir(), 'received-'));
    writeFileSync(join(cwd, 'evidence.yaml'), `archive: { endpoint: "${theirs.url}", region: eu-central-1 }`);
    const env = {
      AWS_ACCESS_KEY_ID: 'AKIAREADER',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_SESSION_TOKEN: 'token-of-the-reader',
      AWS_REGION: 'eu-central-1',
    };
    const args = ['verify', 's3://acme-evidence/prod', '--endpoint', own.url];
    const told = await evidence(args, { cwd, env });
    expect(told.code).not.toBe(0);
    const heard = ({ requests }: typeof own) => JSON.stringify(requests.map(({ headers }) => headers));
    expect(heard(own)).toContain('token-of-the-reader');
    // Without `--endpoint`, the store comes from the environment.
    await evidence(args.slice(0, 2), { cwd, env: { ...env, AWS_ENDPOINT_URL_S3: own.url } });
    expect(theirs.requests).toEqual([]);
  });
});

describe('what a reader names is believed, and what a flag says is all there is of its kind', () => {
  const THEIRS = { config: join(sent, 'evidence.yaml') };

  test.each<[string, Flags, Record<string, string>]>([
    ['by --config', THEIRS, {}],
    ['by EVIDENCE_CONFIG', {}, { EVIDENCE_CONFIG: join(sent, 'evidence.yaml') }],
  ])('a configuration, %s', async (_words, flags, environment) => {
    const { code, report } = await verify('archive', { ...flags, run: RUN }, elsewhere, environment);
    expect([code, report.signatures.state, report.runs[0].stamps[0].state]).toEqual([0, 'proved', 'proved']);
    expect(report.trust).toMatchObject({
      configuration: join(sent, 'evidence.yaml'),
      seal_keys: [{ id: 'k2', file: 'theirs/k2' }],
      required_claims: ['order'],
      endpoint: 'http://127.0.0.1:1',
    });
  });

  test.each<[string, string, Flags, (found: Awaited<ReturnType<typeof verify>>) => unknown, unknown]>([
    ['public keys', 'archive', MY_KEY, ({ report }) => report.signatures.state, 'refuted'],
    ['roots of stamps', 'archive', MY_ROOT, ({ report }) => report.runs[0].stamps[0].state, 'unproved'],
    ['roots of tokens', 'package.json', MY_TOKEN_ROOT, ({ claims }) => claims['anchor'], 'unproved'],
    ['requirements', 'bundle.zip', { require: ['anchor'] }, ({ report }) => report.trust.required_claims, ['anchor']],
  ])('%s', async (_words, target, flags, read, expected) => {
    expect(read(await verify(target, { ...THEIRS, ...flags }))).toEqual(expected);
  });

  test('seal keys', async () => {
    const { claims, report } = await verify('resealed.json', { ...THEIRS, ...MY_SEAL_KEY });
    expect(claims['seal']).not.toBe('proved');
    expect(report.trust.seal_keys).toEqual([{ id: 'k1', file: join(mine, 'k1') }]);
  });
});

describe('the head of the output says what it rests on', () => {
  test('keys by their id, roots by digest and name, a seal key by nothing that lets it be guessed', async () => {
    const flags = { ...MY_KEY, ...MY_ROOT, ...MY_SEAL_KEY };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, ...[value].flat()]);
    const { stdout } = await evidence(['verify', join(sent, 'archive'), ...args], { cwd: sent });
    const { trust } = (await verify('archive', flags)).report;
    expect(trust).toMatchObject({
      configuration: null,
      public_keys: [expect.stringMatching(/^[0-9a-f]{64}$/)],
      timestamp_roots: [{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), subject: 'CN=Reader Root' }],
      seal_keys: [{ id: 'k1', file: join(mine, 'k1') }],
      contracts: [{ name: 'default', sha256: null, owner: 'default' }],
    });
    expect(trust.stamp_roots).toEqual(trust.timestamp_roots);
    const head = stdout.slice(0, stdout.indexOf(`Run ${RUN}`));
    for (const said of [trust.public_keys[0], trust.stamp_roots[0].sha256, 'CN=Reader Root', 'none', 'k1'])
      expect(head).toContain(said);
    for (const secret of [SEAL_KEY, sha256(Buffer.from(SEAL_KEY))]) {
      expect(stdout).not.toContain(secret);
      expect(JSON.stringify(trust)).not.toContain(secret);
    }
  });
});

test("a contract of the bundle's own is named as that, whatever it calls itself", async () => {
  const description = { ...DEFAULT_DESCRIPTION, name: 'default' };
  const evidenceBytes = Buffer.from(JSON.stringify(packageOf(chainOf(3))));
  await writePackageBundle({ target: join(sent, 'own.zip'), evidence: evidenceBytes, description });
  await archivePackage(join(sent, 'of-own'), { bundle: { evidence: evidenceBytes, description } });
  const own = { name: 'default', sha256: expect.stringMatching(/^[0-9a-f]{64}$/), owner: 'bundle' };
  for (const target of ['own.zip', 'of-own']) expect((await verify(target)).report.trust.contracts).toEqual([own]);
  const { stdout } = await evidence(['verify', join(sent, 'own.zip')], { cwd: sent });
  expect(stdout).toMatch(/^Contract {6}default, SHA-256 [0-9a-f]{64}, the bundle's own$/m);
});

describe('what is required is required', () => {
  const ALL = ['order', 'content', 'seal', 'anchor'];
  const configured = join(mine, 'strict.yaml');
  writeFileSync(configured, `verify: { require: [${ALL.join(', ')}] }`);

  test.each<[string, string, Flags, number, string]>([
    ['of a package, by a flag', 'package.json', { require: ALL }, 3, 'incomplete'],
    ['of a package, by a configuration', 'package.json', { config: configured }, 3, 'incomplete'],
    ['of a bundle that requires nothing, by a flag', 'bundle.zip', { require: ['order,seal'] }, 3, 'incomplete'],
    ['of a bundle that requires nothing, by a configuration', 'bundle.zip', { config: configured }, 3, 'incomplete'],
    ['of a bundle, by itself, whatever else I require', 'strict.zip', { require: ['order'] }, 3, 'incomplete'],
    ['of an archive, by a flag', 'archive', { require: ALL, run: RUN }, 3, 'incomplete'],
    [
      'of an archive by its run, whose record says "verified"',
      'of-strict-run',
      { require: ['order'] },
      3,
      'incomplete',
    ],
    [
      'and proved: of a package',
      'package.json',
      { ...MY_SEAL_KEY, require: ['order', 'content', 'seal'] },
      0,
      'verified',
    ],
    ['and proved: of a bundle', 'bundle.zip', { ...MY_SEAL_KEY, require: ['order,seal'] }, 0, 'verified'],
  ])('%s', async (_words, target, flags, code, outcome) => {
    const found = await verify(target, flags);
    expect([found.code, found.report.outcome]).toEqual([code, outcome]);
  });

  test('a claim that there is none of is a slip of the reader', async () => {
    await expect(verify('bundle.zip', { require: ['nonsense'] })).rejects.toMatchObject({ code: 'usage' });
    await expect(verify('bundle.zip', { require: [] })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a bundle or a record that requires a claim that there is none of is one that cannot be read', () => {
  const nonsense = ['order', 'nonsense'] as unknown as ['order'];
  const plain = Buffer.from(JSON.stringify(packageOf(chainOf(3))));

  test('a bundle', async () => {
    await writePackageBundle({
      target: join(sent, 'nonsense.zip'),
      evidence: plain,
      required: ['order'],
      requires: nonsense,
    });
    const { code, report } = await verify('nonsense.zip');
    expect([code, report.findings.map(({ code: found }: Report) => found)]).toEqual([1, ['object/unreadable']]);
  });

  test('a bundle in an archive, of which everything else is still told', async () => {
    const name = await archivePackage(join(sent, 'of-nonsense'), { bundle: { evidence: plain, requires: nonsense } });
    writeFileSync(join(sent, 'of-nonsense/notes'), '');
    const { code, report } = await verify('of-nonsense');
    expect(code).toBe(1);
    expect(report.objects.altered).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ code: 'object/unreadable', key: `${name}:data/verification.json` }),
      ]),
    );
    expect(report.objects.unexpected).toMatchObject([{ key: 'notes' }]);
  });

  test('a run', async () => {
    await archivePackage(join(sent, 'run-of-nonsense'), { bundle: { evidence: plain }, required: nonsense });
    const { code, report } = await verify('run-of-nonsense');
    expect([code, report.runs[0].findings[0].code]).toEqual([1, 'object/unreadable']);
  });
});
