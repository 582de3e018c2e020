import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

// Polls detections as often as each input line says, and answers each line with a line. It is a separate program,
// because a busy client lets the server fall asleep between polls, and waking up costs more than a poll.

const CONNECTIONS = 8;
const PATH = '/traps/api/v1/detections/';

const [origin = '', authorization = ''] = process.argv.slice(2);
const pool = new Pool(origin, { connections: CONNECTIONS });

async function poll(polls: number, perSecond: number, etag: string): Promise<void> {
  const headers = { authorization, 'if-none-match': etag };
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < polls) {
        const early = began + (next++ * 1000) / perSecond - performance.now();
        if (early > 0) await sleep(early);
        const { statusCode, body } = await pool.request({ method: 'GET', path: PATH, headers });
        await body.dump();
        if (statusCode !== 304) throw new Error(`a poll with nothing new was answered with ${statusCode}`);
      }
    }),
  );
}

const first = await pool.request({ method: 'GET', path: PATH, headers: { authorization } });
await first.body.dump();
const etag = String(first.headers['etag']);
for await (const line of createInterface(process.stdin)) {
  const [polls = '', perSecond = ''] = line.split(' ');
  await poll(Number(polls), Number(perSecond), etag);
  process.stdout.write('done\n');
}
await pool.close();
