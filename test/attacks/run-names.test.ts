import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';

let service: FalseService;
let root: string;

const inArchive = (...path: string[]) => join(root, 'evidence-archive', ...path);
const run = (...words: string[]) =>
  evidence(words, { cwd: root, env: { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_a_false_service' } });

beforeAll(async () => {
  service = await startFalseService();
  service.streams.set('s', { entries: chainOf(3, { stream_id: 's' }) });
  expect((await service.export({ 'all-time': true, request: 'R1' })).code).toBe(0);
});
beforeEach(() => {
  root = mkdtempSync(join(service.directory, 'named-'));
  cpSync(join(service.directory, 'evidence-archive'), join(root, 'evidence-archive'), { recursive: true });
});
afterAll(() => service.close());

describe('a folder of runs that no run can have', () => {
  test.each([
    ['a command', '$(touch pwned)'],
    ['a flag', '--help'],
    ['a quote', "it's; touch pwned"],
    ['a tab', 'a\tb'],
    ['a line break', 'a\nb'],
    ['an escape sequence', 'a\u001b[31mb'],
    ['text in the other direction', 'a\u202eb'],
  ])('%s is named as no evidence, and reaches no command line', async (_words, name) => {
    mkdirSync(inArchive('runs', name));
    cpSync(inArchive('runs', 'R1', 'asked.json'), inArchive('runs', name, 'asked.json'));

    const verified = await run('verify', 'evidence-archive', '--json');
    expect(verified.code, verified.stderr).toBe(1);
    const { objects, open_runs: open } = JSON.parse(verified.stdout);
    const found = [...objects.unexpected, ...objects.missing, ...objects.altered];
    expect(found.map(({ code }: { code: string }) => code)).toEqual(['object/unexpected']);
    expect(open ?? []).toEqual([]);
    expect((await run('verify', 'evidence-archive')).stdout).not.toContain('runs abandon');

    const runs = await run('runs', '--json');
    expect(runs.code, runs.stderr).toBe(0);
    expect(JSON.parse(runs.stdout).runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual(['R1']);
    for (const words of [
      ['doctor'],
      ['export', '--all-time', '--request', 'R2'],
      ['export', '--missing', '--dry-run'],
    ]) {
      const { code, stdout, stderr } = await run(...words);
      expect([0, 3], `${words}: ${stderr}`).toContain(code);
      expect(stdout + stderr).not.toContain(name);
    }
    const abandoned = await run('runs', 'abandon', '--reason', 'x', '--', name);
    expect(abandoned.code, abandoned.stderr).toBe(2);
    expect(readdirSync(inArchive('ledger'))).toHaveLength(2);
  });
});

test.each(['R1/streams', 'R1/', '../runs/R1', 'R9', 'runs/R1'])('%s is no run that can be abandoned', async (name) => {
  rmSync(inArchive('runs', 'R1', 'run.json'));
  rmSync(inArchive('ledger'), { recursive: true });
  const { code, stderr } = await run('runs', 'abandon', name, '--reason', 'x');
  expect([code, stderr]).toEqual([2, expect.stringContaining('the archive has no run')]);
});
