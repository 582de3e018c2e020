import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FlagsOf } from '../../src/exporter/cli/commands/flags-of.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { archivePackage, RUN } from '../support/archived-package.ts';
import { chainOf, packageOf } from '../support/chain.ts';
import { commandIn } from '../support/command.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { newKey } from '../support/signed-archive.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON that `--json` prints.
type Report = any;

const original = join(mkdtempSync(join(tmpdir(), 'objects-')), 'archive');
let archive: string;
let bundle: string;

beforeAll(async () => {
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(12))));
  bundle = await archivePackage(original, { bundle: { evidence }, key: newKey() });
});
beforeEach(() => {
  archive = join(mkdtempSync(join(tmpdir(), 'objects-')), 'archive');
  cpSync(original, archive, { recursive: true });
  // A second fault, which the report must name too.
  put('runs/r/notes', 'x');
});

const at = (key: string) => join(archive, key);

function put(key: string, text: string): void {
  mkdirSync(dirname(at(key)), { recursive: true });
  writeFileSync(at(key), text);
}

const RUN_RECORD = `runs/${RUN}/run.json`;
const ENTRY = 'ledger/00000001.json';

type Change = (key: string) => void;
const moved: Change = (key) => {
  renameSync(at(key), join(archive, '..', 'genuine'));
  symlinkSync(join(archive, '..', 'genuine'), at(key));
};
const pipe: Change = (key) => {
  rmSync(at(key), { force: true });
  mkdirSync(dirname(at(key)), { recursive: true });
  execFileSync('mkfifo', [at(key)]);
};
const device: Change = (key) => {
  rmSync(at(key), { force: true });
  mkdirSync(dirname(at(key)), { recursive: true });
  symlinkSync('/dev/zero', at(key));
};
const grown: Change = (key) => {
  chmodSync(at(key), 0o644);
  truncateSync(at(key), 3 * 2 ** 30);
};
const locked: Change = (key) => chmodSync(at(key), 0);
const isRoot = process.getuid?.() === 0;

/** Verifies in another process, which is killed if it hangs. */
async function verify(target: string, ...flags: string[]): Promise<{ code: number | null; report: Report }> {
  const args = ['verify', target, '--json', ...flags];
  const child = startNode(EVIDENCE, args, { cwd: tmpdir(), nodeFlags: ['--max-old-space-size=400'] });
  const limit = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const { code, stdout } = await finish(child);
  clearTimeout(limit);
  return { code, report: JSON.parse(stdout || 'null') };
}

const keysOf = (findings: Report[]) => findings.map(({ key }) => key);

const OBJECTS: [string, () => string][] = [
  ['the bundle', () => bundle],
  ['the run record', () => RUN_RECORD],
  ['the statement', () => `runs/${RUN}/run.dsse.json`],
  ['the ledger entry', () => ENTRY],
];
const CHANGES: [string, Change][] = [
  ['a link to what it was', moved],
  ['a named pipe', pipe],
  ['a link to a device', device],
  // No file is locked for the superuser.
  ...(isRoot ? [] : ([['one that may not be read', locked]] as [string, Change][])),
];

const CHANGED = inTurn(OBJECTS, CHANGES).map(([[object, key], [words, change]]) => ({ object, key, words, change }));
test.each(someRows(CHANGED, ({ object }) => object))(
  '$object is $words: it is named, and so is everything else',
  async ({ key, change }) => {
    change(key());
    const { code, report } = await verify(archive);
    expect(code).toBe(1);
    const named = [...report.objects.altered, ...report.objects.missing, ...report.objects.unexpected];
    expect(keysOf(named)).toEqual(expect.arrayContaining([key(), 'runs/r/notes']));
  },
);

test.each(OBJECTS.slice(1))('%s of 3 GB is not read into memory', async (_object, key) => {
  grown(key());
  const { code, report } = await verify(archive);
  expect(code).toBe(1);
  const named = report.objects.altered.find((finding: Report) => finding.key === key());
  expect(named).toMatchObject({
    code: 'object/unreadable',
    message: expect.stringMatching(/more than \d+ (bytes|characters)/),
  });
});

describe('what nothing records', () => {
  const UNRECORDED: [key: string, change: Change][] = [
    ['runs/r/streams/x.zip', pipe],
    ['ledger/00000002.json', device],
    [`keys/${'a'.repeat(64)}.pem`, pipe],
    ['runs/r/attempts/a/attempt.json', pipe],
    ['runs/begun/streams/x.zip', device],
    ['runs/r/hold-log/2026-11-01T00-00-00.000Z-hold.json', pipe],
    ['runs/r/run.tsr', pipe],
    ['share.json', pipe],
    ['runs/linked', device],
  ];
  const alone = UNRECORDED.map((one) => [one]);

  /** All changes at once, then each separately. */
  test.each(
    someRows([UNRECORDED, ...alone], () => 'unrecorded').map((rows) => [rows.map(([key]) => key), rows] as const),
  )('is named, not opened: %j', async (keys, rows) => {
    for (const [key, change] of rows) change(key);
    const { code, report } = await verify(archive);
    expect(code).toBe(1);
    expect(keysOf(report.objects.unexpected)).toEqual(expect.arrayContaining([...keys, 'runs/r/notes']));
  });

  test('a record of a share that is none ends nothing', async () => {
    put('share.json', '{');
    const { code, report } = await verify(archive);
    expect([code, keysOf(report.objects.unexpected)]).toEqual([1, expect.arrayContaining(['share.json'])]);
  });
});

describe('a target', () => {
  test.each([
    ['a named pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('that is %s is refused', async (_words, make) => {
    const target = join(archive, '..', 'target.json');
    make(target);
    const { code, report } = await verify(target);
    expect([code, report.error.code]).toEqual([2, 'usage']);
  });

  test('that is a damaged bundle of age is refuted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'age-'));
    const [file, target] = [join(folder, 'identity'), join(folder, 'bundle.zip.age')];
    const identity = await generateX25519Identity();
    writeFileSync(file, `${identity}\n`, { mode: 0o600 });
    const encrypter = new Encrypter();
    encrypter.addRecipient(await identityToRecipient(identity));
    writeFileSync(target, await encrypter.encrypt(readFileSync(join(original, bundle))));
    expect((await verify(target, '--identity', file)).code).toBe(0);
    const bytes = readFileSync(target);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    writeFileSync(target, bytes);
    const { code, report } = await verify(target, '--identity', file);
    expect([code, report.findings.map(({ code: found }: Report) => found)]).toEqual([1, ['object/unreadable']]);
  });
});

test('keys and roots that are no files are refused, and links to files are files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'given-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  writeFileSync(join(folder, 'k1'), 'key');
  symlinkSync('k1', join(folder, 'linked'));
  const { context } = commandIn(folder);
  const given = (flags: Partial<FlagsOf<'verify'>>) =>
    runVerify({ targets: [join(original)], ...flags } as FlagsOf<'verify'>, context);
  for (const flags of [
    { 'public-key': ['pipe'] },
    { 'timestamp-roots': 'pipe' },
    { 'seal-key': ['k1=pipe'] },
    { identity: ['pipe'] },
    { contract: 'pipe' },
    { config: 'pipe' },
  ])
    await expect(given(flags)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/pipe, cannot be read: it is a named pipe/),
    });
  expect(await given({ 'seal-key': ['k1=linked'] })).toBe(1);
});

describe('an archive that says it was signed', () => {
  test('and whose ledger is not, is refuted, also for who has no key', async () => {
    rmSync(at('runs/r/notes'));
    expect((await verify(archive)).code).toBe(0);
    const { signature, ...entry } = JSON.parse(readFileSync(at(ENTRY), 'utf8'));
    expect(signature).toBeDefined();
    rmSync(at(ENTRY), { force: true });
    put(ENTRY, `${JSON.stringify(entry, null, 2)}\n`);
    const { code, report } = await verify(archive);
    expect([code, report.signatures.state]).toEqual([1, 'refuted']);
    expect(report.signatures.findings).toMatchObject([{ code: 'signature/missing', key: ENTRY }]);
  });
});
