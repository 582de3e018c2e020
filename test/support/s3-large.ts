import { readFileSync } from 'node:fs';
import { differenceTo } from '../../src/exporter/archive/content.ts';
import { openS3Archive } from '../../src/exporter/archive/s3/archive.ts';
import { DEFAULT_S3_LIMITS } from '../../src/exporter/archive/s3/options.ts';
import { type Expected, measure } from '../../src/verifier/archive/archive.ts';

/** Argument of the program, as JSON. */
export interface LargeTask {
  endpoint: string;
  bucket: string;
  file: string;
  expected: Expected;
}

/** Output after each step, as a line of JSON. */
export interface LargeStep {
  step: 'start' | 'put' | 'read';
  /** Peak of resident memory in bytes. */
  memory: number;
  seconds: number;
}

/** Stores a file in an S3 archive and reads it back, in the memory that an export has. */
const { endpoint, bucket, file, expected }: LargeTask = JSON.parse(process.argv[2] ?? '');
const { signal } = new AbortController();
const retention = { mode: 'governance', years: 1 } as const;
const archive = openS3Archive(
  { bucket, prefix: 'large/' },
  { endpoint, pathStyle: true, legalHold: false, retention, limits: DEFAULT_S3_LIMITS, signal },
);
const KEY = 'runs/large.zip';
let began = performance.now();
report('start');
await archive.put(KEY, { file }, expected);
report('put');
const difference = differenceTo(expected, await measure(await archive.read(KEY)));
report('read');
await archive.close();
if (difference !== undefined) throw new Error(`read back ${difference}`);

/** Reads VmHWM, because `maxRSS` of `resourceUsage` starts with the parent's memory. */
function report(step: LargeStep['step']): void {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? [];
  const seconds = (performance.now() - began) / 1000;
  const said: LargeStep = { step, memory: Number(kilobytes) * 1024, seconds };
  process.stdout.write(`${JSON.stringify(said)}\n`);
  began = performance.now();
}
