import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { postEntries, type ServedPlatform, someEntries } from '../../support/platform.ts';
import type { Bench } from '../bench.ts';
import { inTurn, measure, type Program } from '../program.ts';
import { type Row, toRow } from '../row.ts';
import { limitProgram } from '../verifiers.ts';

const WRITERS = 4;
const APPENDS = 5_000;
const VERIFIED = 50_000;

/** Measures the service's throughput: sealed appends by several writers, and Verify of the result. */
export async function benchPlatform(bench: Bench): Promise<Row[]> {
  const each = Math.round(bench.options.entries / 5 / WRITERS);
  const total = each * WRITERS;
  const data = await bench.data(total);
  const platform = await bench.servePlatform();
  const sealed = join(bench.folder, 'sealed');
  const secondsOf = async (program: Program) => {
    const { seconds } = await measure(bench.programs.measure, bench.folder, program);
    return { seconds };
  };
  let round = 0;
  const streams = () => Array.from({ length: WRITERS }, (_, writer) => `round-${round}/writer-${writer}`);
  const programs = {
    append: () => {
      round++;
      return timed(() => Promise.all(streams().map((stream) => postEntries(platform, someEntries(stream, each)))));
    },
    verify: () => timed(() => verifyAll(platform, streams(), total)),
    seal: () =>
      secondsOf({
        command: [bench.programs.entries, String(total), sealed],
        before: () => mkdirSync(sealed, { recursive: true }),
      }),
    limit: () => secondsOf(limitProgram(bench, data, { seals: true })),
  };
  try {
    const names = Object.keys(programs) as (keyof typeof programs)[];
    const figures = await inTurn(bench.options.runs, names, (name) => {
      bench.options.log(`running ${name}`);
      return programs[name]();
    });
    const rate = (name: keyof typeof programs) => total / figures[name].seconds;
    return [
      rateRow('append', `platform: appends by ${WRITERS} writers`, APPENDS, rate('append'), [
        'entries.c',
        rate('seal'),
      ]),
      rateRow('verify', 'platform: Verify', VERIFIED, rate('verify'), ['limit seal', rate('limit')]),
    ];
  } finally {
    await platform.stop();
  }
}

function rateRow(id: string, what: string, atLeast: number, ours: number, [name, other]: [string, number]): Row {
  return toRow({
    id: `platform/${id}`,
    what,
    ours: { value: ours, unit: 'entries/s' },
    other: { name, value: other, unit: 'entries/s' },
    ratio: ours / other,
    goal: { of: 'ours', bound: '≥', value: atLeast },
  });
}

async function timed(work: () => Promise<unknown>): Promise<{ seconds: number }> {
  const began = performance.now();
  await work();
  return { seconds: (performance.now() - began) / 1000 };
}

/** Makes the service check streams one after another. @throws Error unless all entries pass. */
async function verifyAll(platform: ServedPlatform, streams: readonly string[], entries: number): Promise<void> {
  let checked = 0;
  for (const stream of streams) {
    const answer = await fetch(`${platform.auditUrl}/streams/${encodeURIComponent(stream)}/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.apiKey}` },
    });
    const verification = (await answer.json()) as { verified: boolean; entries_checked: number };
    if (!verification.verified) throw new Error(`Verify of ${stream} failed: ${JSON.stringify(verification)}`);
    checked += verification.entries_checked;
  }
  if (checked !== entries) throw new Error(`Verify checked ${checked} entries of ${entries}`);
}
