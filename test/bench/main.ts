import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Bench } from './bench.ts';
import { describeMachine, formatMachine } from './machine.ts';
import { type Options, readOptions, SECTIONS, USAGE, WHOLE } from './options.ts';
import type { Row } from './row.ts';
import { findPlanted, refuseUnsound } from './soundness.ts';
import { formatTable } from './table.ts';

// Relative paths are relative to the folder in which npm was called.
const here = process.env['INIT_CWD'] ?? process.cwd();

try {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') process.stdout.write(USAGE);
  else await runBench(options);
} catch (error) {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  process.stderr.write(`${message}\n${cause instanceof Error ? `${cause.message}\n` : ''}`);
  process.exitCode = 1;
}

async function runBench(options: Options): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'evidence-bench-'));
  // Temporary files of the measured programs are deleted with ours, however the bench ends.
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const bench = await Bench.prepare(folder, { ...options, log: (line) => process.stderr.write(`${line}\n`) });
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    process.once(signal, () => void bench.close().finally(() => process.exit(code)));
  try {
    await measureAll(bench, options);
  } finally {
    await bench.close();
  }
}

async function measureAll(bench: Bench, options: Options): Promise<void> {
  const planted = await findPlanted(bench);
  refuseUnsound(planted);
  const rows: Row[] = [];
  for (const name of options.sections) rows.push(...((await SECTIONS[name]?.(bench)) ?? []));
  report(options, { planted, rows });
}

function report(options: Options, { planted, rows }: { planted: object; rows: Row[] }): void {
  const machine = describeMachine();
  const { entries, runs, json } = options;
  process.stdout.write(
    `${formatMachine(machine)}\nMedians of ${runs}, programs run in turn${scale(entries)}\n\n${formatTable(rows)}\n`,
  );
  if (json === null) return;
  const document = { made_at: new Date().toISOString(), machine, entries, runs, planted, rows };
  writeFileSync(resolve(here, json), `${JSON.stringify(document, null, 2)}\n`);
}

function scale(entries: number): string {
  if (entries >= WHOLE.entries) return '';
  const [here, meant] = [entries, WHOLE.entries].map((count) => count.toLocaleString('en'));
  return `; the goals are meant for ${meant} entries: with ${here} the starts of processes weigh more`;
}
