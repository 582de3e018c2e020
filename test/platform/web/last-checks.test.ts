import { afterEach, beforeEach, expect, test } from 'vitest';
import { entry, type Service, startService } from '../service.ts';
import { type Visitor, visitorsOf } from './visitor.ts';

const OF_STREAM = "stream_no = (SELECT stream_no FROM streams WHERE stream_id = 's')";
const ADMINISTRATION = 'platform/administration';

let service: Service;
let auditor: Visitor;
beforeEach(async () => {
  service = await startService();
  ({ auditor } = await visitorsOf(service, ['auditor']));
  await service.call('POST', '/entries/', entry('s', 0));
  for (const stream of ['s', ADMINISTRATION]) await verify(stream);
});
afterEach(() => service.close());

const verify = (stream: string) => service.call('POST', `/streams/${encodeURIComponent(stream)}/verify`);
/** Returns the text of the audit service's tile. */
const tile = async () => {
  const { text } = await auditor.get('/app/');
  return (/<section class="tile.*?<\/section>/s.exec(text)?.[0] ?? '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
};

test('all is called good only after every stream was checked, with the number of entries since', async () => {
  expect(await tile()).toMatch(/✓ No findings What 2 streams, checked up to the last entry of each Since/);
  await service.call('POST', '/entries/', entry('s', 1));
  await visitorsOf(service, ['owner']);
  expect(await tile()).toMatch(
    /✓ No findings What 2 streams, each checked; \d+ entries after checks of the last 24 hours/,
  );
  await service.call('POST', '/entries/', entry('other', 0));
  expect(await tile()).toMatch(/– Not verified yet What 1 stream of the last 24 hours without a record of a check/);
});

test.each([
  [23, 'each verified', '✓ No findings What 2 streams, each checked; 1 entry after checks of the last 24 hours'],
  [25, 'each verified', '! Not fully verified What 1 stream with entries after its last check, over 24 hours ago'],
  [23, 'one never verified', '– Not verified yet What 1 stream of the last 24 hours without a record of a check'],
  [25, 'one never verified', '! Not fully verified What 1 stream without a record of a check'],
])('a person signs in %d hours after streams, %s', async (hours, checks, expected) => {
  await service.close();
  let ago = hours * 3_600_000;
  service = await startService({
    clockSources: { wall: () => Date.now() - ago, steady: () => performance.now() - ago },
  });
  await service.call('POST', '/entries/', entry('s', 0));
  await service.call('POST', '//keys/', { name: 'k', scopes: ['audit:read'] });
  for (const stream of checks === 'each verified' ? ['s', ADMINISTRATION] : [ADMINISTRATION]) await verify(stream);
  ago = 0;
  ({ auditor } = await visitorsOf(service, ['auditor']));
  expect(await tile()).toContain(expected);
});

test.each([
  ['removed', `DELETE FROM verifications WHERE ${OF_STREAM}`],
  ['said to have found nothing', `UPDATE verifications SET verified = 1 WHERE ${OF_STREAM}`],
  ['shown no more', `UPDATE streams SET verification_no = NULL WHERE ${OF_STREAM}`],
])('a failed check that is %s does not make it good again', async (_how, edit) => {
  await service.sql(`DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE ${OF_STREAM}`);
  expect((await verify('s')).body.verified).toBe(false);
  expect(await tile()).toContain('✗ Problems found What 1 stream failed at the last check');
  await service.sql(edit);
  const said = await tile();
  expect(said).toContain('✗ Problems found');
  expect(said).toContain('records of checks were changed or removed outside the platform');
  expect(said).toMatch(/1 stream (of the last 24 hours )?without a record of a check/);
  expect(said).toContain('Since unknown');
});

test('every page says the same of a check that was removed', async () => {
  await service.sql(`DELETE FROM verifications WHERE ${OF_STREAM}`);
  for (const path of ['/app/audit', '/app/audit/statistics', '/app/'])
    expect((await auditor.get(path)).text, path).toMatch(/records of checks were changed or removed outside/i);
  expect((await auditor.get('/app/audit')).text).toContain('1 verified, 0 failed, 1 without a record of a check');
  expect((await service.call('GET', '/stats/')).body).toMatchObject({ verified_streams: 1, checks_changed: true });
});

test.each([
  ['to have reached the last entry', `to_sequence = 2 WHERE ${OF_STREAM}`],
  ['to have reached further', `to_sequence = 1000000 WHERE ${OF_STREAM}`],
  ['to be of another time', `checked_at = '2030-01-01T00:00:00.000Z' WHERE ${OF_STREAM}`],
  ['to have failed, in the place of another', 'verified = 1 - verified'],
])('a check that is said %s does not make it good', async (_how, edit) => {
  await service.sql(`DROP TRIGGER entries_no_update; UPDATE entries SET actor = 'mallory' WHERE ${OF_STREAM}`);
  if (edit.endsWith('- verified')) await verify('s');
  else await service.call('POST', '/entries/', entry('s', 1));
  await service.sql(`UPDATE verifications SET ${edit}`);
  const said = await tile();
  expect(said).toContain('✗ Problems found');
  expect(said).toContain('records of checks were changed or removed outside the platform');
  expect(said).not.toContain('2030');
});

test('a stream says no more of its check than its record does', async () => {
  await service.sql(`DELETE FROM verifications WHERE ${OF_STREAM}`);
  const { text } = await auditor.get('/app/audit/streams/s');
  expect(text).toContain('No valid record of a check.');
  expect(text).not.toContain('never');
});
