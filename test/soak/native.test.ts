import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { randomFrom } from '../fuzz/packages.ts';
import { buildFuzzTarget, seedsOf } from '../verifier/decode/native/native.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60);
const SEED = Number(process.env['SOAK_SEED'] ?? Date.now() % 2 ** 31);

/** For half an hour, run `SOAK_SECONDS=1800 npm run test:soak -- native`. */
test(`the decoder's C, under sanitizers, seed ${SEED}`, { timeout: (SECONDS + 300) * 1000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'soak-native-'));
  const corpus = join(folder, 'corpus');
  const found = join(folder, 'found');
  try {
    for (const name of [corpus, found]) mkdirSync(name);
    const target = await buildFuzzTarget(join(folder, 'built'));
    for (const [index, { input }] of seedsOf(randomFrom(SEED), 8).entries())
      writeFileSync(join(corpus, `seed-${index}`), input);
    const limits = [`-max_total_time=${SECONDS}`, '-max_len=16384', '-timeout=60', '-report_slow_units=60'];
    const options = [`-seed=${SEED}`, ...limits, `-artifact_prefix=${found}/`, '-print_final_stats=1'];
    const { stderr } = await promisify(execFile)(target, [...options, corpus], { maxBuffer: 2 ** 28 });
    expect(stderr).toMatch(/^stat::number_of_executed_units: [1-9]\d+$/m);
    expect(readdirSync(found)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
