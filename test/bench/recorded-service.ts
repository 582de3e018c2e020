import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

// recorded-service.ts FOLDER [ORIGIN]: replays recorded answers, and records unknown requests from the service at
// ORIGIN. Without ORIGIN, an unknown request gets a 500. Prints its own origin, and a `Tally` when it ends.

export interface Tally {
  requests: number;
  /** Requests without a recorded answer. */
  unknown: string[];
}

/** An answer without its body, which is in a separate file. */
interface Head {
  status: number;
  headers: IncomingHttpHeaders;
}

/** Block size of a file that is read while it is sent. */
const BLOCK_BYTES = 2 ** 20;

const [folder = '.', service] = process.argv.slice(2);
const tally: Tally = { requests: 0, unknown: [] };
const heads = new Map<string, Head>();
const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch(() => outgoing.destroy());
}).listen(0, '127.0.0.1');
await once(server, 'listening');
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit());
});
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);

async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  tally.requests++;
  const sent = await buffer(incoming);
  const key = keyOf(incoming, sent);
  const file = join(folder, createHash('sha256').update(key).digest('hex'));
  if (service !== undefined && !existsSync(file)) await record(service, incoming, sent, file);
  const head = headOf(file);
  if (head === null) {
    tally.unknown.push(key);
    outgoing.writeHead(500).end();
    return;
  }
  outgoing.writeHead(head.status, head.headers);
  if (Number(head.headers['content-length']) <= BLOCK_BYTES) outgoing.end(readFileSync(file));
  else await pipeline(createReadStream(file, { highWaterMark: BLOCK_BYTES }), outgoing);
}

/**
 * Keys a request by its stream, and ignores the rest of the body, so that all programs that request a package of a
 * stream get the same package.
 */
function keyOf({ method, url }: IncomingMessage, sent: Buffer): string {
  const { stream_id: stream = '' } = (sent.length === 0 ? {} : JSON.parse(String(sent))) as { stream_id?: string };
  return `${method} ${url} ${stream}`;
}

function headOf(file: string): Head | null {
  const known = heads.get(file);
  if (known !== undefined || !existsSync(file)) return known ?? null;
  const head = JSON.parse(readFileSync(`${file}.json`, 'utf8')) as Head;
  heads.set(file, head);
  return head;
}

async function record(origin: string, incoming: IncomingMessage, sent: Buffer, file: string): Promise<void> {
  const { method, headers, url } = incoming;
  const onward = request(new URL(url ?? '/', origin), { method, headers }).end(sent);
  const [answered] = (await once(onward, 'response')) as [IncomingMessage];
  const body = await buffer(answered);
  // Framing headers apply to one connection only.
  const { 'transfer-encoding': _framing, connection: _connection, 'keep-alive': _kept, ...rest } = answered.headers;
  const head = { status: answered.statusCode, headers: { ...rest, 'content-length': String(body.length) } };
  writeFileSync(`${file}.json`, JSON.stringify(head));
  writeFileSync(file, body);
}
