import { afterAll, beforeAll, expect, test } from 'vitest';
import { runExport } from '../../../../src/exporter/cli/commands/export.ts';
import { runExtend, runHold, runRelease } from '../../../../src/exporter/cli/commands/holds.ts';
import { runRestamp } from '../../../../src/exporter/cli/commands/restamp.ts';
import { runRuns } from '../../../../src/exporter/cli/commands/runs.ts';
import { entryAfter } from '../../../support/chain.ts';
import { type Answer, carryOut } from '../../../support/command.ts';
import { type FalseService, startFalseService } from '../../../support/false-service.ts';
import { DOUBLE_ENV, S3Double } from '../../../support/s3-double/double.ts';

const KEY = 'sk_of_a_false_service';
/** A secret in the name of a stream. */
const PASSPHRASE = 'hunter2hunter2';

let service: FalseService;
let double: S3Double;
beforeAll(async () => {
  [service, double] = await Promise.all([startFalseService(), S3Double.start()]);
  Object.assign(process.env, DOUBLE_ENV);
});
afterAll(async () => {
  for (const name of Object.keys(DOUBLE_ENV)) delete process.env[name];
  await Promise.all([service.close(), double.stop()]);
});

test('-v tells each request, each retry and each step on stderr, and no secret', async () => {
  let asked = 0;
  service.streams.set('logins', {
    entries: [entryAfter(null, { stream_id: 'logins' })],
    get refused() {
      asked += 1;
      return (asked === 1 ? 503 : undefined) as number;
    },
  });
  service.streams.set(`quoting/${PASSPHRASE}`, { entries: [] });
  const flags = { request: 'AUD-1', 'all-time': true, concurrency: 1 };
  const environment = {
    EVIDENCE_AUDIT_URL: service.url,
    EVIDENCE_API_KEY: KEY,
    EVIDENCE_SIGNING_PASSPHRASE: PASSPHRASE,
  };
  const exported = (verbose: boolean): Promise<Answer> =>
    carryOut(runExport, { ...flags, revise: verbose }, service.directory, { json: false, verbose, environment });
  const { stdout, stderr } = await exported(true);
  const lines = stderr.split('\n');
  for (const line of [
    /^GET http:\/\/\S+\/streams\/\?limit=500 answered 200 after \d+ ms$/,
    /^POST http:\/\/\S+\/evidence\/generate answered 503 after \d+ ms$/,
    /^attempt 1 failed; retrying in \d+ ms$/,
    /^POST http:\/\/\S+\/evidence\/generate answered 201 after \d+ ms$/,
    /^GET http:\/\/\S+\/evidence\/pkg-\d+\/json answered 200 after \d+ ms$/,
    /^ {2}logins: package being generated$/,
    /^ {2}logins: bundle$/,
  ])
    expect(lines).toContainEqual(expect.stringMatching(line));
  expect(lines).toContainEqual(
    expect.stringMatching(/^GET http:\/\/\S+\?stream_id=quoting%2F(?!hunter)\S+ answered 200/),
  );
  for (const secret of [KEY, PASSPHRASE]) expect(stdout + stderr).not.toContain(secret);
  expect((await exported(false)).stderr).not.toMatch(/^(GET|POST|attempt) |: bundle$/m);
});

const inStore = () => ({ archive: 's3://bucket/prod', endpoint: double.endpoint });

test('-v tells how often the store has been asked', async () => {
  double.fault = ({ count }) => (count === 1 ? { kind: 'answer', status: 503 } : undefined);
  const { code, stderr } = await carryOut(runRuns, inStore(), service.directory, { verbose: true });
  double.fault = () => undefined;
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^store: .*: attempt 1 of 8 failed: .*; trying again\n/)]);
});

test.each<[name: string, command: Parameters<typeof carryOut>[0], flags: object]>([
  ['hold without a reason', runHold as never, { run: 'R', reason: ' ' }],
  ['release without a reason', runRelease as never, { run: 'R', reason: ' ' }],
  ['extend by no time', runExtend as never, { run: 'R', reason: 'r' }],
  ['extend by half a year', runExtend as never, { run: 'R', reason: 'r', years: 0.5 }],
  ['extend until no day', runExtend as never, { run: 'R', reason: 'r', until: 'soon' }],
  ['restamp of one run and all', runRestamp as never, { run: 'R', all: true, within: '90d' }],
  ['restamp within no days', runRestamp as never, { run: 'R', within: 'soon' }],
])('%s is refused before the store is asked', async (_name, command, flags) => {
  const before = double.requests.length;
  const { code } = await carryOut(command, { ...inStore(), ...flags }, service.directory);
  expect([code, double.requests.length]).toEqual([2, before]);
});
