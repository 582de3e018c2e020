import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('a row that acts contradict is named with its entry and both values', async () => {
  const { body } = await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] });
  await service.sql(`UPDATE api_keys SET revoked_at = 'x' WHERE key_id = '${body.key_id}';`);
  const { code, stdout } = await fsck();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^people: row_seal_mismatch: api_keys \w+$/m);
  expect(stdout).toMatch(
    /^people: row_contradicted: is_revoked of entry \d+ of platform\/administration, in API key \w+: expected "false", found "true"$/m,
  );
});
