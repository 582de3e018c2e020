import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { InterruptedExports } from '../support/interrupted-exports.ts';
import { type KeyFiles, makeKey } from '../support/openssl-keys.ts';
import { runToEnd } from '../support/process.ts';

const folder = mkdtempSync(join(tmpdir(), 'given-up-'));
const EXPORT = ['export', '--request', 'R1', '--all-time'];

const VERIFIER = resolve(import.meta.dirname, '../conformance/archive-format/verify.py');
const API_KEY = 'sk_of_the_first_key';
const ROTATED = 'sk_of_another_key';

let service: FalseService;
let [key, otherKey] = [] as KeyFiles[];
const interrupted = new Map<boolean, InterruptedExports>();

function configure(root: string, signedBy: KeyFiles | null, more: object = {}): void {
  const sign = signedBy === null ? {} : { sign: { key_file: signedBy.file } };
  writeFileSync(join(root, 'evidence.yaml'), JSON.stringify({ ...sign, ...more }));
}

const keyOf = (file: KeyFiles | undefined): KeyFiles => file ?? expect.unreachable('the key was not made');

/** Returns the archive that a kill leaves after the last object with such a name. */
function leave(ending: RegExp, isSigned: boolean): string {
  const root = mkdtempSync(join(folder, 'left-'));
  configure(root, isSigned ? keyOf(key) : null);
  interrupted.get(isSigned)?.leave(ending, join(root, 'evidence-archive'));
  return root;
}

const envWith = (apiKey: string) => ({ EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: apiKey });
const run = (root: string, words: string[], apiKey = API_KEY): Promise<Ended> =>
  evidence(words, { cwd: root, env: envWith(apiKey) });

const verify = (root: string, more: string[] = []) => run(root, ['verify', 'evidence-archive', ...more]);
const read = (root: string, path: string) => JSON.parse(readFileSync(join(root, 'evidence-archive', path), 'utf8'));
const ledgerOf = (root: string) => readdirSync(join(root, 'evidence-archive', 'ledger'));

beforeAll(async () => {
  service = await startFalseService();
  const entries: SentEntry[] = [];
  for (let index = 0; index < 6; index++)
    entries.push(
      entryAfter(entries.at(-1) ?? null, { stream_id: 'payments', timestamp: `2026-01-0${index + 1}T00:00:00.000Z` }),
    );
  service.streams.set('payments', { entries });
  key = await makeKey(folder, 'ours.pem', 'ed25519');
  otherKey = await makeKey(folder, 'theirs.pem', 'ed25519');
  for (const isSigned of [false, true]) {
    const root = mkdtempSync(join(folder, 'interrupted-'));
    configure(root, isSigned ? key : null);
    interrupted.set(isSigned, await InterruptedExports.make(EXPORT, { cwd: root, env: envWith(API_KEY) }));
  }
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Each object that an export stores, in the order of keys. */
const KILLS: [words: string, ending: RegExp, isSigned: boolean][] = [
  ['after asked.json', /R1\/asked\.json$/, false],
  ['after a bundle', /\.zip$/, false],
  ['after a stream record', /streams\/[^/]+\.json$/, false],
  ['after the draft', /run-draft\.json$/, false],
  ['after a report', /report\.pdf$/, false],
  ['after run.json', /R1\/run\.json$/, false],
  ['signed, after run.json', /R1\/run\.json$/, true],
  ['signed, after the public key', /keys\/[0-9a-f]+\.pem$/, true],
  ['signed, after the statement', /run\.dsse\.json$/, true],
];

test.each(KILLS)(
  'killed %s: open, resumed under the same key, superseded under another',
  async (_words, ending, isSigned) => {
    for (const isRotated of [false, true]) {
      const root = leave(ending, isSigned);
      const open = await verify(root);
      expect([open.code, open.stdout]).toEqual([3, expect.stringContaining('evidence runs abandon R1 --reason WHY')]);
      expect(open.stdout).not.toMatch(/Ledger.*broken|Outcome +refuted/);

      if (isRotated && isSigned) configure(root, keyOf(otherKey));
      const { code, stderr } = await run(root, EXPORT, isRotated ? ROTATED : undefined);
      expect(code, stderr).toBe(0);
      const name = isRotated ? 'R1.r2' : 'R1';
      expect(read(root, `runs/${name}/run.json`)).toMatchObject({
        supersedes: isRotated ? ['R1'] : [],
        outcome: 'verified',
      });
      expect(ledgerOf(root)).toHaveLength(1);
      const again = await run(root, EXPORT, isRotated ? ROTATED : undefined);
      expect([again.code, again.stdout]).toEqual([0, expect.stringContaining(name)]);
      const signer = isRotated ? otherKey : key;
      const done = await verify(root, isSigned ? ['--public-key', keyOf(signer).publicFile] : []);
      expect(done.code, done.stdout).toBe(0);
      if (isRotated) expect(done.stdout).toContain('Run R1 was not finished, and run R1.r2 replaces it');
    }
  },
);

test('an abandoned run is named with its reason, counts for nothing, and its period is exported as a revision', async () => {
  const root = leave(/\.zip$/, true);
  const trusted = ['--public-key', keyOf(key).publicFile];
  const refused: [string[], RegExp][] = [
    [['runs', 'abandon', 'R1'], /--reason is missing/],
    [['runs', 'abandon', '--reason', 'x'], /the run is missing/],
    [['runs', 'abandon', 'R2', '--reason', 'x'], /the archive has no run R2/],
  ];
  for (const [words, said] of refused) {
    const { code, stderr } = await run(root, words);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  }
  const dry = await run(root, ['runs', 'abandon', 'R1', '--reason', 'begun by mistake', '--dry-run']);
  expect([dry.code, (await verify(root)).code]).toEqual([0, 3]);
  const { code, stderr } = await run(root, ['runs', 'abandon', 'R1', '--reason', 'begun by mistake']);
  expect(code, stderr).toBe(0);
  const told = await verify(root, trusted);
  expect([told.code, told.stdout]).toEqual([4, expect.stringMatching(/Run R1 was abandoned at .*: begun by mistake/)]);
  expect((await run(root, ['runs'])).stdout).toMatch(/R1 .*abandoned.*begun by mistake/);
  expect((await run(root, ['runs', 'abandon', 'R1', '--reason', 'again'])).code).toBe(2);

  expect((await run(root, EXPORT)).code).toBe(0);
  expect(read(root, 'runs/R1.r2/run.json').supersedes).toEqual(['R1']);
  expect((await verify(root, trusted)).code).toBe(0);
  expect((await run(root, ['runs', 'abandon', 'R1.r2', '--reason', 'x'])).code).toBe(2);
  const python = await runToEnd('python3', ['-B', VERIFIER, 'evidence-archive', ...trusted], { cwd: root });
  expect([python.code, python.stdout]).toEqual([0, 'verified\n']);
});

test('an archive in which every run was given up is not verified', async () => {
  const root = leave(/R1\/run\.json$/, false);
  expect((await run(root, ['runs', 'abandon', 'R1', '--reason', 'not ours'])).code).toBe(0);
  for (const target of ['evidence-archive', 'evidence-archive/runs/R1']) {
    const { code, stdout } = await run(root, ['verify', target]);
    expect([code, stdout]).toEqual([4, expect.stringContaining('its record states the outcome verified')]);
  }
});
