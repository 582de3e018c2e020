import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform } from '../../src/platform/app.ts';
import { initPlatform } from '../../src/platform/init.ts';
import type { PlatformOptions } from '../../src/platform/options.ts';
import { run } from '../support/process.ts';
import { usePostgres } from '../support/shared-postgres.ts';
import { migratedPostgres } from './database/databases.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Parsed body, if it is JSON. */
  body: ReturnType<JSON['parse']>;
}

/** A platform on a free port, in a folder that `close` removes. */
export interface Service {
  dataDir: string;
  /** Null on SQLite. */
  postgresUrl: string | null;
  apiKey: string;
  url: string;
  origin: string;
  /** Calls the audit service, or another service by a path that begins with `//`, such as `//keys/`. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Runs statements with the database's own program, as a person with access would. */
  sql(statements: string): Promise<string>;
  close(): Promise<void>;
}

export async function startService(options: Partial<PlatformOptions> = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-'));
  const dataDir = join(folder, 'data');
  const { postgresUrl = null } = options;
  const { apiKey } = await initPlatform({ dataDir, postgresUrl });
  const platform = await startPlatform({ dataDir, port: 0, logLevel: 'silent', ...options });
  return {
    dataDir,
    postgresUrl,
    apiKey,
    url: platform.auditUrl,
    origin: platform.origin,
    call: (method, path, body, headers) =>
      path.startsWith('//')
        ? call(platform.origin, apiKey, method, path.slice(1), body, headers)
        : call(platform.auditUrl, apiKey, method, path, body, headers),
    // The platform may write at the same time.
    sql: (statements) =>
      run('sqlite3', ['-bail', '-cmd', '.timeout 5000', join(dataDir, 'platform.sqlite'), statements]),
    async close() {
      await platform.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts a platform on each supported database. */
export const SERVICES: readonly (readonly [name: string, start: typeof startService])[] = [
  ['SQLite', startService],
  ['PostgreSQL', startOnPostgres],
];

async function startOnPostgres(options: Partial<PlatformOptions> = {}): Promise<Service> {
  const server = await usePostgres();
  const postgresUrl = await server.create((await migratedPostgres()).url);
  const service = await startService({ ...options, postgresUrl });
  const words = ['--no-psqlrc', '--quiet', '-At', '-v', 'ON_ERROR_STOP=1', postgresUrl, '-c'];
  return {
    ...service,
    sql: (statements) => run('psql', [...words, statements]),
    async close() {
      await service.close();
      await server.close();
    },
  };
}

/** Sends text and bytes unchanged, other values as JSON. */
export async function call(
  url: string,
  apiKey: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

export function entry(streamId: string, number: number, more: Record<string, unknown> = {}) {
  return {
    stream_id: streamId,
    actor: `actor-${number % 3}`,
    action: number % 2 === 0 ? 'object.read' : 'object.write',
    resource_type: 'bucket',
    resource_id: `r/${number}`,
    metadata: { number, nested: { ä: [1, 2.5, { z: 'ü', y: '\u0000' }] } },
    ...more,
  };
}

/** Records `count` entries in one stream. */
export async function fill(service: Service, streamId: string, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1000) {
    const entries = Array.from({ length: Math.min(1000, count - at) }, (_, index) => entry(streamId, at + index));
    const { status, text } = await service.call('POST', '/entries/batch', { entries });
    if (status !== 201) throw new Error(text);
  }
}

/** Returns all items of a list, page by page. */
export async function listAll(service: Pick<Service, 'call'>, path: string) {
  const items = [];
  let cursor = '';
  do {
    const separator = path.includes('?') ? '&' : '?';
    const { status, text, body } = await service.call('GET', `${path}${cursor && `${separator}cursor=${cursor}`}`);
    if (status !== 200) throw new Error(text);
    items.push(...body.data);
    cursor = body.next_cursor ?? '';
  } while (cursor !== '');
  return items;
}
