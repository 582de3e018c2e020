import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DECOY_KINDS } from '../../../src/platform/traps/decoys/decoy.ts';
import { CREDENTIAL_TYPES } from '../../../src/platform/traps/enums.ts';
import { evidence } from '../../support/evidence.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { someRows } from '../../support/some-rows.ts';
import { runPlatform } from '../command.ts';
import { migratedPostgres } from '../database/databases.ts';
import { kill, PlatformProcesses } from '../processes.ts';
import { call, type Service, startService } from '../service.ts';
import { settingsOf } from './decoy-places.ts';

const GENERATE = '/traps/api/v1/credentials/generate';
const BUG = { credential_type: 'web_bug', plant_location: 'wiki', label: 'a bug' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proved-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a platform with a decoy of each kind', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ decoys: DECOY_KINDS.map((kind) => settingsOf({ kind })) });
  });
  afterAll(() => service.close());

  test.each(CREDENTIAL_TYPES)('keeps nothing of a new %s where others can read it, and shows it once', async (type) => {
    const { status, body } = await service.call('POST', `/${GENERATE}`, { ...BUG, credential_type: type });
    expect(status).toBe(201);
    const secrets = textsIn(body.credential).filter((text) => isSecret(text, body.known_as));
    expect(secrets).not.toEqual([]);
    const kept = await databaseOf(service);
    expect(kept.includes(body.credential_id)).toBe(true);
    for (const secret of secrets) expect(kept.includes(secret)).toBe(false);
    const shown = await service.call('GET', `//traps/api/v1/credentials/${body.credential_id}`);
    for (const secret of secrets) expect(shown.text).not.toContain(secret);
  });

  test('has its detections in an export, which proves their content, order and seals', async () => {
    const { body } = await service.call('POST', `/${GENERATE}`, BUG);
    for (const client of ['one', 'two']) await visit(body.credential.url, client);
    const words = ['seal-keys', 'write', '--data', service.dataDir, '--out', join(folder, 'seal-keys')];
    const { stdout: settings } = await runPlatform(words);
    await writeFile(join(folder, 'evidence.yaml'), settings);
    const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: service.apiKey };
    const exported = await evidence(['export', '--all-time', '--stream', 'traps', '--json'], { cwd: folder, env });
    expect(exported.code, exported.stdout).toBe(0);
    const [stream] = JSON.parse(exported.stdout).streams;
    const proved = { state: 'proved' };
    expect(stream).toMatchObject({ stream_id: 'traps', claims: { content: proved, order: proved, seal: proved } });
    const { data } = (await service.call('GET', '//traps/api/v1/detections/')).body;
    const places = data.map(({ entry }: { entry: { sequence: number } }) => entry.sequence);
    expect(Object.fromEntries(stream.actions.counts)).toMatchObject({ 'trap.used': places.length });
    expect(Math.max(...places)).toBeLessThanOrEqual(stream.head.sequence);
    expect((await evidence(['verify', 'evidence-archive'], { cwd: folder })).code).toBe(0);
  });
});

/**
 * Reads the database's files in another process, because closing a file in this process would release SQLite's locks.
 */
async function databaseOf({ dataDir }: Service): Promise<Buffer> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith('platform.sqlite'));
  return execFileSync('cat', names, { cwd: dataDir, maxBuffer: 2 ** 28 });
}

/** Returns all texts of a credential. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** True for a text long enough not to occur by chance; hosts, users and ids are no secrets. */
function isSecret(text: string, knownAs: string): boolean {
  return text.length >= 16 && !knownAs.includes(text) && !text.includes('BEGIN CERTIFICATE');
}

async function visit(url: string, client: string): Promise<void> {
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { body } = await request(url, { dispatcher, headers: { 'user-agent': client } });
    await body.dump();
  } finally {
    await dispatcher.destroy();
  }
}

const KILLS = someRows([0, 1, 2], () => 'a kill');

/** A database, with functions that read it as a person with access would. */
interface KilledPlace {
  words: readonly string[];
  read(statement: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const PLACES: readonly (readonly [name: string, make: (dataDir: string) => Promise<KilledPlace>])[] = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
];

async function onSqlite(dataDir: string): Promise<KilledPlace> {
  return {
    words: ['--data', dataDir],
    async read(statement) {
      const database = new DatabaseSync(join(dataDir, 'platform.sqlite'), { readOnly: true });
      try {
        return database.prepare(statement).all();
      } finally {
        database.close();
      }
    },
    close: async () => {},
  };
}

async function onPostgres(dataDir: string): Promise<KilledPlace> {
  const server = await usePostgres();
  const url = await server.create((await migratedPostgres()).url);
  return {
    words: ['--data', dataDir, '--postgres', url],
    read: async (statement) => (await server.query(url, statement)).rows,
    close: () => server.close(),
  };
}

test.each(PLACES)(
  'a platform on %s that is killed has for each detection its entry, and for each entry its detection',
  async (name, make) => {
    const place = await make(join(folder, `killed-${name}`));
    const platform = await PlatformProcesses.init(place.words);
    try {
      const first = await platform.serve();
      const { body } = await call(first.origin, platform.apiKey, 'POST', GENERATE, BUG);
      const { pathname } = new URL(body.credential.url);
      let served = first;
      for (const round of KILLS) {
        if (round > 0) served = await platform.serve();
        const seen = await useUntilKilled(served.child, `${served.origin}${pathname}`, round);
        expect(seen).toBeGreaterThan(0);
      }
      await expectBoth(place);
    } finally {
      await platform.close();
      await place.close();
    }
  },
);

/** Starts many clients at once, and kills the process after some were answered. @returns their number. */
async function useUntilKilled(child: Parameters<typeof kill>[0], url: string, round: number): Promise<number> {
  let answered = 0;
  const clients = Array.from({ length: 20 }, async (_, client) => {
    for (let n = 0; ; n++) {
      const answer = await fetch(url, { headers: { 'user-agent': `${round}-${client}-${n}` } }).catch(() => null);
      if (answer === null) return;
      if (++answered === 60) void kill(child);
    }
  });
  await Promise.all(clients);
  return answered;
}

async function expectBoth({ read }: KilledPlace): Promise<void> {
  // One statement, because a server may still execute requests that a killed process sent.
  const both = await read(`SELECT d.entry_hash AS of_detection, d.detection_id, e.hash, e.metadata
    FROM detections d FULL JOIN (SELECT hash, metadata FROM entries WHERE action = 'trap.used') e
    ON e.hash = d.entry_hash`);
  const ofDetections = both.map(({ of_detection, detection_id }) => [of_detection, detection_id]);
  const ofEntries = both.map(({ hash, metadata }) => [
    hash,
    JSON.parse(String(metadata ?? 'null'))?.detection_id ?? null,
  ]);
  expect(both.length).toBeGreaterThan(50 * KILLS.length);
  expect(ofEntries).toEqual(ofDetections);
}
