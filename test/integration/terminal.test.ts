import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openS3Archive } from '../../src/exporter/archive/s3/archive.ts';
import { runRecordKey } from '../../src/verifier/records/keys.ts';
import { evidence } from '../support/evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { EVIDENCE, finish, startNode } from '../support/process.ts';
import { DOUBLE_ENV, S3Double } from '../support/s3-double/double.ts';
import { doubleOptions } from '../support/s3-double/options.ts';
import { finalizeRun } from '../support/signed-archive.ts';
import { evidenceOnTerminal } from '../support/terminal.ts';

/** A name that does not fit into a line of a terminal; each sign takes two columns. */
const LONG = `支付/${'欧洲中部/'.repeat(9)}分类账`;
const LIVE = /of 2 streams, | {2}(JSON|PDF|bundle) {2}|AUD-1: stream/;

let platform: ServedPlatform;
let directory: string;
beforeAll(async () => {
  platform = await servePlatform();
  directory = mkdtempSync(join(tmpdir(), 'terminal-test-'));
  await postEntries(platform, [...someEntries(LONG, 30), ...someEntries('access', 10)]);
});
afterAll(() => platform.stop());

test.each([60, 0])(
  'an export on a terminal of %i columns shows where it is, and nothing of it stays',
  async (columns) => {
    const cwd = mkdtempSync(join(directory, 'export-'));
    const args = ['export', '--all-time', '--request', 'AUD-1'];
    const { code, written, screen } = await evidenceOnTerminal(args, { cwd, env: platform.env }, columns);
    expect(code).toBe(0);
    for (const live of [/ {4}access {2}JSON {2}/, / {4}支付.*….*账 {2}JSON {2}/, /1 of 2 streams, .* s left/])
      expect(written).toMatch(live);
    expect(screen.filter((line) => LIVE.test(line))).toEqual([]);
    for (const line of ['Run AUD-1: 2 streams to export', '  1/2 ', '  2/2 ', 'stream  '])
      expect(
        screen.filter((shown) => shown.startsWith(line)),
        line,
      ).toHaveLength(1);
  },
);

test('a terminal that knows no commands is given none', async () => {
  const options = { cwd: mkdtempSync(join(directory, 'dumb-')), env: { ...platform.env, TERM: 'dumb' } };
  const exported = await evidenceOnTerminal(['export', '--all-time', '--request', 'AUD-1'], options, 80);
  expect([exported.code, exported.written]).toEqual([0, expect.stringContaining('  2/2 ')]);
  const verified = await evidenceOnTerminal(['verify', 'evidence-archive'], options, 80);
  expect(verified.code).toBe(0);
  for (const { written } of [exported, verified]) expect(written).not.toContain('\x1b');
});

test('a verification on a terminal shows where it is, and nothing of it stays', async () => {
  const options = { cwd: directory, env: platform.env };
  expect((await evidence(['export', '--all-time', '--request', 'AUD-1'], options)).code).toBe(0);
  const { code, written, screen } = await evidenceOnTerminal(['verify', 'evidence-archive'], options, 60);
  expect(code).toBe(0);
  expect(written).toMatch(/ {2}AUD-1: stream 1: access.* {2}AUD-1: stream 2: 支付.*….*账/s);
  expect(screen.filter((line) => LIVE.test(line))).toEqual([]);
  expect(screen[0]).toBe('Configuration none');
});

test('a verification that was interrupted says where to go on, and goes on there', async () => {
  Object.assign(process.env, DOUBLE_ENV);
  const double = await S3Double.start();
  try {
    const archive = openS3Archive({ bucket: 'bucket', prefix: 'prod/' }, doubleOptions(double));
    for (const runId of ['run-1', 'run-2', 'run-3']) await finalizeRun(archive, runId, null);
    await archive.close();
    const args = ['verify', 's3://bucket/prod', '--endpoint', double.endpoint];
    const options = { cwd: directory, env: DOUBLE_ENV };
    const child = startNode(EVIDENCE, args, options);
    double.fault = ({ operation, name }) => {
      if (operation !== 'GetObject' || name !== `prod/${runRecordKey('run-2')}`) return undefined;
      child.kill('SIGINT');
      return { kind: 'silence' };
    };
    const { code, stdout, stderr } = await finish(child);
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toContain('Run run-1 (1 of 3): empty\n');
    const [, flag = '', runId = ''] = /(--from) (\S+)\n/.exec(stderr) ?? [];
    expect([flag, runId]).toEqual(['--from', 'run-2']);

    double.fault = () => undefined;
    const resumed = await evidence([...args, flag, runId, '--json', '--quiet'], options);
    const report = JSON.parse(resumed.stdout);
    expect([resumed.code, report.runs.map(({ run_id }: { run_id: string }) => run_id)]).toEqual([
      4,
      ['run-2', 'run-3'],
    ]);
  } finally {
    await double.stop();
  }
});
