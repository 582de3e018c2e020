import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runExport } from '../../../../src/exporter/cli/commands/export.ts';
import { runVerify } from '../../../../src/exporter/cli/commands/verify.ts';
import { entryAfter } from '../../../support/chain.ts';
import { carryOut } from '../../../support/command.ts';
import { type FalseService, startFalseService } from '../../../support/false-service.ts';

/** Next steps for each reader of a run that lacks a stream. */

let service: FalseService;

beforeAll(async () => {
  service = await startFalseService();
  service.streams.set('logins', { entries: [entryAfter(null, { stream_id: 'logins' })] });
  service.streams.set('gone', { entries: [entryAfter(null, { stream_id: 'gone' })], unavailable: true });
});
afterAll(() => service.close());

const exported = (flags: object) =>
  carryOut(runExport, { request: 'AUD-1', 'all-time': true, ...flags }, service.directory, {
    json: false,
    environment: { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' },
  });
const verified = (flags: object = {}) =>
  carryOut(runVerify, { targets: ['evidence-archive'], ...flags }, service.directory, { json: false });

describe('of a run that lacks a stream', () => {
  test('whoever exports runs the same command again while it is open, and whoever reads it knows who', async () => {
    const { code, stdout } = await exported({});
    expect([code, stdout]).toEqual([3, expect.stringContaining('Run the same command again to resume.')]);
    expect((await verified()).stdout).toContain('The exporter can resume it with the same export command');
  });

  test('nobody is told to run the same command again once it is finalized', async () => {
    for (const flags of [{ 'finalize-partial': true }, {}]) {
      const { code, stdout } = await exported(flags);
      expect([code, stdout]).toEqual([3, expect.stringContaining('\n  Export the run again with --revise.\n')]);
      expect(stdout).not.toContain('same command');
    }
    const { stdout } = await verified();
    expect(stdout).toContain('\n  For the exporter: Export the run again with --revise.\n');
    expect(stdout).not.toContain('same command');
  });

  test('the export that is advised gets what was missing', async () => {
    service.streams.delete('gone');
    const { code, stdout } = await exported({ revise: true });
    expect([code, stdout]).toEqual([0, expect.stringContaining('AUD-1.r2')]);
  });
});

test('nobody is told to lock what cannot be locked', async () => {
  const { code, stdout } = await verified({ 'locked-for': '3650d' });
  expect(code).toBe(3);
  expect(stdout.match(/lock.*/gi)).toEqual([
    expect.stringMatching(
      /^Locks .*has no locks, so nothing .*: locks need an archive in S3, in a bucket with Object Lock$/,
    ),
  ]);
  expect(stdout).not.toContain('evidence extend');
});
