import { generateKeyPairSync } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { formatContract } from '../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { type Answer, carryOut } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { inTurn, someRows } from '../support/some-rows.ts';

// The tests make about a hundred exports in this process.

const folder = mkdtempSync(join(tmpdir(), 'run-binding-'));
const KEY = 'sk_of_the_first_key';
/** Request of every run in these tests. */
const ASKED = { request: 'R', period: '2026-01', stream: ['a', 'b'], exclude: ['d'], 'requested-by': 'Ana' };

/** States of the run that is requested again; each is an archive that the tests copy. */
const STATES = ['begun', 'finalized'] as const;
type State = (typeof STATES)[number];

interface Asked {
  flags?: Record<string, unknown>;
  environment?: NodeJS.ProcessEnv;
}
let service: FalseService;
let other: FalseService;

/** Builds three entries in each of the first months of 2026. */
function entriesOf(streamId: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (let index = 0; index < 9; index++) {
    const timestamp = new Date(Date.UTC(2026, Math.floor(index / 3), 2 + index)).toISOString();
    entries.push(entryAfter(entries.at(-1) ?? null, { stream_id: streamId, timestamp }));
  }
  return entries;
}

function ask(directory: string, { flags = {}, environment = {} }: Asked): Promise<Answer> {
  const given = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: KEY, ...environment };
  return carryOut(runExport, { ...ASKED, ...flags }, directory, { environment: given });
}

/** Maps the path of every object in the archive to its digest. */
function objectsIn(directory: string): Record<string, string> {
  const root = join(directory, 'evidence-archive');
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(root, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, sha256(readFileSync(join(root, path)))]));
}

function recordIn(directory: string, runId: string) {
  return JSON.parse(readFileSync(join(directory, 'evidence-archive/runs', runId, 'run.json'), 'utf8'));
}

const templateOf = (state: State, signed: boolean) => join(folder, `${state}${signed ? '-signed' : ''}`);

function copyOf(state: State, signed = false): string {
  const directory = mkdtempSync(join(folder, 'copy-'));
  cpSync(templateOf(state, signed), directory, { recursive: true });
  return directory;
}

function configure(directory: string): void {
  writeFileSync(join(directory, 'evidence.yaml'), 'sign: { key_file: ../signing.pem }\n');
}

beforeAll(async () => {
  [service, other] = await Promise.all([startFalseService(), startFalseService()]);
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'signing.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(folder, 'contract.yaml'), formatContract({ ...DEFAULT_DESCRIPTION, name: 'another' }));
  for (const { streams } of [service, other])
    for (const id of ['a', 'b', 'c', 'd']) streams.set(id, { entries: entriesOf(id) });
  for (const signed of [false, true])
    for (const state of STATES) {
      const directory = templateOf(state, signed);
      cpSync(mkdtempSync(join(folder, 'empty-')), directory, { recursive: true });
      if (signed) configure(directory);
      service.streams.set('b', { entries: entriesOf('b'), unavailable: state === 'begun' });
      expect(await ask(directory, {})).toMatchObject({ code: state === 'begun' ? 3 : 0, said: '' });
      expect(Object.keys(objectsIn(directory)).includes('runs/R/run.json')).toBe(state === 'finalized');
    }
  service.streams.set('b', { entries: entriesOf('b') });
});
afterAll(async () => {
  await Promise.all([service.close(), other.close()]);
});

/** Changes to the request, with the expected message. Functions, because the services start later. */
const CHANGES: [what: string, asked: () => Asked, said: RegExp][] = [
  [
    'another service',
    () => ({ environment: { EVIDENCE_AUDIT_URL: other.url } }),
    /^this archive belongs to http:\S+, not http:\S+; an archive contains one service$/,
  ],
  [
    'another path of the same host',
    () => ({ flags: { auditUrl: `${service.url}/other` } }),
    /^this archive belongs to http:\S+, not http:\S+\/other; an archive contains one service$/,
  ],
  ['a contract', () => ({ flags: { contract: '../contract.yaml' } }), /: contract: the default one → file of SHA-256 /],
  ['fewer streams', () => ({ flags: { stream: ['a'] } }), /: streams: a, b → a$/],
  ['all streams', () => ({ flags: { stream: undefined } }), /: streams: a, b → all$/],
  ['a glob that means the same today', () => ({ flags: { stream: ['[ab]'] } }), /: streams: a, b → \[ab\]$/],
  ['nothing excluded', () => ({ flags: { exclude: undefined } }), /: excluded streams: d → none$/],
  ['another month', () => ({ flags: { period: '2026-02' } }), /: period: 2026-01-01T\S+ to 2026-02-01T\S+ → 2026-02/],
  ['all time', () => ({ flags: { period: undefined, 'all-time': true } }), / → the beginning to the export$/],
  [
    'more required',
    () => ({ flags: { require: ['order', 'content', 'seal'] } }),
    /: required claims: content, order → /,
  ],
  ['less required', () => ({ flags: { require: ['order'] } }), /: required claims: content, order → order$/],
  ['less to be hashed', () => ({ flags: { acceptUnhashed: ['time'] } }), /: accepted as unhashed: nothing → time$/],
  ['another requester', () => ({ flags: { 'requested-by': 'Ben' } }), /: requested by: Ana → Ben$/],
  ['no requester', () => ({ flags: { 'requested-by': undefined } }), /: requested by: Ana → nobody named$/],
  [
    'two things',
    () => ({ flags: { stream: ['a'], 'requested-by': 'Ben' } }),
    /: streams: a, b → a; requested by: Ana → Ben$/,
  ],
];

const REVISED = /another service|another path|fewer|another month|more required/;
const CHANGED = someRows(inTurn(CHANGES, STATES), ([[what]]) => what);
const REVISIONS = someRows(
  inTurn(
    CHANGES.filter(([what]) => REVISED.test(what)),
    STATES,
  ),
  ([[what]]) => what,
);
const of = (rows: typeof CHANGED, state: State) => rows.filter(([, one]) => one === state).map(([change]) => change);

describe.each(STATES)('a run that is %s, asked for with', (state) => {
  test.each(of(CHANGED, state))('%s is refused, and the archive is as it was', async (_what, asked, said) => {
    const directory = copyOf(state);
    const before = objectsIn(directory);
    const { flags = {}, ...rest } = asked();
    for (const more of [{}, { 'dry-run': true }]) {
      const answer = await ask(directory, { flags: { ...flags, ...more }, ...rest });
      expect([answer.code, answer.said]).toEqual([2, expect.stringMatching(said)]);
      expect(objectsIn(directory)).toEqual(before);
    }
    // No message may contain a key.
    expect((await ask(directory, { flags, ...rest })).said).not.toContain(KEY);
  });

  test.each<[what: string, asked: () => Asked]>([
    ['the same', () => ({})],
    ['the same in another order', () => ({ flags: { stream: ['b', 'a', 'b'], require: ['content', 'order'] } })],
    ['the address by a flag', () => ({ flags: { auditUrl: `${service.url}/` } })],
  ])('%s is gone on with, or answered', async (_what, asked) => {
    const directory = copyOf(state);
    const before = objectsIn(directory);
    expect(await ask(directory, { ...asked(), flags: { ...asked().flags, 'dry-run': true } })).toMatchObject({
      code: 0,
    });
    expect(objectsIn(directory)).toEqual(before);
    const { code, document, said } = await ask(directory, asked());
    expect([code, said, document?.state]).toEqual([0, '', state === 'begun' ? 'finalized' : 'already']);
    const { source, scope, streams, period } = recordIn(directory, 'R');
    expect(streams.map(({ stream_id }: { stream_id: string }) => stream_id)).toEqual(['a', 'b']);
    expect([source.audit_url, scope.requested_by, period.from]).toEqual([
      service.url,
      'Ana',
      '2026-01-01T00:00:00.000Z',
    ]);
    if (state === 'finalized') expect(objectsIn(directory)).toEqual(before);
  });

  test.each(of(REVISIONS, state))(
    '%s is exported as a revision, but never from another service',
    async (what, asked) => {
      const directory = copyOf(state);
      const before = objectsIn(directory);
      const { flags = {}, ...rest } = asked();
      const { code, said } = await ask(directory, { flags: { ...flags, revise: true }, ...rest });
      if (/service|host/.test(what)) {
        expect([code, said]).toEqual([2, expect.stringMatching(/^this archive belongs to /)]);
        expect(objectsIn(directory)).toEqual(before);
        return;
      }
      // Without a seal key, seals are unproved.
      expect([code, said]).toEqual([what === 'more required' ? 3 : 0, '']);
      expect(objectsIn(directory)).toMatchObject(before);
      if (code === 0) expect(recordIn(directory, 'R.r2').run_id).toBe('R.r2');
    },
  );

  test('another API key is answered, or gone on with where runs are signed', async () => {
    const rotated = { EVIDENCE_API_KEY: 'sk_of_another_key' };
    expect((await ask(copyOf(state, true), { environment: rotated })).code).toBe(0);
    // Only the key shows that this export began the run; without it, a revision repeats the work.
    const unsigned = await ask(copyOf(state), { environment: rotated });
    const { run_id, supersedes } = unsigned.document;
    expect([unsigned.code, run_id, supersedes]).toEqual(state === 'finalized' ? [0, 'R', []] : [0, 'R.r2', ['R']]);
    const revised = await ask(copyOf(state), { environment: rotated, flags: { revise: true } });
    expect([revised.code, revised.document.run_id]).toEqual([0, 'R.r2']);
  });

  test('a signing key where there was none is refused, or begins a revision', async () => {
    const directory = copyOf(state);
    configure(directory);
    const before = objectsIn(directory);
    expect((await ask(directory, {})).code).toBe(state === 'finalized' ? 2 : 0);
    expect(objectsIn(directory)).toMatchObject(before);
  });

  test('a run of another name is refused from another service, and exported from this one', async () => {
    const directory = copyOf(state);
    const before = objectsIn(directory);
    const elsewhere = await ask(directory, {
      flags: { request: 'Q' },
      environment: { EVIDENCE_AUDIT_URL: other.url },
    });
    expect([elsewhere.code, elsewhere.said]).toEqual([2, expect.stringMatching(/^this archive belongs to /)]);
    expect(objectsIn(directory)).toEqual(before);
    expect((await ask(directory, { flags: { request: 'Q' } })).code).toBe(0);
  });
});

test('a service that moved is said once, and its runs go on at the new address', async () => {
  const directory = copyOf('finalized', true);
  const month = (period: string, url: string, flags = {}) =>
    ask(directory, { flags: { request: undefined, period, ...flags }, environment: { EVIDENCE_AUDIT_URL: url } });
  expect((await month('2026-02', other.url)).code).toBe(2);
  const dry = await month('2026-02', other.url, { serviceMoved: true, 'service-moved': true, 'dry-run': true });
  expect([dry.code, dry.document]).toMatchObject([0, { moved_from: service.url }]);
  const moved = await month('2026-02', other.url, { serviceMoved: true, 'service-moved': true });
  expect([moved.code, moved.said]).toEqual([0, '']);
  expect(recordIn(directory, moved.document.run_id).source).toMatchObject({
    audit_url: other.url,
    moved_from: service.url,
  });
  const after = await month('2026-03', other.url);
  expect(after.code).toBe(0);
  expect(recordIn(directory, after.document.run_id).source).toMatchObject({ audit_url: other.url, moved_from: null });
  expect((await month('2026-04', service.url)).code).toBe(2);
  expect((await carryOut(runVerify, { targets: ['evidence-archive'] }, directory)).code).toBe(0);
});
