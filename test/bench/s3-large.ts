/**
 * Sends one sparse file to an S3 archive, reads it back, and prints what that took:
 *
 *   node test/bench/s3-large.ts radosgw 3    GiB, to a real S3 with its data on disk
 *   node test/bench/s3-large.ts double 6     GiB, to the strict double of the tests, in a process of its own
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { measure } from '../../src/verifier/archive/archive.ts';
import { makeBucket, startRadosgw, stopRadosgw } from '../support/radosgw.ts';
import { DOUBLE_ENV, S3Double } from '../support/s3-double/double.ts';
import type { LargeStep, LargeTask } from '../support/s3-large.ts';

const PROGRAM = join(import.meta.dirname, '../support/s3-large.ts');

const [, , kind = 'radosgw', size = '3'] = process.argv;

if (kind === 'serve-double') {
  const double = await S3Double.start();
  process.send?.(double.endpoint);
} else {
  await sendTo(kind, Number(size) * 2 ** 30);
}

/** Starts the store and the exporter as separate processes, so that their memory is measured separately. */
async function sendTo(store: string, bytes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 's3-large-'));
  const file = join(folder, 'sparse');
  writeFileSync(file, 'evidence');
  truncateSync(file, bytes);
  const { endpoint, bucket, env, stop } = store === 'double' ? await serveDouble() : await serveRadosgw(folder);
  try {
    const task: LargeTask = { endpoint, bucket, file, expected: await measure(createReadStream(file)) };
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(task)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(child, 'close');
    for await (const line of createInterface(child.stdout)) print(JSON.parse(line), bytes);
    const [code] = await closed;
    process.exitCode = code ?? 1;
  } finally {
    stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serveDouble() {
  const child = fork(import.meta.filename, ['serve-double']);
  const endpoint = await new Promise<string>((resolve) => child.once('message', (text) => resolve(String(text))));
  return { endpoint, bucket: 'bucket', env: DOUBLE_ENV, stop: () => child.kill() };
}

async function serveRadosgw(folder: string) {
  const gateway = await startRadosgw(mkdtempSync(join(folder, 'rgw-')), { onDisk: true });
  const bucket = await makeBucket(gateway, 'lock');
  return { ...gateway, bucket, stop: () => stopRadosgw(join(gateway.caFile, '..')) };
}

function print({ step, memory, seconds }: LargeStep, bytes: number): void {
  const speed = step === 'start' ? '' : `, ${seconds.toFixed(1)} s, ${(bytes / seconds / 1e6).toFixed(0)} MB/s`;
  process.stdout.write(`${step}: peak ${(memory / 1e6).toFixed(0)} MB${speed}\n`);
}
