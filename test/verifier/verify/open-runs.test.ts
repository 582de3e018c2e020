import { expect, test } from 'vitest';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { abandonRun } from '../../../src/exporter/ledger/abandon.ts';
import { deriveEntry } from '../../../src/verifier/ledger/derive.ts';
import { toEarlierRun } from '../../../src/verifier/ledger/earlier-runs.ts';
import { readEntry } from '../../../src/verifier/ledger/ledger.ts';
import { ledgerKey, runRecordKey } from '../../../src/verifier/records/keys.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import type { RunCheck } from '../../../src/verifier/verify/run.ts';
import { countedOutcomes, settleSuperseded } from '../../../src/verifier/verify/superseded.ts';
import { runRecord, runStream } from '../../support/records.ts';
import { archiveOf, finalizeRun, newKey, problemsIn, tampered, verifyUnder } from '../../support/signed-archive.ts';

const KEY = newKey();
const textOf = (record: object) => Buffer.from(toRecordBytes(record)).toString();
const openIn = ({ open_runs }: Awaited<ReturnType<typeof verifyUnder>>) =>
  open_runs.map(({ run_id, state }) => `${run_id} ${state}`);

test.each([
  ['signed', KEY, [KEY]],
  ['not signed', null, []],
])('the newest run without its ledger entry is open, and refutes nothing: %s', async (_words, key, given) => {
  const archive = await tampered(await archiveOf(key, key), { [ledgerKey(2)]: null });
  for (const run of [undefined, 'run-2']) {
    const report = await verifyUnder(archive, given, run);
    expect([report.outcome, problemsIn(report), openIn(report)]).toEqual(['incomplete', [], ['run-2 unrecorded']]);
  }
});

test('a run without statement and ledger entry is open', async () => {
  const changes = { [ledgerKey(2)]: null, 'runs/run-2/run.dsse.json': null };
  const report = await verifyUnder(await tampered(await archiveOf(KEY, KEY), changes), [KEY]);
  expect([report.outcome, problemsIn(report)]).toEqual(['incomplete', []]);
});

test('a run that is recorded needs its statement', async () => {
  const report = await verifyUnder(await tampered(await archiveOf(KEY, KEY), { 'runs/run-2/run.dsse.json': null }), [
    KEY,
  ]);
  expect([report.outcome, problemsIn(report)]).toEqual(['refuted', ['object/missing runs/run-2/run.dsse.json']]);
});

const asText = (change: (record: RunRecord) => void) => (bytes: Buffer) => {
  const record = JSON.parse(bytes.toString());
  change(record);
  return textOf(record);
};
const PLANTED = textOf(runRecord('run-9', [], { finished_at: '2026-12-01T00:00:00.000Z' }));

/** Changes that show that an entry existed, or that no export left the run. */
test.each<[words: string, changes: Parameters<typeof tampered>[1], problem: string]>([
  ['an entry before the last was cut', { [ledgerKey(2)]: null }, 'ledger/missing-entry runs/run-2/run.json'],
  [
    'two entries were cut, and the later run names the earlier one',
    {
      [ledgerKey(2)]: null,
      [ledgerKey(3)]: null,
      'runs/run-3/run.json': asText((record) => {
        record.earlier_runs = [toEarlierRun(runRecord('run-2', [], { signed: true }))];
      }),
    },
    'ledger/missing-entry runs/run-2/run.json',
  ],
  [
    'a run that is not signed was planted',
    { [runRecordKey('run-9')]: PLANTED },
    'signature/missing runs/run-9/run.json',
  ],
])('refuted: %s', async (_words, changes, problem) => {
  const report = await verifyUnder(await tampered(await archiveOf(KEY, KEY, KEY), changes), [KEY]);
  expect([report.outcome, problemsIn(report)]).toEqual(['refuted', expect.arrayContaining([problem])]);
});

test('a ledger that records a run twice is refuted, and so is one that abandons what it records', async () => {
  const twice = await archiveOf(null);
  await finalizeRun(twice, 'run-1', null);
  const report = await verifyUnder(twice, []);
  expect([report.outcome, problemsIn(report)]).toEqual(['refuted', [`ledger/contradicts ${ledgerKey(2)}`]]);

  const both = await archiveOf(null);
  const abandoned_by = { user: 'u', host: 'h' };
  const abandonment = { run_id: 'run-1', reason: 'x', abandoned_by, abandoned_at: '2026-12-01T00:00:00.000Z' };
  await expect(abandonRun(both, abandonment, { signingKey: null, publicKeys: [] })).rejects.toMatchObject({
    code: 'usage',
  });
  const entry = deriveEntry({ kind: 'abandonment', abandonment }, await readEntry(both, ledgerKey(1)));
  const refuted = await verifyUnder(await tampered(both, { [ledgerKey(2)]: textOf(entry) }), []);
  expect(problemsIn(refuted)).toEqual([`ledger/contradicts ${ledgerKey(2)}`]);
});

test('a run may supersede only earlier revisions of its name', async () => {
  const archive = openMemoryArchive();
  await finalizeRun(archive, '2026-10', null);
  await finalizeRun(archive, '2026-10.r2', null, { supersedes: ['2026-10', '2026-09', '2026-10.r3'] });
  const { runs } = await verifyUnder(archive, []);
  expect(runs.flatMap(({ findings }) => findings.map(({ message }) => message))).toEqual([
    'replaces run 2026-09, which has another name',
    'replaces run 2026-10.r3, which has another name',
  ]);
});

/** A stream whose export refuted it by its anchor. */
const REFUTED = runStream('s', { status: 'refuted' }, { anchor: 'refuted' });

function checkOf(
  runId: string,
  more: { record?: Partial<RunRecord>; anchor?: string; found?: Partial<RunCheck> } = {},
) {
  const stream = more.record?.outcome === 'refuted' ? REFUTED : runStream('s');
  const {
    partial: _partial,
    missing: _missing,
    collected: _at,
    service: _service,
    bundle,
    record: _record,
    ...stated
  } = stream;
  const claims = { ...stated.claims, anchor: { state: more.anchor ?? 'proved' } };
  const refutation = [{ claim: 'anchor', reason: 'not pinned' }];
  const verdict = { ...stated, claims, ...(stream === REFUTED ? { recorded_refutation: refutation } : {}) };
  const parts = {
    bundle,
    required: ['order', 'content'],
    whole: true,
    altered: false,
    encrypted: false,
    attested: false,
  };
  return {
    runId,
    isRecorded: true,
    supersededBy: null,
    outcome: more.record?.outcome ?? 'verified',
    sha256: '',
    record: runRecord(runId, [stream], more.record),
    streams: [{ ...parts, verdict, contract: null, parts: [] }],
    supplements: null,
    attestations: null,
    findings: [],
    accounted: new Set(),
    ...more.found,
  } as unknown as RunCheck;
}

const BEFORE = { outcome: 'refuted' as const };
const REVISION = checkOf('m.r2', { record: { supersedes: ['m'] } });
const scope = { ...runRecord('m', []).scope, required_claims: ['order' as const, 'seal' as const] };

/** A refuted run and its replacement, with the archive's result. */
test.each<[words: string, before: RunCheck, after: RunCheck, isSettled: boolean]>([
  ['all that was refuted is proved here', checkOf('m', { record: BEFORE }), REVISION, true],
  ['an incomplete run', checkOf('m', { record: { outcome: 'incomplete' } }), REVISION, true],
  ['what was refuted is not proved here', checkOf('m', { record: BEFORE, anchor: 'unproved' }), REVISION, false],
  ['a stream vanished', checkOf('m', { record: { ...BEFORE, vanished: [{} as never] } }), REVISION, false],
  ['a revision that is refuted', checkOf('m', { record: BEFORE }), { ...REVISION, outcome: 'refuted' }, false],
  ['a revision that is incomplete', checkOf('m', { record: BEFORE }), { ...REVISION, outcome: 'incomplete' }, false],
  ['a revision that is in no entry', checkOf('m', { record: BEFORE }), { ...REVISION, isRecorded: false }, false],
  ['a revision that does not name it', checkOf('m', { record: BEFORE }), checkOf('m.r2'), false],
  ['another name', checkOf('m', { record: BEFORE }), checkOf('n.r2', { record: { supersedes: ['m'] } }), false],
  ['less required', checkOf('m', { record: { ...BEFORE, scope } }), REVISION, false],
])('superseded: %s', (_words, before, after, isSettled) => {
  const entries = [before, after].map(({ runId }) => ({ entry: { run_id: runId } }) as never);
  const settled = settleSuperseded([before, after], entries);
  expect(!countedOutcomes(settled).some((outcome) => outcome === 'refuted' || outcome === 'incomplete')).toBe(
    isSettled,
  );
  // A run cannot be replaced by a run that precedes it in the ledger.
  const [first] = settleSuperseded([before, after], entries.toReversed());
  expect(first?.supersededBy).toBeNull();
});
