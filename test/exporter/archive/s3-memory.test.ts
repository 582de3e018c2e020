import { createReadStream, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { openS3Archive } from '../../../src/exporter/archive/s3/archive.ts';
import { type Expected, measure } from '../../../src/verifier/archive/archive.ts';
import { documentKey } from '../../../src/verifier/records/keys.ts';
import { COUNTED, costIn } from '../../support/cost.ts';
import { EVIDENCE, nodeToEnd } from '../../support/process.ts';
import { type Behaviour, DOUBLE_ENV, S3Double } from '../../support/s3-double/double.ts';
import { doubleOptions } from '../../support/s3-double/options.ts';
import type { LargeStep, LargeTask } from '../../support/s3-large.ts';
import { finalizeRun } from '../../support/signed-archive.ts';

const BYTES = 350e6;
/** Bound well above the garbage of a busy machine (up to 220 seen), and well below the object. */
const LIMIT_MB = 300;

let folder: string;
let file: string;
let expected: Expected;
let double: S3Double;
beforeAll(async () => {
  Object.assign(process.env, DOUBLE_ENV);
  folder = mkdtempSync(join(tmpdir(), 's3-memory-'));
  file = join(folder, 'sparse');
  writeFileSync(file, 'evidence');
  truncateSync(file, BYTES);
  expected = await measure(createReadStream(file));
});
afterEach(() => double.stop());

async function serve(behaviour: Partial<Behaviour>): Promise<void> {
  double = await S3Double.start(behaviour);
}

test(`an object of ${BYTES / 1e6} MB is stored in parts and read back in less than ${LIMIT_MB} MB`, async () => {
  // The store returns no checksums, so the archive reads the object back at once.
  await serve({ checksums: false });
  const task: LargeTask = { endpoint: double.endpoint, bucket: 'bucket', file, expected };
  const program = resolve(import.meta.dirname, '../../support/s3-large.ts');
  const { code, stdout, stderr } = await nodeToEnd(program, [JSON.stringify(task)], { cwd: folder, env: DOUBLE_ENV });
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trim().split('\n');
  const steps = lines.map((line): LargeStep => JSON.parse(line));
  expect(steps.map(({ step }) => step)).toEqual(['start', 'put', 'read']);
  expect([double.count('UploadPart') > 20, double.count('GetObject')]).toEqual([true, 2]);
  for (const { step, memory } of steps) expect(memory / 1e6, step).toBeLessThan(LIMIT_MB);
});

test(`a run with an object of ${BYTES / 1e6} MB is verified in less than ${LIMIT_MB} MB`, async () => {
  await serve({});
  const archive = openS3Archive({ bucket: 'bucket', prefix: 'prod/' }, doubleOptions(double));
  const document = { name: 'report.pdf', key: documentKey('2026-10', 'report.pdf'), ...expected };
  await archive.put(document.key, { file }, expected);
  await finalizeRun(archive, '2026-10', null, { documents: [document] });
  await archive.close();
  const args = ['verify', 's3://bucket/prod', '--endpoint', double.endpoint, '--json', '--quiet'];
  const { code, stdout, stderr } = await nodeToEnd(EVIDENCE, args, {
    cwd: folder,
    env: DOUBLE_ENV,
    nodeFlags: COUNTED,
  });
  expect([code, JSON.parse(stdout).objects]).toMatchObject([4, { checked: 4, altered: [], missing: [] }]);
  expect(costIn(stderr).memory / 1e6).toBeLessThan(LIMIT_MB);
});
