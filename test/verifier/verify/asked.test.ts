import { expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import { EvidenceError } from '../../../src/core/errors.ts';
import { openMemoryArchive } from '../../../src/exporter/archive/memory.ts';
import { askedKey } from '../../../src/verifier/records/keys.ts';
import type { Asked } from '../../../src/verifier/records/question.ts';
import { toRecordBytes } from '../../../src/verifier/records/record-bytes.ts';
import { runRecord } from '../../support/records.ts';
import { finalizeRun, problemsIn, verifyUnder } from '../../support/signed-archive.ts';

const RUN = 'run-1';
const { source, period, scope, begun_at, begun_at_by_service, operator } = runRecord(RUN, []);
const { audit_url, contract, contract_sha256 } = source;
const HONEST: Asked = {
  format: 'evidence-asked/7',
  run_id: RUN,
  source: { audit_url, contract, contract_sha256 },
  period,
  scope,
  begun_at,
  begun_at_by_service,
  nonce: '0'.repeat(64),
  operator,
  binding: null,
};

/** Returns an archive with a run whose record names its request by digest. */
async function archiveWith(asked: unknown) {
  const archive = openMemoryArchive();
  const bytes = toRecordBytes(asked);
  const stored = { key: askedKey(RUN), bytes: bytes.length, sha256: sha256(bytes) };
  await archive.put(stored.key, { bytes }, stored);
  await finalizeRun(archive, RUN, null, { documents: [{ name: 'asked.json', ...stored }] });
  return archive;
}

async function verifiedWith(asked: unknown) {
  return verifyUnder(await archiveWith(asked), []);
}

test('what a run was begun with, as its record says', async () => {
  expect(problemsIn(await verifiedWith(HONEST))).toEqual([]);
});

test('one that is a link or a device is named, and all else is verified', async () => {
  const archive = await archiveWith(HONEST);
  const stat = archive.stat.bind(archive);
  archive.stat = async (key) => {
    if (key === askedKey(RUN)) throw new EvidenceError('unreadable', `${key} is a link`);
    return stat(key);
  };
  const report = await verifyUnder(archive, []);
  expect([report.outcome, new Set(problemsIn(report))]).toEqual([
    'refuted',
    new Set([`object/unreadable ${askedKey(RUN)}`]),
  ]);
});

test.each<[what: string, asked: unknown, code: string, said: RegExp]>([
  ['another run', { ...HONEST, run_id: 'run-2' }, 'record/differs', /: run or time of beginning$/],
  ['another beginning', { ...HONEST, begun_at: '2026-01-01T00:00:00.000Z' }, 'record/differs', /time of beginning$/],
  [
    'another beginning by the clock of the service',
    { ...HONEST, begun_at_by_service: '2026-01-01T00:00:00.000Z' },
    'record/differs',
    /time of beginning$/,
  ],
  [
    'another service',
    { ...HONEST, source: { ...HONEST.source, audit_url: 'x' } },
    'record/differs',
    /: audit service: x → /,
  ],
  ['other streams', { ...HONEST, scope: { ...scope, streams: ['a'] } }, 'record/differs', /: streams: a → all$/],
  [
    'another period',
    { ...HONEST, period: { ...period, from: '2020-01-01T00:00:00.000Z' } },
    'record/differs',
    /: period: 2020/,
  ],
  ['nothing', {}, 'object/unreadable', /is not the record it should be/],
])('%s than its record says is found', async (_what, asked, code, said) => {
  const report = await verifiedWith(asked);
  expect([report.outcome, problemsIn(report)]).toEqual(['refuted', [`${code} ${askedKey(RUN)}`]]);
  expect(report.runs[0]?.findings[0]?.message).toMatch(said);
});
