import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DECOY_KINDS } from '../../../src/platform/traps/decoys/decoy.ts';
import { CREDENTIAL_TYPES } from '../../../src/platform/traps/words.ts';
import { evidence } from '../../support/evidence.ts';
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
    const names = (await readdir(service.dataDir)).filter((name) => name.startsWith('platform.sqlite'));
    const files = await Promise.all(names.map((name) => readFile(join(service.dataDir, name))));
    expect(files.some((file) => file.includes(body.credential_id))).toBe(true);
    for (const secret of secrets) expect(files.some((file) => file.includes(secret))).toBe(false);
    const shown = await service.call('GET', `//traps/api/v1/credentials/${body.credential_id}`);
    for (const secret of secrets) expect(shown.text).not.toContain(secret);
  });

  test('has its detections in an export, which proves them', async () => {
    const { body } = await service.call('POST', `/${GENERATE}`, BUG);
    for (const client of ['one', 'two']) await visit(body.credential.url, client);
    const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: service.apiKey };
    const exported = await evidence(['export', '--all-time', '--stream', 'traps', '--json'], { cwd: folder, env });
    expect(exported.code, exported.stdout).toBe(0);
    const verified = await evidence(['verify', 'evidence-archive', '--json'], { cwd: folder });
    expect(verified.code).toBe(0);
    const [stream] = JSON.parse(exported.stdout).streams;
    expect(stream).toMatchObject({ stream_id: 'traps' });
    const { data } = (await service.call('GET', '//traps/api/v1/detections/')).body;
    const places = data.map(({ audit_entry }: { audit_entry: { sequence: number } }) => audit_entry.sequence);
    expect(Math.max(...places)).toBeLessThanOrEqual(stream.entry_count ?? stream.entries ?? Number.NaN);
  });
});

/** All texts of a credential. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Long enough that nobody has it by chance; hosts, users and ids are no secrets. */
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

test('a platform that is killed again and again has for each detection its entry, and for each entry its detection', async () => {
  const dataDir = join(folder, 'killed');
  const platform = await PlatformProcesses.init(['--data', dataDir]);
  try {
    const first = await platform.serve();
    const { body } = await call(first.origin, platform.apiKey, 'POST', GENERATE, BUG);
    const { pathname } = new URL(body.credential.url);
    let served = first;
    for (let round = 0; round < 4; round++) {
      const seen = await useUntilKilled(served.child, `${served.origin}${pathname}`, round);
      expect(seen).toBeGreaterThan(0);
      served = await platform.serve();
    }
    await kill(served.child);
    expectBoth(join(dataDir, 'platform.sqlite'));
  } finally {
    await platform.close();
  }
});

/** Many clients at once; the process is killed when some were answered. @returns how many were. */
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

function expectBoth(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const ofDetections = database.prepare('SELECT entry_id, detection_id FROM detections ORDER BY entry_id').all();
  const ofEntries = database
    .prepare(
      `SELECT entry_id, json_extract(metadata, '$.detection_id') AS detection_id FROM entries
       WHERE action = 'trap.used' ORDER BY entry_id`,
    )
    .all();
  database.close();
  expect(ofDetections.length).toBeGreaterThan(200);
  expect(ofEntries).toEqual(ofDetections);
}
