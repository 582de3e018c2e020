import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withParts } from '../../../src/platform/parts.ts';
import { runPlatform } from '../command.ts';
import { fill, type Service, startService } from '../service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
  await fill(service, 'a', 3);
  await fill(service, 'b', 3);
  await service.call('POST', '/streams/a/verify');
});
afterAll(() => service.close());

const fsck = (...words: string[]) => runPlatform(['fsck', '--data', service.dataDir, ...words]);

test('a database as the platform wrote it fits, and nothing is recorded', async () => {
  const before = await service.sql('SELECT count(*) FROM entries; SELECT count(*) FROM verifications;');
  const { code, stdout } = await fsck();
  expect([code, stdout]).toEqual([0, expect.stringContaining('audit: everything fits\n')]);
  expect(await service.sql('SELECT count(*) FROM entries; SELECT count(*) FROM verifications;')).toBe(before);
});

test('findings name the service, the code and the stream, and the end names the next step', async () => {
  await service.sql(
    "UPDATE entry_hours SET entries = 7 WHERE stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'a');",
  );
  const { code, stdout, stderr } = await fsck();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^audit: hour_mismatch: stream "a", entry 3: expected ".*: 3", found ".*: 7"$/m);
  expect(stdout).toMatch(/^audit: hour_mismatch: the total of [-\dT]{13}: expected "\d+", found "\d+"$/m);
  expect(stdout).toContain('audit: 2 findings\n');
  expect(stderr).toContain('evidence-platform help tampering');
  await service.sql('UPDATE entry_hours SET entries = 3 WHERE entries = 7;');
});

test('a stream that is gone is found until it is accepted, which is recorded with the reason', async () => {
  const of = "WHERE stream_no = (SELECT stream_no FROM streams WHERE stream_id = 'b')";
  await service.sql(`DROP TRIGGER entries_no_delete; DELETE FROM entry_hours ${of}; DELETE FROM entries ${of};
    DELETE FROM streams WHERE stream_id = 'b';`);
  const { code, stdout } = await fsck();
  expect([code, stdout]).toEqual([1, expect.stringContaining('audit: heads_mismatch: the heads of all streams\n')]);
  expect(stdout).toContain('audit: streams_missing: the totals: found "1"\n');
  expect(stdout).toContain('audit: hour_mismatch: the total of ');
  const verified = async () => (await service.call('POST', '/streams/a/verify')).body.verified;
  expect(await verified()).toBe(false);
  expect((await fsck('--accept', 'b was a trial')).stdout).toBe('The streams are accepted as they are.\n');
  expect((await fsck('--accept', 'again')).stdout).toBe('The streams fit; there was nothing to accept.\n');
  expect(await verified()).toBe(true);
  expect((await service.call('GET', '/stats/')).body).toMatchObject({ missing_streams: 0, checks_changed: false });
  const { body } = await service.call('GET', '//administration/acts?limit=1');
  expect(body.data[0]).toMatchObject({ action: 'heads.accepted', metadata: { reason: 'b was a trial' } });
});

describe('rows that give power', () => {
  const ids: Record<string, string> = {};
  const NAMES = ['key', 'owner', 'auditor', 'channel'] as const;
  const filled = (text: string) => NAMES.reduce((all, name) => all.replaceAll(`$${name}`, ids[name] ?? ''), text);

  beforeAll(async () => {
    const { body: key } = await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] });
    const channel = { kind: 'email', name: 'c', target: 'ops@example.com', least_severity: 'low', sources: null };
    const { body: added } = await service.call('POST', '//alerts/channels', channel);
    Object.assign(ids, { key: key.key_id, channel: added.alert_channel_id });
    await withParts({ dataDir: service.dataDir }, async ({ accounts, database }) => {
      await accounts.joining.bootstrap(
        { email: 'ada@example.com', name: 'Ada', password: 'a long enough password' },
        async () => {},
      );
      const people = database.tables<{ people: { person_id: string } }>().selectFrom('people').select('person_id');
      Object.assign(ids, { owner: (await people.executeTakeFirstOrThrow()).person_id });
    });
    expect((await fsck()).code).toBe(0);
  });

  const column = (table: string, set: string, where: string) => `UPDATE ${table} SET ${set} WHERE ${where}`;
  const ofKey = "key_id = '$key'";
  const ofOwner = "person_id = '$owner'";
  const ofChannel = "alert_channel_id = '$channel'";

  test.each([
    ['scopes of a key', column('api_keys', "scopes = 'keys:write'", ofKey), ['row_seal_mismatch', 'row_contradicted']],
    ['a new name of a key', column('api_keys', "name = 'x'", ofKey), ['row_seal_mismatch', 'row_contradicted']],
    ['a later end of a key', column('api_keys', "expires_at = 'x'", ofKey), ['row_seal_mismatch', 'row_contradicted']],
    ['another digest of a key', column('api_keys', "sha256 = 'x'", ofKey), ['row_seal_mismatch']],
    ['a key that was deleted', `DELETE FROM api_keys WHERE ${ofKey}`, ['row_missing']],
    [
      'a key that was added',
      "INSERT INTO api_keys (key_id, sha256, name, scopes, created_at, lineage, seal) VALUES ('x', 'x', 'x', 'keys:write', 'x', 'x', 'x')",
      ['row_seal_mismatch'],
    ],
    ['another role', column('people', "role = 'auditor'", ofOwner), ['row_seal_mismatch', 'row_contradicted']],
    [
      'an account that was disabled',
      column('people', "disabled_at = 'x'", ofOwner),
      ['row_seal_mismatch', 'row_contradicted'],
    ],
    ['another password', column('people', "password = 'x'", ofOwner), ['row_seal_mismatch']],
    ['another address', column('people', "email = 'x'", ofOwner), ['row_seal_mismatch']],
    ['a second factor', column('people', "totp_secret = x'00'", ofOwner), ['row_seal_mismatch']],
    ['an account that was deleted', `DELETE FROM people WHERE ${ofOwner}`, ['row_missing']],
    [
      'a session that was added',
      "INSERT INTO sessions (sha256, session_id, person_id, csrf, created_at, seen_at, seal) VALUES ('x', 'x', '$owner', 'x', 'x', 'x', 'x')",
      ['row_seal_mismatch'],
    ],
    [
      'a link that was added',
      "INSERT INTO links (link_id, sha256, purpose, content, expires_at, seal) VALUES ('x', 'x', 'set_up', '{}', 'x', 'x')",
      ['row_seal_mismatch'],
    ],
    [
      'a passkey that was added',
      "INSERT INTO passkeys (passkey_id, person_id, credential_id, name, public_key, counter, transports, created_at, seal) VALUES ('x', '$owner', 'x', 'x', x'00', 0, '[]', 'x', 'x')",
      ['row_seal_mismatch'],
    ],
    ['another target of a channel', column('alerting_channels', "target = 'x'", ofChannel), ['row_seal_mismatch']],
    [
      'a channel that was removed',
      column('alerting_channels', "removed_at = 'x'", ofChannel),
      ['row_seal_mismatch', 'row_missing'],
    ],
    ['a channel that was deleted', `DELETE FROM alerting_channels WHERE ${ofChannel}`, ['row_missing']],
  ])('%s is found', async (_name, edit, codes) => {
    const tables = ['api_keys', 'people', 'sessions', 'links', 'passkeys', 'alerting_channels'];
    const keep = tables.map((table) => `CREATE TABLE kept_${table} AS SELECT * FROM ${table};`);
    const back = tables.map(
      (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept_${table}; DROP TABLE kept_${table};`,
    );
    await service.sql(`PRAGMA foreign_keys = OFF; ${keep.join('')} ${filled(edit)};`);
    const { code, stdout } = await fsck();
    await service.sql(`PRAGMA foreign_keys = OFF; ${back.join('')}`);
    expect(code).toBe(1);
    const found = [...stdout.matchAll(/^\w+: (row_\w+): /gm)].map(([, each]) => each);
    expect(found).toEqual(codes);
    expect((await fsck()).code).toBe(0);
  });

  test('a key that was revoked, and whose row was put back with its seal, is found by its act', async () => {
    await service.sql(filled(`CREATE TABLE kept_key AS SELECT * FROM api_keys WHERE ${ofKey};`));
    await service.call('POST', `//keys/${ids['key']}/revoke`);
    expect((await fsck()).code).toBe(0);
    await service.sql(filled(`DELETE FROM api_keys WHERE ${ofKey}; INSERT INTO api_keys SELECT * FROM kept_key;`));
    const { code, stdout } = await fsck();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /row_contradicted: is_revoked of entry \d+ of platform\/administration, in API key \w+: expected "true", found "false"/,
    );
  });
});
