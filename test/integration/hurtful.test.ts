import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOf, packageOf } from '../support/chain.ts';
import { COUNTED, type Cost, costIn } from '../support/cost.ts';
import { HURTFUL } from '../support/hurtful.ts';
import { EVIDENCE, nodeToEnd } from '../support/process.ts';
import { someRows } from '../support/some-rows.ts';

/** Bound on the time for four times the size; quadratic growth would take sixteen times as long. */
const GROWTH = 8;
/** Differences of up to this many seconds are noise. */
const NOISE = 0.5;

/** Scale of each case's sizes. */
const [SCALE = 1] = someRows([0.5, 1], () => 'sizes').slice(-1);

let folder: string;
let small: Verified;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hurtful-test-'));
  small = await verify([JSON.stringify(packageOf(chainOf(3)))]);
  expect(small.exit).toBe(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(HURTFUL)('$name: the right answer, in time that grows with the size and bounded memory', async (one) => {
  const costs: Verified[] = [];
  for (const size of one.sizes) {
    const verified = await verify(one.write(size * SCALE));
    expect({ exit: verified.exit, findings: verified.findings }).toEqual({ exit: one.exit, findings: one.findings });
    costs.push(verified);
  }
  const [less, more] = costs.map(({ seconds }) => Math.max(0, seconds - small.seconds));
  expect(more).toBeLessThan(GROWTH * (less ?? 0) + NOISE);
  expect((costs[1]?.memory ?? Infinity) - small.memory).toBeLessThan(one.memory);
});

interface Verified extends Cost {
  exit: number | null;
  findings: string[];
}

async function verify(pieces: Iterable<string>): Promise<Verified> {
  const file = join(folder, 'evidence.json');
  await pipeline(Readable.from(pieces), createWriteStream(file));
  const { code, stdout, stderr } = await nodeToEnd(EVIDENCE, ['verify', file, '--json', '--quiet'], {
    cwd: folder,
    nodeFlags: COUNTED,
  });
  const { streams } = JSON.parse(stdout) as { streams: { findings: { code: string }[] }[] };
  const codes = streams.flatMap(({ findings }) => findings.map((finding) => finding.code));
  return { exit: code, findings: [...new Set(codes)], ...costIn(stderr) };
}
