import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../../../src/core/digest.ts';
import type { Archive } from '../../../src/exporter/archive/archive.ts';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { bundleFileName, slugOf } from '../../../src/verifier/bundle/layout.ts';
import { bundleKey } from '../../../src/verifier/records/keys.ts';
import { verifyArchive } from '../../../src/verifier/verify/archive.ts';
import type { ArchiveContext } from '../../../src/verifier/verify/archive-reading.ts';
import { expectedOf } from '../../conformance/archive.ts';
import { runStream } from '../../support/records.ts';
import { type Behaviour, DOUBLE_ENV, S3Double } from '../../support/s3-double/double.ts';
import { doubleOptions } from '../../support/s3-double/options.ts';
import { archiveOf, finalizeRun, tampered } from '../../support/signed-archive.ts';

function verify(archive: Archive, more: Partial<ArchiveContext> = {}) {
  const trust = { sealKeys: new Map(), roots: null, stampRoots: null, publicKeys: [] };
  const workDirectory = mkdtempSync(join(tmpdir(), 'verify-archive-'));
  return verifyArchive({ archive, contract: null, ...trust, now: new Date(), workDirectory, ...more });
}

describe('a verification that goes on at a run', () => {
  test('looks at that one and those after it, and says what it left out', async () => {
    const ended: unknown[] = [];
    const { runs, ledger, warnings } = await verify(await archiveOf(null, null, null), {
      from: 'run-2',
      onRunEnd: ({ runId }, number, of) => ended.push([runId, number, of]),
    });
    expect(runs.map(({ run_id }) => run_id)).toEqual(['run-2', 'run-3']);
    expect(ended).toEqual([
      ['run-2', 1, 2],
      ['run-3', 2, 2],
    ]);
    expect([ledger.entries, warnings]).toEqual([3, ['Runs before run-2 were not verified.']]);
  });

  test.each([
    ['run-1', 0],
    ['run-3', 1],
  ])('finds what is wrong there and not elsewhere: %s', async (runId, found) => {
    const archive = await tampered(await archiveOf(null, null, null), { [`runs/${runId}/extra`]: 'x' });
    expect((await verify(archive, { from: 'run-2' })).objects.unexpected).toHaveLength(found);
  });
});

describe('a fast verification', () => {
  const KEY = bundleKey('2026-10', bundleFileName(slugOf('s'), 'COMPLETE'));
  const CONTENT = 'what stands for a bundle, and is none';
  let double: S3Double | undefined;
  beforeAll(() => {
    Object.assign(process.env, DOUBLE_ENV);
  });
  afterEach(() => double?.stop());

  /** Verifies a run with one unreadable bundle; `recorded` is the content that its record describes. */
  async function verifyRun(behaviour: Partial<Behaviour>, fast: boolean, recorded = CONTENT, over?: string) {
    double = await S3Double.start(behaviour);
    const archive = openS3Archive({ bucket: 'bucket', prefix: '' }, doubleOptions(double));
    await archive.put(KEY, { bytes: Buffer.from(CONTENT) }, expectedOf(CONTENT));
    const bundle = { ...runStream('s').bundle, key: KEY, ...expectedOf(recorded) };
    await finalizeRun(archive, '2026-10', null, { streams: [{ ...runStream('s'), bundle, record: null }] });
    if (over !== undefined) {
      const [own] = double.bucket.names.get(KEY) ?? [];
      if (own === undefined) throw new Error('nothing was stored');
      const etag = over === CONTENT ? own.etag : `"${sha256(Buffer.from(over))}"`;
      double.bucket.store(KEY, { ...own, etag });
    }
    const before = readsOf(double);
    const report = await verify(archive, { fast });
    await archive.close();
    return { report, reads: readsOf(double) - before, attested: report.runs[0]?.streams.map((s) => s.attested) };
  }

  const readsOf = ({ requests }: S3Double) =>
    requests.filter(({ operation, name }) => operation === 'GetObject' && name === KEY).length;

  test('does not read what the store attests, and calls the claims recorded, not proved', async () => {
    const { report, reads, attested } = await verifyRun({}, true);
    expect([report.outcome, report.exit_code, reads, attested]).toEqual(['recorded', 4, 0, [true]]);
    const [stream] = report.runs[0]?.streams ?? [];
    expect(stream?.status).toBe('recorded');
    for (const claim of Object.values(stream?.claims ?? {}))
      expect(claim).toEqual({ state: 'recorded', recorded: 'proved', reason: 'recorded as proved, not read here' });
  });

  test.each([
    ['the same content', CONTENT, 'recorded', [], 1],
    ['another one', `${CONTENT}.`, 'refuted', ['object/covered'], 0],
  ])('warns of a second version of %s, or names it', async (_what, over, outcome, codes, warned) => {
    const { report } = await verifyRun({}, true, CONTENT, over);
    expect([report.outcome, report.objects.unexpected.map(({ code }) => code)]).toEqual([outcome, codes]);
    expect(report.warnings.filter((warning) => warning.startsWith(`${KEY} is stored more than once`))).toHaveLength(
      warned,
    );
  });

  test.each([
    ['the store attests nothing', { checksums: false }, true, CONTENT],
    ['the store attests something else', {}, true, `${CONTENT}.`],
    ['it is not to be fast', {}, false, CONTENT],
  ] as const)('reads a bundle where %s', async (_what, behaviour, fast, recorded) => {
    const { report, reads } = await verifyRun(behaviour, fast, recorded);
    expect([report.outcome, reads]).toEqual(['refuted', 1]);
    expect(report.objects.altered.map(({ key }) => key)).toContain(KEY);
    // Reports do not show the path of the temporary copy.
    expect(JSON.stringify(report)).not.toContain(tmpdir());
  });
});
