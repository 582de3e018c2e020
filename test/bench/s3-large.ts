/**
 * Sends one sparse file to an S3 archive, reads it back, and prints what that took:
 *
 *   node test/bench/s3-large.ts radosgw 3    GiB, to a real S3 with its data on disk
 *   node test/bench/s3-large.ts double 6     GiB, to the strict double of the tests, in a process of its own
 */
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { openS3Archive } from '../../src/archive/s3/archive.ts';
import { DEFAULT_LIMITS } from '../../src/archive/s3/options.ts';
import { makeBucket, startRadosgw, stopRadosgw } from '../support/radosgw.ts';
import { DOUBLE_ENV, S3Double } from '../support/s3-double/double.ts';

const [, , kind = 'radosgw', size = '3', given] = process.argv;

if (kind === 'serve-double') {
  const double = await S3Double.start();
  process.send?.(double.endpoint);
} else if (given === undefined) {
  await compare(kind, Number(size) * 2 ** 30);
} else {
  await sendAndRead(JSON.parse(given));
}

interface Task {
  endpoint: string;
  bucket: string;
  file: string;
  sha256: string;
  bytes: number;
}

/** The store and the exporter's part are processes of their own, so that the memory of the one is not the other's. */
async function compare(store: string, bytes: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 's3-large-'));
  const file = join(folder, 'sparse');
  writeFileSync(file, 'evidence');
  truncateSync(file, bytes);
  const { endpoint, bucket, env, stop } = store === 'double' ? await serveDouble() : await serveRadosgw(folder);
  try {
    const task: Task = { endpoint, bucket, file, sha256: await digestOf(createReadStream(file)), bytes };
    const child = fork(import.meta.filename, [store, size, JSON.stringify(task)], { env: { ...process.env, ...env } });
    process.exitCode = await new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
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

async function sendAndRead({ endpoint, bucket, file, sha256, bytes }: Task): Promise<void> {
  // As the command does.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=10');
  const { signal } = new AbortController();
  const retention = { mode: 'governance', years: 1 } as const;
  const archive = openS3Archive(
    { bucket, prefix: 'large/' },
    { endpoint, pathStyle: true, legalHold: false, retention, limits: DEFAULT_LIMITS, signal },
  );
  report('before');
  const began = performance.now();
  const stored = await archive.put('runs/large.zip', { file }, { sha256, bytes });
  report(`put, confirmed by the store or by reading (${JSON.stringify(stored)})`, began, bytes);
  const second = performance.now();
  const read = await digestOf(await archive.read('runs/large.zip'));
  report('read', second, bytes);
  await archive.close();
  if (read !== sha256) throw new Error(`read back ${read} instead of ${sha256}`);
}

async function digestOf(blocks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocks) hash.update(block);
  return hash.digest('hex');
}

function report(what: string, began?: number, bytes?: number): void {
  const seconds = began === undefined ? null : (performance.now() - began) / 1000;
  const speed =
    seconds === null || bytes === undefined
      ? ''
      : `, ${seconds.toFixed(1)} s, ${(bytes / seconds / 1e6).toFixed(0)} MB/s`;
  process.stdout.write(`${what}: peak ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB${speed}\n`);
}
