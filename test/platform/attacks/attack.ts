import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Service } from '../service.ts';

type Place = Pick<Service, 'dataDir'>;

/** Answer to an attack. */
export interface Answered {
  status: number;
  body?: { code?: string } | undefined;
}

/** Attack in words, what the attacker does, and the answer: status and code. */
export type Attack<At = Service> = readonly [name: string, act: (place: At) => Promise<Answered>, refusal: string];

export function refusalOf({ status, body }: Answered): string {
  return body?.code === undefined ? `${status}` : `${status} ${body.code}`;
}

/** Everything that an attacker could gain: accounts, keys, links, channels, and what was recorded. */
const GAINS = [
  `SELECT email, name, role, password, disabled_at FROM people ORDER BY email`,
  `SELECT key_id, scopes, expires_at, revoked_at, streams, actor FROM api_keys ORDER BY key_id`,
  `SELECT link_id, purpose, content, used_at FROM links ORDER BY link_id`,
  `SELECT email, name, password FROM sign_ups ORDER BY email`,
  `SELECT alert_channel_id, target, removed_at FROM alerting_channels ORDER BY alert_channel_id`,
  `SELECT stream_id, entry_count, head_hash FROM streams WHERE stream_id NOT LIKE 'platform/%' ORDER BY stream_id`,
  `SELECT checkpoint_id FROM checkpoints ORDER BY checkpoint_id`,
  `SELECT package_id FROM packages ORDER BY package_id`,
];

export function gainsOf(place: Place): string {
  return inDatabase(place, (database) =>
    JSON.stringify(
      GAINS.map((query) => database.prepare(query).all()),
      null,
      1,
    ),
  );
}

/** Runs statements as a person with write access to the database. */
export function edit(place: Place, ...statements: readonly string[]): void {
  inDatabase(place, (database) => statements.map((statement) => database.exec(statement)));
}

/** Returns the first value that a query finds, as text. */
export function readValue(place: Place, query: string): string {
  return inDatabase(place, (database) => String(Object.values(database.prepare(query).get() ?? {})[0] ?? ''));
}

function inDatabase<T>({ dataDir }: Place, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(dataDir, 'platform.sqlite'), { enableForeignKeyConstraints: false });
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    return work(database);
  } finally {
    database.close();
  }
}

/** Attacks, and expects this refusal and that nothing was gained. */
export async function expectRefused<At extends Place>(place: At, [, act, refusal]: Attack<At>): Promise<void> {
  const before = gainsOf(place);
  expect(refusalOf(await act(place))).toBe(refusal);
  expect(gainsOf(place)).toBe(before);
}

/** Sends bytes that no HTTP client would send, and reads one answer. */
export async function sendRaw(origin: string, ...texts: readonly string[]): Promise<Answered> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  try {
    for (const text of texts) socket.write(text);
    let answer = '';
    for await (const chunk of socket) {
      answer += String(chunk);
      const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (Buffer.byteLength(body) >= length) break;
    }
    const code = /"code":"(\w+)"/.exec(answer)?.[1];
    return { status: Number(answer.split(' ')[1]), ...(code === undefined ? {} : { body: { code } }) };
  } finally {
    socket.destroy();
  }
}
