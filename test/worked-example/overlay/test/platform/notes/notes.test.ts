import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../../src/platform/database/database.ts';
import { openDatabase } from '../../../src/platform/database/open.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { Notes } from '../../../src/platform/notes/notes.ts';
import { type ServedPlatform, servePlatform } from '../../support/platform.ts';
import { SEALER } from '../database/databases.ts';

describe('over HTTP', () => {
  let platform: ServedPlatform;
  beforeAll(async () => {
    platform = await servePlatform();
  });
  afterAll(() => platform.stop());

  const call = async (method: string, path = '', given?: object) => {
    const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' };
    const url = `${platform.auditUrl.replace(/audit$/, 'notes')}/${path}`;
    const answer = await fetch(url, {
      method,
      headers: given === undefined ? { authorization: headers.authorization } : headers,
      ...(given === undefined ? {} : { body: JSON.stringify(given) }),
    });
    const body: ReturnType<JSON['parse']> = await answer.json();
    return { status: answer.status, body };
  };

  test('a note is left, listed and removed', async () => {
    const { status, body } = await call('POST', '', { text: 'keys are rotated on Monday' });
    expect(status).toBe(201);
    expect((await call('GET')).body).toEqual({ data: [body], next_cursor: null });
    expect((await call('DELETE', body.note_id)).status).toBe(200);
    expect((await call('DELETE', body.note_id)).body).toMatchObject({ code: 'not_found' });
  });

  test('notes come in pages, newest first', async () => {
    for (const text of ['first', 'second', 'third']) await call('POST', '', { text });
    const { body } = await call('GET', '?limit=2');
    expect(body.data).toMatchObject([{ text: 'third' }, { text: 'second' }]);
    const further = await call('GET', `?limit=2&cursor=${body.next_cursor}`);
    expect(further.body).toMatchObject({ data: [{ text: 'first' }], next_cursor: null });
  });

  test('the service describes itself', async () => {
    const { body } = await call('GET', 'openapi.json');
    expect(body.paths['/{note_id}'].delete.operationId).toBe('removeNote');
  });
});

describe('in its database', () => {
  let folder: string;
  let database: Database;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notes-'));
    database = await openDatabase({ file: join(folder, 'platform.sqlite') }, SEALER);
    await migrateAll(database);
  });
  afterAll(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  test('old notes are removed', async () => {
    let now = new Date('2026-01-01T00:00:00Z');
    const notes = new Notes(database, () => now);
    await notes.add({ name: 'key:one', scopes: [] }, { text: 'old' });
    now = new Date('2026-06-01T00:00:00Z');
    await notes.add({ name: 'key:one', scopes: [] }, { text: 'new' });
    await notes.tidy();
    expect((await notes.list({ limit: 10, cursor: undefined })).data).toMatchObject([{ text: 'new' }]);
  });
});
