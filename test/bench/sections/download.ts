import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { HERE } from '../programs.ts';
import { memoryRow, type Row, speedRow } from '../row.ts';

/** A gigabyte for 500,000 entries, so that the start is negligible. */
const BYTES_PER_ENTRY = 2000;
const AT_LEAST = 0.65;
const MEMORY_MB = 150;
const BLOCK = Buffer.alloc(1e6, 'evidence ');

/** Downloads a file from this machine with the exporter, and with `curl` followed by `openssl dgst`. */
export async function benchDownload(bench: Bench): Promise<Row[]> {
  const blocks = Math.ceil((bench.options.entries * BYTES_PER_ENTRY) / BLOCK.length);
  const expected = createHash('sha256');
  for (let block = 0; block < blocks; block++) expected.update(BLOCK);
  const digest = expected.digest('hex');
  const check = (stdout: string) => {
    if (!stdout.startsWith(digest)) throw new Error(`another digest than ${digest}: ${stdout}`);
  };
  const file = join(bench.folder, 'downloaded');
  const before = () => rmSync(file, { force: true });
  const server = createServer((_, response) => void send(response, blocks)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
  try {
    const peer = 'curl -fsS -o "$2" "$1" && openssl dgst -sha256 -r "$2"';
    const figures = await bench.measureInTurn({
      receive: { command: [process.execPath, join(HERE, 'receive.ts'), url, file], before, check },
      curl: { command: ['bash', '-c', peer, '_', url, file], before, check },
    });
    const what = `download and hash ${blocks.toLocaleString('en')} MB`;
    return [
      speedRow({ id: 'download/speed', what, atLeast: AT_LEAST }, figures.receive.seconds, {
        name: 'curl, openssl',
        seconds: figures.curl.seconds,
      }),
      memoryRow({ id: 'download/memory', what: `${what}: memory`, atMost: MEMORY_MB }, figures.receive.peakMb, {
        name: 'curl, openssl',
        peakMb: figures.curl.peakMb,
      }),
    ];
  } finally {
    server.closeAllConnections();
    server.close();
    before();
  }
}

async function send(response: ServerResponse, blocks: number): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': blocks * BLOCK.length,
    etag: '"bench"',
  });
  for (let block = 0; block < blocks; block++) if (!response.write(BLOCK)) await once(response, 'drain');
  response.end();
}
