import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runExport } from '../../src/exporter/cli/commands/export.ts';
import { carryOut } from '../support/command.ts';
import { startFaultyService } from '../support/services/faulty.ts';

const KEY = 'sk_gone_0123456789';
const STREAMS = 60;

/** Starts a service that closes after delivering the packages of this many streams. */
async function startLeaving(after: number) {
  const streams = new Map(Array.from({ length: STREAMS }, (_, number) => [`stream-${number + 10}`, 1] as const));
  let given = 0;
  const service = await startFaultyService({
    apiKey: KEY,
    streams,
    fault: async ({ step }) => {
      if (step === 'verify' && given >= after) void service.close();
      if (step === 'summary') given += 1;
      return undefined;
    },
  });
  return service;
}

async function exportFrom(flags: object, json: boolean) {
  const service = await startLeaving(3);
  const directory = mkdtempSync(join(tmpdir(), 'gone-'));
  const environment = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: KEY };
  return carryOut(runExport, { 'all-time': true, ...flags }, directory, { json, environment });
}

test('a service that is gone for every stream is given up, and said to be once', async () => {
  const { code, stdout, stderr } = await exportFrom({}, false);
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /^not exported \d+ streams: not tried, because the service was unreachable for the last 10 streams/m,
  );
  expect(stdout).toMatch(/ECONNREFUSED/);
  expect(stdout).toMatch(/same command again/);
  expect(stdout.match(/^not exported /gm)?.length).toBeLessThanOrEqual(6);
  expect(stderr.split('\n').length).toBeLessThan(40);
});

test('nothing is given up in a run that is finalized whatever is missing', async () => {
  const { document } = await exportFrom({ 'finalize-partial': true, concurrency: 30 }, true);
  const reasons = (document.failed as { reason: string }[]).map(({ reason }) => reason);
  expect(reasons.length).toBeGreaterThan(20);
  expect(reasons.join('\n')).not.toMatch(/not tried/);
});
