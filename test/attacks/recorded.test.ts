import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../src/core/digest.ts';
import { Printer } from '../../src/core/terminal/printer.ts';
import { openMemoryArchive } from '../../src/exporter/archive/memory.ts';
import type { TrustReport } from '../../src/exporter/cli/output/trust-report.ts';
import { printArchive } from '../../src/exporter/cli/output/verify-report.ts';
import { VERIFICATION_DOCUMENT } from '../../src/verifier/bundle/documents.ts';
import { bundleFileName, slugOf } from '../../src/verifier/bundle/layout.ts';
import { openBundle } from '../../src/verifier/bundle/read.ts';
import { CLAIMS } from '../../src/verifier/claims/claim.ts';
import type { Verdict } from '../../src/verifier/claims/verdict.ts';
import { encryptFile } from '../../src/verifier/encryption/age.ts';
import { Identities, readRecipients } from '../../src/verifier/encryption/keys.ts';
import { toStreamFinding } from '../../src/verifier/model/stream-finding.ts';
import { bundleKey } from '../../src/verifier/records/keys.ts';
import type { RunRecord, RunStream } from '../../src/verifier/records/record.ts';
import { readRecord } from '../../src/verifier/records/record-bytes.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import type { ArchiveReport } from '../../src/verifier/verify/archive-report.ts';
import { chainOf, packageOf } from '../support/chain.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { NO_SUPPLEMENTS, TIME_FIELDS } from '../support/records.ts';
import { finalizeRun, problemsIn } from '../support/signed-archive.ts';

/** Unsigned archives whose digests are all correct: the verdicts on claims that no reader checked. */

const folder = mkdtempSync(join(tmpdir(), 'recorded-'));
const secrets: string[] = [];
const recipients: string[] = [];

beforeAll(async () => {
  for (let count = 0; count < 2; count++) {
    const secret = await generateX25519Identity();
    secrets.push(secret);
    recipients.push(await identityToRecipient(secret));
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Stored {
  streamId: string;
  /** Index of the recipient; null for an unencrypted bundle. */
  to: number | null;
  entries?: number;
  missing?: boolean;
  restate?: (verdict: Verdict) => Verdict;
  sealKeyIds?: string[];
  /** Replaces the bundle in the archive and corrects all digests. */
  replace?: (bytes: Buffer) => Buffer;
  /** Changes the stream in the run record. */
  record?: (stream: RunStream) => RunStream;
}

/** Verifies an archive with one run of these streams. */
async function verify(
  streams: readonly Stored[],
  options: { identities?: number[]; run?: Partial<RunRecord> } = {},
): Promise<ArchiveReport> {
  const archive = openMemoryArchive();
  const recorded: RunStream[] = [];
  for (const stream of streams) {
    const { content, record } = await store(stream);
    const { key, bytes, sha256: digest } = record.bundle;
    await archive.put(key, { bytes: content }, { bytes, sha256: digest });
    recorded.push((stream.record ?? ((same) => same))(record));
  }
  await finalizeRun(archive, 'A', null, { streams: recorded, ...options.run });
  return verifyArchive({
    archive,
    contract: null,
    sealKeys: new Map(),
    roots: null,
    stampRoots: null,
    publicKeys: [],
    now: new Date(),
    workDirectory: folder,
    identities: options.identities === undefined ? null : identitiesOf(options.identities),
  });
}

const identitiesOf = (numbers: readonly number[]) => new Identities(numbers.map((number) => secrets[number] ?? ''));

async function store({ streamId, to, entries = 5, missing = false, restate, sealKeyIds = [], replace }: Stored) {
  const target = join(folder, 'bundle.zip');
  const chain = chainOf(entries, { stream_id: streamId });
  const evidence = Buffer.from(JSON.stringify(packageOf(chain, { stream: { stream_id: streamId } })));
  const forms = missing ? [{ form: 'pdf', code: 'service' as const, reason: '503, after five attempts' }] : [];
  const more = restate === undefined ? {} : { restate };
  const made = { target, evidence, runId: 'A', missing: forms, sealKeyIds, ...more };
  const { identity, beside } = await writePackageBundle(made);
  const bundle = await openBundle(target);
  const verification = await bundle.readFile('data/verification.json', 2 ** 20);
  await bundle.close();
  const { verdict } = readRecord(VERIFICATION_DOCUMENT, verification, target);
  const zip = readFileSync(target);
  const finalized = to === null ? zip : await encrypted(target, zip, recipients[to] ?? '');
  const content = (replace ?? ((same) => same))(finalized);
  const name = bundleFileName(slugOf(streamId), missing ? 'PARTIAL' : 'COMPLETE', to !== null);
  const inZip = { bytes: zip.length, sha256: sha256(zip), recipients: [recipients[to ?? 0] ?? ''] };
  const record: RunStream = {
    ...verdict,
    ...beside,
    partial: missing,
    missing: forms,
    bundle: {
      key: bundleKey('A', name),
      bytes: content.length,
      sha256: sha256(content),
      identity,
      ...(to === null ? {} : { encrypted: inZip }),
    },
    record: null,
  };
  return { content, record };
}

async function encrypted(source: string, zip: Buffer, recipient: string): Promise<Buffer> {
  const target = `${source}.age`;
  const names = readRecipients([recipient], 'recipients');
  const expected = { bytes: zip.length, sha256: sha256(zip) };
  await encryptFile(source, target, names, expected, new AbortController().signal);
  const content = readFileSync(target);
  rmSync(target);
  return content;
}

const NO_TRUST: TrustReport = {
  configuration: null,
  public_keys: [],
  seal_keys: [],
  timestamp_roots: null,
  stamp_roots: null,
  without_claims: [],
  required_claims: ['order'],
  endpoint: null,
  contracts: [],
  decoders: 'fast and reference',
};

function textOf(report: ArchiveReport): string {
  let text = '';
  printArchive(
    report,
    NO_TRUST,
    new Printer({ json: false, quiet: true, stdout: { write: (more) => (text += more) } }),
  );
  return text;
}

const summaryOf = ({ exit_code, outcome, runs }: ArchiveReport) => [
  exit_code,
  outcome,
  runs.flatMap(({ streams }) => streams.map(({ status }) => status)),
];
const refutedVerdict = (verdict: Verdict): Verdict => ({
  ...verdict,
  status: 'refuted',
  claims: { ...verdict.claims, seal: { state: 'refuted', reason: '1 deviation' } },
});
const LOCKED: Stored = { streamId: 'locked', to: 0 };
const OPEN: Stored = { streamId: 'open', to: null };

describe('bundles that were not opened', () => {
  type Row = [words: string, streams: Stored[], identities: number[] | undefined, expected: unknown[]];
  test.each<Row>([
    ['all, without an identity', [LOCKED], undefined, [4, 'recorded', ['recorded']]],
    ["all, with another's identity", [LOCKED], [1], [4, 'recorded', ['recorded']]],
    ['none', [LOCKED], [0], [0, 'verified', ['verified']]],
    ['one of two', [LOCKED, OPEN], undefined, [3, 'incomplete', ['recorded', 'verified']]],
    ['one of two recipients', [LOCKED, { streamId: 'b', to: 1 }], [1], [3, 'incomplete', ['recorded', 'verified']]],
    [
      'one beside an empty stream',
      [LOCKED, { streamId: 'none', to: null, entries: 0 }],
      undefined,
      [4, 'recorded', ['recorded', 'empty']],
    ],
    ['one that is recorded as partial', [{ ...LOCKED, missing: true }], undefined, [4, 'recorded', ['recorded']]],
    [
      'one that is recorded as refuted',
      [{ ...LOCKED, restate: refutedVerdict }],
      undefined,
      [1, 'refuted', ['recorded']],
    ],
  ])('%s', async (_words, streams, identities, expected) => {
    const report = await verify(streams, identities === undefined ? {} : { identities });
    expect([problemsIn(report), summaryOf(report)]).toEqual([[], expected]);
  });

  test('state no claim as proved, in the document and to the reader, and say that nothing was checked', async () => {
    const report = await verify([LOCKED]);
    const { claims } = report.runs[0]?.streams[0] ?? expect.unreachable();
    for (const name of CLAIMS)
      expect(claims[name]).toEqual({
        state: 'recorded',
        recorded: ['order', 'content', 'continuity'].includes(name) ? 'proved' : 'unproved',
        reason: expect.stringMatching(/^recorded as (un)?proved, not opened here$/),
      });
    const text = textOf(report);
    expect(text).toContain('? recorded, not checked here');
    expect(text).toContain('? order, content, continuity: recorded as proved, not opened here (1 stream)');
    expect(text).toContain('recorded: no bundle was opened (exit code 4)');
    const table = text.slice(text.indexOf('locked'), text.indexOf('\n\n'));
    expect(table).not.toContain('✓');
  });
});

describe('an encrypted bundle, replaced with all digests set right', () => {
  const HEADER = Buffer.from('age-encryption.org/v1\n');
  test.each<[words: string, replace: () => Buffer, identities: number[] | undefined, code: number, found: string[]]>([
    ['by random bytes', () => randomBytes(5000), undefined, 1, ['object/unreadable']],
    ['by random bytes, with an identity', () => randomBytes(5000), [0], 1, ['object/unreadable']],
    ['by random bytes after the first line of age', () => Buffer.concat([HEADER, randomBytes(5000)]), undefined, 4, []],
    ['by the same, with an identity', () => Buffer.concat([HEADER, randomBytes(5000)]), [0], 1, ['object/unreadable']],
  ])('%s', async (_words, replace, identities, code, found) => {
    const report = await verify([{ ...LOCKED, replace }], identities === undefined ? {} : { identities });
    expect(report.exit_code).toBe(code);
    expect(problemsIn(report).map((finding) => finding.split(' ')[0])).toEqual(found);
    expect(report.outcome).not.toBe('verified');
  });
});

describe('what is recorded as proved and cannot be checked here', () => {
  const finalized = (verdict: Verdict): Verdict => ({
    ...verdict,
    claims: { ...verdict.claims, seal: { state: 'proved', basis: '5 of 5 seals recomputed' } },
  });

  test('by the run record alone, contradicts the bundle', async () => {
    const report = await verify([{ ...OPEN, record: (stream) => ({ ...stream, ...finalized(stream) }) }]);
    expect([report.exit_code, problemsIn(report)]).toEqual([1, ['record/differs runs/A/run.json']]);
  });

  test('by run record and bundle, is not shown as ours, and said to be recorded', async () => {
    const report = await verify([{ ...OPEN, restate: finalized, sealKeyIds: ['k1'] }]);
    expect([report.exit_code, problemsIn(report)]).toEqual([0, []]);
    expect(report.runs[0]?.streams[0]?.claims.seal).toMatchObject({ state: 'unproved', recorded: 'proved' });
    expect(textOf(report)).toContain('– seal: recorded as proved, not checked here: no seal key was given (1 stream)');
  });
});

describe('a run record that says of a bundle what it is not', () => {
  test.each<[words: string, record: (stream: RunStream) => RunStream]>([
    ['another verdict', (stream) => ({ ...stream, entries: stream.entries + 1 })],
    ['a missing form', (stream) => ({ ...stream, missing: [{ form: 'pdf', code: 'service', reason: '503' }] })],
  ])('%s', async (_words, record) => {
    const report = await verify([{ ...OPEN, record }]);
    expect([report.exit_code, problemsIn(report)]).toEqual([1, ['record/differs runs/A/run.json']]);
  });

  test.each<[words: string, run: Partial<RunRecord>]>([
    ['another period', { period: { from: '2026-10-01T00:00:00.000Z', to: null } }],
    [
      'another audit service',
      {
        source: {
          audit_url: 'https://other.example.com',
          contract: 'default',
          contract_sha256: null,
          time_fields: TIME_FIELDS,
          moved_from: null,
          requests: [],
        },
      },
    ],
  ])('%s', async (_words, run) => {
    const report = await verify([OPEN], { run });
    expect([report.exit_code, problemsIn(report)]).toEqual([1, ['record/differs runs/A/run.json']]);
  });

  test('a run that is refuted says why, and names the streams that are not in it', async () => {
    const finding = toStreamFinding('continuity/stream-vanished', 'gone', 'the service no longer lists the stream');
    const run = {
      outcome: 'refuted' as const,
      vanished: [{ stream_id: 'gone', head: { sequence: 3, hash: 'ab', run_id: 'A' }, entries: 3, finding }],
      failed: [
        { stream_id: 'broken', code: 'service' as const, reason: 'it answered 500', next_step: 'Run it again.' },
      ],
      excluded: [{ stream_id: 'left', pattern: 'left' }],
      reconciliation: {
        listed: 3,
        exported: 1,
        partial: 0,
        failed: 1,
        empty: 0,
        excluded: 1,
        supplements: NO_SUPPLEMENTS,
      },
    };
    const report = await verify([OPEN], { run });
    const text = textOf(report);
    expect(report.exit_code).toBe(1);
    for (const line of [
      'continuity/stream-vanished gone: the service no longer lists the stream',
      'not exported broken: it answered 500',
      'excluded left: --exclude left',
    ])
      expect(text).toContain(line);
  });

  test.each<[words: string, run: Partial<RunRecord>]>([
    ['that it is refuted, by nothing that it names', { outcome: 'refuted' }],
    [
      'that a stream is listed, and not what became of it',
      {
        stream_list: {
          pages: [],
          streams: [{ stream_id: 'x', entries: 1, head: { sequence: null, hash: null } }],
        },
      },
    ],
  ])('%s', async (_words, run) => {
    const report = await verify([OPEN], { run });
    expect([report.exit_code, problemsIn(report)]).toEqual([1, ['record/differs runs/A/run.json']]);
  });

  test('a run without a stream is no success, whatever it says of itself', async () => {
    expect(summaryOf(await verify([]))).toEqual([4, 'empty', []]);
  });
});
