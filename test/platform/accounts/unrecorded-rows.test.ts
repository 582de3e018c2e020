import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../../src/platform/accounts/key.ts';
import { type Answer, call, entry, SERVICES, type Service } from '../service.ts';

const SCOPES = 'audit:read audit:write keys:read keys:write people:read';

describe.each(SERVICES)('a row that somebody wrote into the database on %s', (_name, start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());

  const as = (apiKey: string, path = '/entries/') => call(service.url, apiKey, 'GET', path);
  const acts = async () =>
    (await service.call('GET', '//administration/acts?limit=10')).body.data as { action: string }[];

  async function makeKey(): Promise<{ key_id: string; api_key: string }> {
    return (await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] })).body;
  }

  test('is no API key, and its use is recorded once', async () => {
    const { id, text, sha256 } = createKey();
    await service.sql(`INSERT INTO api_keys (key_id, sha256, name, scopes, created_at, lineage, seal)
      VALUES ('${id}', '${sha256}', 'mine', '${SCOPES}', '2026-01-01T00:00:00.000Z', '${id}', '${'0'.repeat(64)}');`);
    const answers: Answer[] = [];
    for (let attempt = 0; attempt < 3; attempt++) answers.push(await as(text));
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([401, 'unauthenticated']);
      expect(body.detail).toContain('evidence-platform fsck');
    }
    await expect.poll(async () => (await acts()).filter(({ action }) => action === 'row.refused').length).toBe(1);
    const { status } = await call(service.url, text, 'POST', '/entries/', entry('mine', 1));
    expect(status).toBe(401);
  });

  test('is no API key if it was copied from a good one', async () => {
    const { key_id } = await makeKey();
    const { id, text, sha256 } = createKey();
    await service.sql(`INSERT INTO api_keys (key_id, sha256, name, scopes, created_at, lineage, seal)
      SELECT '${id}', '${sha256}', name, scopes, created_at, lineage, seal FROM api_keys WHERE key_id = '${key_id}';`);
    expect((await as(text)).status).toBe(401);
  });

  test.each([
    ['scopes', `'${SCOPES}'`],
    ['expires_at', "'2099-01-01T00:00:00.000Z'"],
    ['name', "'another'"],
    ['lineage', "'another'"],
    ['bound_to', "'agent:a'"],
    ['streams', '\'["*"]\''],
    ['actor', "'root'"],
    ['sha256', 'sha256'],
  ])('gives an API key nothing by its column %s', async (column, value) => {
    const { key_id, api_key } = await makeKey();
    expect((await as(api_key)).status).toBe(200);
    await service.sql(`UPDATE api_keys SET ${column} = ${value} WHERE key_id = '${key_id}';`);
    expect((await as(api_key)).status).toBe(column === 'sha256' ? 200 : 401);
  });

  test('cannot bring back an API key that was revoked', async () => {
    const { key_id, api_key } = await makeKey();
    await service.call('POST', `//keys/${key_id}/revoke`);
    await service.sql(`UPDATE api_keys SET revoked_at = NULL WHERE key_id = '${key_id}';`);
    expect((await as(api_key)).body.code).toBe('unauthenticated');
  });

  test('cannot be changed by the platform, so that it gets no new seal', async () => {
    const { key_id } = await makeKey();
    await service.sql(`UPDATE api_keys SET scopes = '${SCOPES}' WHERE key_id = '${key_id}';`);
    const rotated = await service.call('POST', `//keys/${key_id}/rotate`);
    expect([rotated.status, rotated.body.code]).toEqual([409, 'row_changed']);
  });
});
