import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { evidence } from '../support/evidence.ts';
import { postEntries, servePlatform, someEntries } from '../support/platform.ts';
import { evidenceProcess, run } from '../support/process.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

let original: string;
let archive: string;
let runId: string;
let second: string;
let slugs: string[];

beforeAll(async () => {
  const platform = await servePlatform();
  original = mkdtempSync(join(tmpdir(), 'tampering-test-'));
  try {
    await postEntries(platform, [...someEntries('payments', 30), ...someEntries('логи', 3)]);
    for (const flags of [[], ['--revise']]) {
      const { code, stderr } = await evidence(['export', '--all-time', ...flags], { cwd: original, env: platform.env });
      if (code !== 0) throw new Error(stderr);
    }
  } finally {
    await platform.stop();
  }
  [runId = '', second = ''] = readdirSync(join(original, 'evidence-archive', 'runs')).sort();
  slugs = readdirSync(join(original, 'evidence-archive', 'runs', runId, 'streams'))
    .filter((name) => name.endsWith('.zip'))
    .map((name) => name.replace('.zip', ''));
});
afterAll(() => rmSync(original, { recursive: true, force: true }));

beforeEach(() => {
  archive = join(mkdtempSync(join(tmpdir(), 'tampered-')), 'archive');
  cpSync(join(original, 'evidence-archive'), archive, { recursive: true });
});

interface Report {
  outcome: string;
  ledger: { findings: Problem[] };
  objects: { missing: Problem[]; altered: Problem[]; unexpected: Problem[] };
}
interface Problem {
  code: string;
  key: string;
  message: string;
}

async function verify(): Promise<{ code: number; findings: Problem[]; outcome: string }> {
  const { code, stdout } = await evidence(['verify', archive, '--json'], { cwd: archive });
  return { code, ...told(stdout) };
}

function told(stdout: string): { findings: Problem[]; outcome: string } {
  const { outcome, ledger, objects }: Report = JSON.parse(stdout);
  const findings = [...ledger.findings, ...objects.missing, ...objects.altered, ...objects.unexpected];
  return { outcome, findings };
}

test('as it was written it is verified, and after a byte is changed it is not, by the command itself', async () => {
  const good = await evidenceProcess(['verify', archive, '--json'], { cwd: tmpdir() });
  expect([good.code, told(good.stdout)]).toEqual([0, { outcome: 'verified', findings: [] }]);
  alter(bundle(), (bytes) => bytes.fill(0, 100, 101));
  const bad = await evidenceProcess(['verify', archive], { cwd: tmpdir() });
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain(`object/altered ${bundle()}`);
});

const bundle = () => `runs/${runId}/streams/${slugs[0]}.zip`;
const streamRecord = () => `runs/${runId}/streams/${slugs[0]}.json`;
const runRecord = () => `runs/${runId}/run.json`;
const firstEntry = () => 'ledger/00000001.json';
const lastEntry = () => 'ledger/00000002.json';

const OBJECTS: [string, () => string][] = [
  ['a bundle', bundle],
  ['a stream record', streamRecord],
  ['a run record', runRecord],
  ["the last run's record", () => `runs/${second}/run.json`],
  ['a ledger entry', firstEntry],
  ['the last ledger entry', lastEntry],
];

const PLACES: [string, (length: number) => number][] = [
  ['first', (length) => Math.min(length - 1, 3)],
  ['middle', (length) => Math.floor(length / 2)],
  ['late', (length) => length - 4],
];
const CHANGED = inTurn(OBJECTS, PLACES).map(([[object, key], [where, at]]) => ({ object, key, where, at }));

test.each(someRows(CHANGED, ({ object }) => object))('$object with one byte changed ($where)', async ({ key, at }) => {
  alter(key(), (bytes) => {
    const index = at(bytes.length);
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    return bytes;
  });
  await expectNamed(key());
});

// Objects are zips or JSON; the tests need one of each.
test.each(someRows(OBJECTS, ([object]) => object === 'a bundle'))('%s with a byte appended', async (_object, key) => {
  alter(key(), (bytes) => Buffer.concat([bytes, Buffer.from(' ')]));
  await expectNamed(key());
});

// Removes each ledger entry, and one object of the run.
test.each(someRows(OBJECTS, ([object]) => (/ledger/.test(object) ? object : 'of a run')))(
  '%s removed',
  async (object, key) => {
    rmSync(join(archive, key()), { force: true });
    // A kill right before the export writes this entry leaves the same archive.
    if (object === 'the last ledger entry') expect(await verify()).toMatchObject({ code: 3, outcome: 'incomplete' });
    else await expectNamed(key());
  },
);

describe('one digit of what a record says', () => {
  test.each([
    ['the number of entries in a stream record', streamRecord, /"entries": 30/, '"entries": 31'],
    ['a head in a ledger entry', firstEntry, /"sequence": 30/, '"sequence": 29'],
    ['a head in the last ledger entry', lastEntry, /"sequence": 30/, '"sequence": 29'],
    ['the time of the last ledger entry', lastEntry, /"created_at": "2/, '"created_at": "3'],
    ['the outcome of the last run', () => `runs/${second}/run.json`, /"exit_code": 0/, '"exit_code": 3'],
  ])('%s', async (_words, key, pattern, replacement) => {
    alter(key(), (bytes) => {
      const text = bytes.toString('utf8');
      expect(text).toMatch(pattern);
      return Buffer.from(text.replace(pattern, replacement));
    });
    await expectNamed(key());
  });
});

describe('a file too many', () => {
  const ADDED: [kind: string, words: string, key: () => string][] = [
    ['run', 'beside the bundles', () => `runs/${runId}/streams/extra.zip`],
    ['run', 'in a run', () => `runs/${runId}/notes.txt`],
    ['ledger', 'in the ledger', () => 'ledger/00000003.txt'],
    ['run', 'at the top', () => 'README'],
    ['hidden', 'a hidden one', () => `runs/${runId}/.hidden`],
  ];
  test.each(someRows(ADDED, ([kind]) => kind))('%s: %s', async (_kind, _words, key) => {
    writeFileSync(join(archive, key()), 'x');
    const { code, findings } = await verify();
    expect([code, findings.map((finding) => [finding.code, finding.key])]).toEqual([1, [['object/unexpected', key()]]]);
  });

  test('a copy of a ledger entry under the next number', async () => {
    writeFileSync(join(archive, 'ledger/00000003.json'), readFileSync(join(archive, lastEntry())));
    await expectShown('ledger/00000003.json');
  });

  const ZIPPED: [how: string, flags: string[], name: string][] = [
    ['added to', ['-q'], 'extra.txt'],
    ['removed from', ['-q', '-d'], 'data/summary.json'],
    ['removed from', ['-q', '-d'], 'manifest-sha256.txt'],
  ];
  test.each(someRows(ZIPPED, ([how]) => how))('a file %s the zip itself', async (_words, flags, name) => {
    const path = join(archive, bundle());
    const folder = mkdtempSync(join(tmpdir(), 'zip-'));
    chmodSync(path, 0o644);
    chmodSync(dirname(path), 0o755);
    const inside = `${slugs[0]}/${name}`;
    if (name === 'extra.txt') await run('sh', ['-c', `mkdir ${slugs[0]} && echo x > ${inside}`], folder);
    await run('zip', [...flags, path, inside], folder);
    const { code, findings } = await verify();
    expect(code).toBe(1);
    expect(findings.map((finding) => finding.key)).toContain(bundle());
    expect(findings.map((finding) => finding.key)).toContain(`${bundle()}:${name}`);
  });
});

test('a bundle of the other run in the place of this one', async () => {
  alter(bundle(), () => readFileSync(join(archive, `runs/${second}/streams/${slugs[0]}.zip`)));
  await expectNamed(bundle());
});

test('a whole run gone, its ledger entry left', async () => {
  rmSync(join(archive, 'runs', second), { recursive: true, force: true });
  await expectShown(`runs/${second}/run.json`);
});

test('one bundle alone: changed evidence is found by its own manifest', async () => {
  const path = join(archive, bundle());
  const good = await evidence(['verify', path, '--json'], { cwd: tmpdir() });
  expect([good.code, JSON.parse(good.stdout).outcome]).toEqual([0, 'verified']);
  const folder = mkdtempSync(join(tmpdir(), 'rezip-'));
  await run('unzip', ['-q', path, '-d', folder], folder);
  const inside = join(folder, slugs[0] ?? '', 'data/evidence.json');
  writeFileSync(inside, readFileSync(inside, 'utf8').replace('svc-backup', 'svc-bakcup'));
  const forged = join(folder, 'forged.zip');
  await run('zip', ['-q', '-r', forged, slugs[0] ?? ''], folder);
  const bad = await evidence(['verify', forged, '--json'], { cwd: tmpdir() });
  const { outcome, findings, streams } = JSON.parse(bad.stdout);
  expect([bad.code, outcome]).toEqual([1, 'refuted']);
  expect(findings.map((finding: Problem) => finding.key)).toContain(`${forged}:data/evidence.json`);
  expect(streams[0].claims.content.state).toBe('refuted');
});

function alter(key: string, change: (bytes: Buffer) => Uint8Array): void {
  const path = join(archive, key);
  chmodSync(path, 0o644);
  writeFileSync(path, change(readFileSync(path)));
}

/** Expects exit 1 and the object's name. */
async function expectNamed(key: string): Promise<void> {
  const { code, outcome, findings } = await verify();
  expect([code, outcome]).toEqual([1, 'refuted']);
  expect(findings.map((finding) => finding.key.split(':')[0])).toContain(key);
  expect(findings.every((finding) => finding.message.length > 10)).toBe(true);
}

/** Expects the object in the readable report too, which is built from the same findings. */
async function expectShown(key: string): Promise<void> {
  await expectNamed(key);
  expect((await evidence(['verify', archive], { cwd: archive })).stdout).toContain(key);
}
