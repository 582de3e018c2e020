import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../../../fuzz/packages.ts';
import { readOne } from '../../../support/dialects.ts';
import { someRows } from '../../../support/some-rows.ts';
import { buildFuzzTarget, seedsOf, takenBy } from './native.ts';

/** Decoder's C under AddressSanitizer and UndefinedBehaviorSanitizer, whose findings end the program. */
const folder = mkdtempSync(join(tmpdir(), 'native-'));
const corpus = join(folder, 'corpus');
const seeds = seedsOf(randomFrom(2026), 3);
let target: string;

beforeAll(async () => {
  target = await buildFuzzTarget(join(folder, 'built'));
  mkdirSync(corpus);
  for (const [index, { input }] of seeds.entries()) writeFileSync(join(corpus, `seed-${index}`), input);
});
afterAll(() => rmSync(folder, { recursive: true }));

const [RUNS = 0] = someRows([1000, 4000], () => 'inputs').slice(-1);

test('inputs that are made of packages of all dialects, break nothing', async () => {
  expect(readdirSync(corpus).length).toBeGreaterThanOrEqual(seeds.length);
  const { stderr } = await promisify(execFile)(
    target,
    ['-seed=1', `-runs=${RUNS}`, '-max_len=8192', `-artifact_prefix=${folder}/`, corpus],
    { maxBuffer: 2 ** 26 },
  );
  expect(Number(/^Done (\d+) runs/m.exec(stderr)?.[1])).toBeGreaterThanOrEqual(RUNS);
});

test('what is taken has the number and the digests that the plain reader finds', async () => {
  const taken = await takenBy(target, corpus, seeds);
  expect(taken.length).toBeGreaterThan(500);
  for (const { dialect, bytes, sequence, stated, computed } of taken) {
    const entry = readOne(dialect, bytes.toString('latin1'));
    expect([entry?.sequence, entry?.digest, entry?.content], `${dialect.name}: ${bytes}`).toMatchObject([
      sequence,
      stated,
      { state: 'computed', digest: computed },
    ]);
  }
});
