import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLAIMS } from '../../src/verifier/claims/claim.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';
import { KIND_NAMES } from '../../src/verifier/supplements/files.ts';
import { fencedIn, readDocument, shellLines } from '../support/documents.ts';
import { type Ended, evidence, evidenceUntil } from '../support/evidence.ts';
import { run } from '../support/process.ts';
import { someRows } from '../support/some-rows.ts';

/** Checkout with history in four folders, in which the demo runs twice. */
let checkout: string;
let temporary: string;
let first: Ended;
let second: Ended;

const options = () => ({ cwd: checkout, env: { TMPDIR: temporary } });

beforeAll(async () => {
  checkout = mkdtempSync(join(tmpdir(), 'demo-test-'));
  temporary = mkdtempSync(join(tmpdir(), 'demo-tmp-'));
  await run('git', ['init', '-q'], checkout);
  for (const [index, folder] of ['src', 'test', 'docs', 'lib', 'src'].entries()) {
    mkdirSync(join(checkout, folder), { recursive: true });
    writeFileSync(join(checkout, folder, `${index}.txt`), `${index}`);
    await run('git', ['add', '.'], checkout);
    const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@example.test'];
    await run('git', [...identity, 'commit', '-q', '-m', `change ${index}`], checkout);
  }
  first = await evidence(['demo'], options());
  second = await evidence(['demo'], options());
});
afterAll(() => {
  for (const folder of [checkout, temporary]) rmSync(folder, { recursive: true });
});

/** Streams whose number of entries is the same on every machine. */
const STREAMS: readonly (readonly [RegExp, number])[] = [
  [/^git\/src$/, 2],
  [/^git\/(test|docs|lib)$/, 1],
  // Planted, read, used, confirmed.
  [/^traps$/, 4],
  [/^endpoints\//, 9],
  [/^agents\//, 17],
];

/** Replaces ids, digests, widths and numbers, which vary by machine. */
function withoutNumbers(line: string): string {
  return line
    .replaceAll(/[0-9a-f-]{36}|[0-9a-f]{8}…/g, '…')
    .replaceAll(/[\d,]+/g, '0')
    .replaceAll(/─+/g, '─')
    .replaceAll(/ +/g, ' ');
}

describe('the first run', () => {
  let record: RunRecord;
  beforeAll(() => {
    record = JSON.parse(readFileSync(join(checkout, 'evidence-archive/runs/demo/run.json'), 'utf8'));
  });

  test('exports what really happened, and what the demonstration had happen', () => {
    expect(first.code, first.stderr).toBe(0);
    for (const [pattern, entries] of STREAMS) {
      const streams = record.streams.filter(({ stream_id }) => pattern.test(stream_id));
      expect([pattern, streams.map((stream) => stream.entries)]).toEqual([pattern, streams.map(() => entries)]);
      expect(streams).not.toEqual([]);
    }
    expect(record.streams.map(({ stream_id }) => stream_id)).toEqual(
      expect.arrayContaining(['npm', 'platform/administration']),
    );
  });

  test('proves all seven claims of every stream', () => {
    const open = record.streams.flatMap(({ stream_id, claims }) =>
      CLAIMS.filter((name) => claims[name].state !== 'proved').map((name) => `${stream_id}: ${name}`),
    );
    expect(open).toEqual([]);
    const { listed, exported } = record.reconciliation;
    expect([listed, record.outcome]).toEqual([exported, 'verified']);
  });

  test('has what the other services say, each record that names an entry proved by it', () => {
    const told = KIND_NAMES.map((kind) => {
      const { in_period, proved_by_entry } = record.supplements?.kinds[kind] ?? {};
      return [kind, in_period, proved_by_entry];
    });
    expect(told).toEqual([
      ['detections', 2, 2],
      ['events', 1, 1],
      ['scans', 2, 2],
      // No entry is about these requests: they show the answer that strangers get now.
      ['verifications', 1, 0],
      ['actions', 2, 2],
    ]);
    expect([record.reconciliation.supplements, record.supplements?.findings]).toEqual([
      { configured: 4, collected: 4, missing: 0 },
      [],
    ]);
  });

  test('can be checked by hand: its detections say the same as their entries, and no other hash would do', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'by-hand-'));
    const streams = join(checkout, 'evidence-archive/runs/demo/streams');
    const traps = readdirSync(streams).find((name) => /^traps-.*\.zip$/.test(name)) ?? '';
    copyFileSync(join(streams, traps), join(folder, traps));
    copyFileSync(join(checkout, 'evidence-archive/runs/demo/supplements.zip'), join(folder, 'supplements.zip'));
    const lines = shellLines('verify-by-hand', 1);
    expect(await run('bash', ['-euo', 'pipefail', '-c', lines], folder)).toBe('');
    const detections = readFileSync(join(folder, 'detections'), 'utf8');
    expect(detections.trim().split('\n')).toHaveLength(2);
    writeFileSync(join(folder, 'detections'), detections.replace(/^\["[0-9a-f]/, '["x'));
    const last = lines.trim().split('\n').at(-1) ?? '';
    expect(await run('bash', ['-c', last], folder)).toMatch(/^\["x.*\n$/);
    rmSync(folder, { recursive: true });
  });

  test('fetches lists over several pages', async () => {
    const zip = join(checkout, 'evidence-archive/runs/demo/supplements.zip');
    const names = (await run('unzip', ['-Z1', zip])).split('\n');
    for (const folder of ['traps/detections', 'endpoints/scans', 'agents/actions'])
      expect(names.filter((name) => name.includes(`/${folder}/`) && name.endsWith('/0002.json'))).toHaveLength(1);
  });

  test('tells one story, from the bait to the proof, in 80 columns', () => {
    const lines = first.stdout.split('\n');
    expect(lines.filter((line) => /^\d+ /.test(line)).map((line) => line.replace(/^\d+ +/, ''))).toEqual([
      ...['A platform', 'This machine', 'Bait', 'An intruder', 'The decoy', 'An AI agent', 'Checks and time-stamps'],
      ...['The export', 'The other services', 'The proof', 'What to open next'],
    ]);
    for (const told of [
      /^ +read +detected: the trap ".+" was read, severity medium$/m,
      /^ +changed .+: 1 event$/m,
      /^ +used +detected: the trap ".+" was used, severity critical$/m,
      /^ +read_invoice +allowed: /m,
      /^ +send_mail +violation: its trust goes from 60 to 35$/m,
      /^ +afterwards +strangers are told "revoked"; its key is answered 401$/m,
      /^ +Outcome +verified \(exit code 0\), all seven claims of every stream proved$/m,
      /^ +Objects +\d+ checked: 0 missing, 0 altered, 0 unexpected$/m,
    ])
      expect(first.stdout).toMatch(told);
    // Lines to copy are not wrapped.
    expect(lines.filter((line) => [...line].length > 80 && !line.includes('evidence-archive/'))).toEqual([]);
    expect(first.stdout).toContain('not an external witness');
  });

  test('is as README.md shows it', () => {
    const [shown] = fencedIn(readDocument('README.md')).filter(({ language }) => language === '');
    const lines = (shown?.text ?? '').split('\n').filter((line) => line !== '' && line !== '…');
    expect(lines.length).toBeGreaterThan(8);
    const told = first.stdout.split('\n').map(withoutNumbers);
    for (const line of lines) expect(told).toContain(withoutNumbers(line));
  });

  test('names what to open next, and it is there', () => {
    const named = [...first.stdout.matchAll(/^ +(evidence-archive\/\S+)$|^ +(\.\/evidence-archive\/\S+)$/gm)];
    const paths = named.map(([, one, other]) => one ?? other ?? '');
    expect(paths.map((path) => path.split('.').at(-1))).toEqual(['pdf', 'html', 'zip']);
    for (const path of paths) expect(existsSync(join(checkout, path)), path).toBe(true);
  });

  test('leaves nothing behind but the archive', () => {
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(checkout).sort()).toEqual(['.git', 'docs', 'evidence-archive', 'lib', 'src', 'test']);
  });
});

test('the second run says what it did: verified the first again', () => {
  expect(second.code).toBe(0);
  expect(second.stdout).toContain('already holds the finalized run "demo"');
  expect(second.stdout).toMatch(/Outcome +verified/);
});

// One archive that exists, and one that is new.
const PLACES: [archive: string, outcome: string | undefined][] = [
  ['evidence-archive', undefined],
  ['other', 'verified'],
];
test.each(someRows(PLACES, () => '--json'))('--json is one document (%s)', async (archive, outcome) => {
  const { code, stdout } = await evidence(['demo', '--archive', archive, '--json'], options());
  const { run: record, verification } = JSON.parse(stdout);
  expect([code, record?.outcome, verification.outcome]).toEqual([0, outcome, 'verified']);
});

describe('a demonstration that does not come to its end', () => {
  const MOMENTS: [when: string, text: string, exports: boolean][] = [
    ['beside a machine that is watched', '3  Bait', false],
    ['once this machine is recorded', '2  This machine', false],
    ['while it exports', 'Run demo:', true],
  ];
  test.each(someRows(MOMENTS, ([, , exports]) => exports))(
    'is interrupted %s: nothing of it is left, and it can be begun anew',
    async (_when, text) => {
      const { code, stdout } = await evidenceUntil(text, ['demo', '--archive', 'interrupted'], options());
      expect([code, stdout.includes('What to open next')]).toEqual([130, false]);
      expect([readdirSync(temporary), existsSync(join(checkout, 'interrupted'))]).toEqual([[], false]);
    },
  );

  test('is not begun where a file stands', async () => {
    writeFileSync(join(checkout, 'a-file'), '');
    const { code, stderr } = await evidence(['demo', '--archive', 'a-file'], options());
    expect([code, stderr]).toEqual([2, expect.stringContaining('a-file is not a folder')]);
    rmSync(join(checkout, 'a-file'));
  });

  test('fails on its way: nothing of it is left, in a folder that was there', async () => {
    mkdirSync(join(checkout, 'half'));
    // A folder at the path of archive.json makes the archive unreadable.
    mkdirSync(join(checkout, 'half/archive.json'));
    const { code } = await evidence(['demo', '--archive', 'half'], options());
    expect(code).not.toBe(0);
    expect([readdirSync(temporary), readdirSync(join(checkout, 'half'))]).toEqual([[], ['archive.json']]);
    rmSync(join(checkout, 'half'), { recursive: true });
  });

  test('was killed: what it left is not gone on with, and named', async () => {
    mkdirSync(join(checkout, 'killed/runs/demo'), { recursive: true });
    const { code, stderr } = await evidence(['demo', '--archive', 'killed'], options());
    expect([code, stderr]).toEqual([2, expect.stringContaining('rm -r killed')]);
    rmSync(join(checkout, 'killed'), { recursive: true });
  });
});
