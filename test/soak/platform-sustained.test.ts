import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseAddress } from '../../src/platform/database/database.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { SEALER } from '../platform/database/databases.ts';
import { PlatformProcesses } from '../platform/processes.ts';
import { entry } from '../platform/service.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { evidenceProcess } from '../support/process.ts';
import { fill, index } from './filled.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 300);
/** Entries that the platform has before, a millisecond for each of which it may take to write them. */
const BEFORE = Number(process.env['AUDIT_ENTRIES'] ?? 0);
const RATE = 5000;
const BATCH = 50;
const P99_MS = 250;
/** Streams that exports read meanwhile, and entries of each. */
const EXPORTED = { streams: 10, entries: 5000 };
const WRITTEN = 'written meanwhile';

let folder: string;
let server: PostgresServer;
const platforms: PlatformProcesses[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-sustained-'));
  server = await startPostgres({ durable: true });
});
afterAll(async () => {
  for (const platform of platforms) await platform.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Starts an empty platform; `afterAll` ends it. */
async function newPlatform(words: readonly string[], database: DatabaseAddress) {
  const platform = await PlatformProcesses.init(words);
  platforms.push(platform);
  if (BEFORE > 0) {
    const opened = await openDatabase(database, SEALER);
    await fill(opened, BEFORE);
    await index(opened);
    await opened.close();
  }
  const { origin } = await platform.serve();
  return { origin, apiKey: platform.apiKey };
}

/** Sends batches of entries over kept connections. */
class Appender {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(origin: string, apiKey: string) {
    this.#pool = new Pool(origin, { connections: 32 });
    this.#headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  }

  async send(stream: string, from: number, count: number): Promise<void> {
    const entries = Array.from({ length: count }, (_, index) => entry(stream, from + index));
    const request = { method: 'POST', path: '/audit/entries/batch', headers: this.#headers } as const;
    const answer = await this.#pool.request({ ...request, body: JSON.stringify({ entries }) });
    const text = await answer.body.text();
    if (answer.statusCode !== 201) throw new Error(`${answer.statusCode} ${text}`);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

test(
  `${RATE} entries a second for ${SECONDS} s on SQLite while exports run`,
  async () => {
    const { origin, apiKey } = await newPlatform(['--data', join(folder, 'sqlite')], {
      file: join(folder, 'sqlite', 'platform.sqlite'),
    });
    const appender = new Appender(origin, apiKey);
    for (let stream = 0; stream < EXPORTED.streams; stream++)
      for (let from = 0; from < EXPORTED.entries; from += 1000) await appender.send(`exported-${stream}`, from, 1000);
    let isOver = false;
    const exporting = (async () => {
      const env = { EVIDENCE_AUDIT_URL: `${origin}/audit`, EVIDENCE_API_KEY: apiKey };
      let exports = 0;
      for (; !isOver; exports++) {
        const words = [
          'export',
          '--all-time',
          '--request',
          `AUD-${exports}`,
          '--exclude',
          WRITTEN,
          '--exclude',
          'stream-*',
          '--quiet',
        ];
        const { code, stderr } = await evidenceProcess(words, { cwd: folder, env });
        expect(code, stderr).toBe(0);
      }
      return exports;
    })();
    // Latency counts from the time at which a batch is due, even if an earlier one delays it.
    const latencies: number[] = [];
    const pending: Promise<void>[] = [];
    const began = performance.now();
    const batches = (SECONDS * RATE) / BATCH;
    for (let batch = 0; batch < batches; batch++) {
      const due = began + (batch * BATCH * 1000) / RATE;
      const early = due - performance.now();
      if (early > 1) await sleep(early);
      pending.push(
        appender.send(WRITTEN, batch * BATCH, BATCH).then(() => {
          latencies.push(performance.now() - due);
        }),
      );
    }
    await Promise.all(pending);
    const seconds = (performance.now() - began) / 1000;
    isOver = true;
    const exports = await exporting;
    latencies.sort((one, other) => one - other);
    const at = (share: number) => Math.round(latencies[Math.floor(latencies.length * share)] ?? Number.NaN);
    const rate = Math.round((batches * BATCH) / seconds);
    process.stdout.write(
      `SQLite: ${rate} entries/s for ${Math.round(seconds)} s beside ${exports} exports; ms of a batch of ${BATCH}: median ${at(0.5)}, p99 ${at(0.99)}, most ${at(0.99999)}\n`,
    );
    await appender.close();
    expect(exports).toBeGreaterThan(0);
    expect(rate).toBeGreaterThan(0.99 * RATE);
    expect(at(0.99)).toBeLessThanOrEqual(P99_MS);
  },
  (SECONDS + 120 + BEFORE / 1000) * 1000,
);

const CLIENTS = 8;
const EACH = 20;
const ROWS = 100;

test('PostgreSQL takes at least 0.4 of what it takes of the same rows bare', async () => {
  const database = await server.createDatabase();
  const { origin, apiKey } = await newPlatform(['--data', join(folder, 'postgres'), '--postgres', database], {
    url: database,
  });
  const appender = new Appender(origin, apiKey);
  const writeAll = (stream: (client: number) => string) =>
    Promise.all(
      Array.from({ length: CLIENTS }, async (_, client) => {
        for (let batch = 0; batch < EACH; batch++) await appender.send(stream(client), batch * ROWS, ROWS);
      }),
    );
  await writeAll((client) => `warm ${client}`);
  const sealed: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 5; round++) {
    sealed.push(await rateOf(() => writeAll((client) => `round ${round} ${client}`)));
    bare.push(await insertBare(database, round));
  }
  await appender.close();
  const [ours, theirs] = [median(sealed), median(bare)];
  process.stdout.write(
    `PostgreSQL: ${Math.round(ours)} entries/s sealed over HTTP, ${Math.round(theirs)} rows/s bare, ${(ours / theirs).toFixed(2)}\n`,
  );
  expect(ours / theirs).toBeGreaterThan(0.4);
}, 300_000);

/**
 * Inserts a round's rows into a table with the same columns and indexes, with as many clients and equally large
 * transactions.
 */
async function insertBare(database: string, round: number): Promise<number> {
  const clients = Array.from({ length: CLIENTS }, () => new pg.Client(database));
  for (const client of clients) await client.connect();
  const [first] = clients as [pg.Client];
  await first.query(`CREATE TABLE bare_${round} (LIKE entries INCLUDING ALL)`);
  const { rows: named } = await first.query(
    `SELECT column_name FROM information_schema.columns WHERE table_name = 'entries' AND is_identity = 'NO' ORDER BY ordinal_position`,
  );
  const columns = named.map(({ column_name }) => column_name);
  const rows = await Promise.all(
    clients.map((_, client) =>
      first.query({
        text: `SELECT ${columns.map((column) => `entries.${column}`).join()} FROM entries JOIN streams USING (stream_no)
          WHERE stream_id = $1 ORDER BY sequence`,
        values: [`round ${round} ${client}`],
        rowMode: 'array',
      }),
    ),
  );
  const placeOf = (row: number) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join()})`;
  const places = Array.from({ length: ROWS }, (_, row) => placeOf(row));
  const text = `INSERT INTO bare_${round} (${columns.join()}) VALUES ${places.join()}`;
  const rate = await rateOf(() =>
    Promise.all(
      clients.map(async (client, index) => {
        const own = rows[index]?.rows ?? [];
        for (let from = 0; from < own.length; from += ROWS)
          await client.query({ name: 'bare', text, values: own.slice(from, from + ROWS).flat() });
      }),
    ),
  );
  for (const client of clients) await client.end();
  return rate;
}

async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (CLIENTS * EACH * ROWS) / ((performance.now() - began) / 1000);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}
